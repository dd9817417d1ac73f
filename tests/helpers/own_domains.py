"""Two domains that the project does not know, as a user's own files: nothing is trained, tuned or chosen on them."""

from __future__ import annotations

from itertools import compress, pairwise, product
from random import Random

from domains.writing.epddl import Model, atom, knows_whether, numbered, unsure, write
from domains.writing.mastar import Action, always
from domains.writing.mastar import write as write_mastar

_COURIERS = """
(define (domain couriers)
    (:requirements
        :typing :facts :lists :list-comprehensions :partial-observability :ontic-actions
        :negative-preconditions :modal-preconditions :knowing-whether)
    (:action-type-libraries action_types)
    (:types office letter - object clerk courier - agent)
    (:predicates
        (good_news ?letter - letter)
        (at ?i - agent ?office - office)
        (lies ?letter - letter ?office - office)
        (carries ?i - courier ?letter - letter)
        (:fact road ?from ?to - office))

    (:event walks
        :parameters (?i - courier ?from ?to - office)
        :precondition (at ?i ?from)
        :effects (:and (not (at ?i ?from)) (at ?i ?to)))
    (:action walk
        :parameters (?i - courier ?from ?to - office | (road ?from ?to))
        :action-type (public-ontic (walks ?i ?from ?to))
        :observability-conditions (default Fully))

    (:event takes
        :parameters (?i - courier ?letter - letter ?office - office)
        :precondition (and (at ?i ?office) (lies ?letter ?office))
        :effects (:and (not (lies ?letter ?office)) (carries ?i ?letter)))
    (:action take
        :parameters (?i - courier ?letter - letter ?office - office)
        :action-type (public-ontic (takes ?i ?letter ?office))
        :observability-conditions (default Fully))

    (:event drops
        :parameters (?i - courier ?letter - letter ?office - office)
        :precondition (and (at ?i ?office) (carries ?i ?letter))
        :effects (:and (not (carries ?i ?letter)) (lies ?letter ?office)))
    (:action drop
        :parameters (?i - courier ?letter - letter ?office - office)
        :action-type (public-ontic (drops ?i ?letter ?office))
        :observability-conditions (default Fully))

    (:event reads_good
        :parameters (?i - clerk ?letter - letter ?office - office)
        :precondition (and (at ?i ?office) (lies ?letter ?office) (good_news ?letter)))
    (:event reads_bad
        :parameters (?i - clerk ?letter - letter ?office - office)
        :precondition (and (at ?i ?office) (lies ?letter ?office) (not (good_news ?letter))))
    (:action read
        :parameters (?i - clerk ?letter - letter ?office - office)
        :action-type (semi-private-sensing
            (reads_good ?i ?letter ?office) (reads_bad ?i ?letter ?office))
        :observability-conditions (:and
            (:forall (?j - agent) (?j (if (at ?j ?office) Fully else Partially)))))

    (:event tells_good
        :parameters (?i - courier ?letter - letter ?office - office)
        :precondition (and (at ?i ?office) ([Kw. ?i] (good_news ?letter)) (good_news ?letter)))
    (:event tells_bad
        :parameters (?i - courier ?letter - letter ?office - office)
        :precondition (and (at ?i ?office) ([Kw. ?i] (good_news ?letter)) (not (good_news ?letter))))
    (:action tell
        :parameters (?i - courier ?letter - letter ?office - office)
        :action-type (semi-private-sensing
            (tells_good ?i ?letter ?office) (tells_bad ?i ?letter ?office))
        :observability-conditions (:and
            (:forall (?j - agent) (?j (if (at ?j ?office) Fully else Partially))))))
"""


