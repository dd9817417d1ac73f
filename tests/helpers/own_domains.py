"""A domain that the project does not know, as a user's own files."""

from __future__ import annotations

from random import Random

from domains.writing.mastar import Action, always
from domains.writing.mastar import write as write_mastar


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