def write_couriers(*, offices: int, couriers: int, letters: int, seed: int) -> str:
    """Couriers carry sealed letters between offices on a ring, with a clerk in each office, in EPDDL.

    Where a letter lies the clerk can read it aloud: those in the office learn whether its news is good, the others that
    it was read. A courier who knows can tell all those in the same office. Of each letter some persons shall know, the
    others shall not; the couriers among these have to leave before it is read. There is a plan: a courier brings the
    letter to each clerk who shall know and waits with those who shall not in an office where it is not read.

    Args:
        offices: how many, at least 3.
        couriers: how many.
        letters: how many.
        seed: of the positions, the news and the goal.
    """
    random = Random(seed)
    places, sealed = numbered("o", offices), numbered("l", letters)
    clerks, movers = numbered("clerk", offices), numbered("courier", couriers)
    persons = [*clerks, *movers]
    start = [atom("at", name, place) for name, place in zip(clerks, places, strict=True)]
    start += [atom("at", name, random.choice(places)) for name in movers]
    start += [atom("lies", name, random.choice(places)) for name in sealed]
    news = [atom("good_news", name) for name in sealed]
    worlds = {
        f"w{number}": [*start, *compress(news, values)]
        for number, values in enumerate(product((False, True), repeat=letters))
    }
    goals = []
    for one in news:
        informed = {
            *random.sample(clerks, random.randint(1, (offices + 1) // 2)),
            *random.sample(movers, couriers // 2),
        }
        goals += [knows_whether(name, one) if name in informed else unsure(name, one) for name in persons]
    ring = list(pairwise([*places, places[0]]))
    return write(
        title=f"Couriers: {offices} offices, {couriers} couriers, {letters} letters",
        story="Couriers carry sealed letters between offices. Some persons shall learn what is in them, others not.",
        action_types=["public-ontic", "semi-private-sensing"],
        domain=_COURIERS,
        name="couriers",
        objects={"office": places, "letter": sealed},
        agents={"clerk": clerks, "courier": movers},
        facts=[atom("road", *pair) for one, other in ring for pair in ((one, other), (other, one))],
        init=Model(
            worlds=worlds,
            relations={name: list(product(worlds, worlds)) for name in persons},
            designated=[random.choice(list(worlds))],
        ),
        goals=goals,
    )


def write_museum(*, rooms: int, guards: int, artefacts: int, seed: int) -> str:
    """Guards walk around a ring of rooms, and artefacts are moved behind the backs of some of them, in mA*.

    A guard sees what is moved from or to its room or one next to it; the others believe that nothing happens. No room
    holds two artefacts, so their order around the ring stays. Each artefact shall be in another room in the end. Some
    guards shall know that, the others shall believe that it is where it was.

    Args:
        rooms: how many, at least 6, so that a guard can be out of sight.
        guards: how many.
        artefacts: how many, at most half as many.
        seed: of the positions and the goal.
    """
    random = Random(seed)
    names = [f"g{number}" for number in range(1, guards + 1)]
    things = [f"x{number}" for number in range(1, artefacts + 1)]
    numbers = range(rooms)
    at = {name: random.choice(numbers) for name in names}
    old = dict(zip(things, sorted(random.sample(numbers, artefacts)), strict=True))
    new = dict(old)
    while any(new[thing] == old[thing] for thing in things):
        places, first = sorted(random.sample(numbers, artefacts)), random.randrange(artefacts)
        new = dict(zip(things, places[first:] + places[:first], strict=True))
    steps = [(one, (one + turn) % rooms) for one in numbers for turn in (-1, 1)]
    goals = []
    for thing in things:
        deceived = random.sample(names, random.randint(1, guards))
        goals.append(f"in({thing},{new[thing]})")
        goals += [f"B({name}, in({thing},{(old if name in deceived else new)[thing]}))" for name in names]
    walks = [
        Action(
            f"walk({name},{one},{other})",
            "causes",
            [(f"at({name},{other}), -at({name},{one})", "")],
            executable=f"at({name},{one})",
            observes=always(names),
        )
        for name in names
        for one, other in steps
    ]
    moves = [
        Action(
            f"move({thing},{one},{other})",
            "causes",
            [(", ".join(f"{'' if room == other else '-'}in({thing},{room})" for room in numbers), "")],
            executable=", ".join([f"in({thing},{one})", *(f"-in({rest},{other})" for rest in things if rest != thing)]),
            observes={name: _write_in_sight(name, one, other, rooms) for name in names},
        )
        for thing in things
        for one, other in steps
    ]
    fluents = [
        *(f"at({name},{room})" for name in names for room in numbers),
        *(f"in({thing},{room})" for thing in things for room in numbers),
    ]
    true = {*(f"at({name},{room})" for name, room in at.items()), *(f"in({name},{room})" for name, room in old.items())}
    literals = [one if one in true else f"-{one}" for one in fluents]
    return write_mastar(
        title=f"Museum: {rooms} rooms, {guards} guards, {artefacts} artefacts",
        story="Guards walk around, and artefacts are moved, some guards not seeing it.",
        fluents=fluents,
        actions=[*walks, *moves],
        agents=names,
        designated=literals,
        commonly_known=literals,
        goals=goals,
    )


def _write_in_sight(name: str, one: int, other: int, rooms: int) -> str:
    """That a guard is in one of two rooms that are neighbours, or next to them."""
    near = sorted({(room + step) % rooms for room in (one, other) for step in (-1, 0, 1)})
    return " | ".join(f"at({name},{room})" for room in near)
