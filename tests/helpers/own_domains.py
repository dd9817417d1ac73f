"""Two domains outside the registry, written like a user's own files."""

from random import Random

from domains.writing.mastar import ActionText, always, believes, knows_whether, not_
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
        ActionText(
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
        ActionText(
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


def write_couriers(*, rooms: int, couriers: int, parcels: int, seed: int) -> str:
    """Couriers carry closed parcels along a row of rooms, open them and tell what is inside, in mA*.

    Everyone sees all movements. Opening a parcel and telling its content are noticed there and next door.
    Each parcel has to reach a room; some couriers have to know its content, the others must not.

    Args:
        rooms: how many, at least 3, so that a courier can be out of earshot.
        couriers: how many, at least 2.
        parcels: how many; there are 2 ** parcels worlds at first.
        seed: of the positions, the contents and the goal.
    """
    random = Random(seed)
    names = [f"c{number}" for number in range(1, couriers + 1)]
    things = [f"p{number}" for number in range(1, parcels + 1)]
    numbers = range(rooms)
    steps = [(one, other) for one in numbers for other in (one - 1, one + 1) if other in numbers]
    place = {name: random.choice(numbers) for name in (*names, *things)}
    goals = []
    for thing in things:
        informed = random.sample(names, random.randint(1, couriers - 1))
        goals.append(f"in({thing},{random.choice(numbers)})")
        goals += [
            knows_whether(name, f"gift({thing})") if name in informed else not_(knows_whether(name, f"gift({thing})"))
            for name in names
        ]
    actions = []
    for name in names:
        for one, other in steps:
            step, here = f"in({name},{other}), -in({name},{one})", f"in({name},{one})"
            actions.append(ActionText(f"walk({name},{one},{other})", "causes", [(step, "")], here, always(names)))
            for thing in things:
                carried = f"{step}, in({thing},{other}), -in({thing},{one})"
                both = f"{here}, in({thing},{one})"
                actions.append(
                    ActionText(f"carry({name},{thing},{one},{other})", "causes", [(carried, "")], both, always(names))
                )
        for thing in things:
            for room in numbers:
                near = {other: _write_in_earshot(other, room, rooms) for other in names}
                both, content = f"in({name},{room}), in({thing},{room})", [(f"gift({thing})", "")]
                actions.append(ActionText(f"open({name},{thing},{room})", "determines", content, both, near))
                for literal, verb in ((f"gift({thing})", "praise"), (f"-gift({thing})", "dispraise")):
                    known = f"in({name},{room}), {believes(name, literal)}"
                    actions.append(
                        ActionText(f"{verb}({name},{thing},{room})", "announces", [(literal, "")], known, near)
                    )
    positions = [f"in({one},{room})" for one in place for room in numbers]
    fluents = [*positions, *(f"gift({thing})" for thing in things)]
    true = {f"in({one},{room})" for one, room in place.items()}
    literals = [one if one in true else f"-{one}" for one in positions]
    contents = [f"{random.choice(('', '-'))}gift({thing})" for thing in things]
    return write_mastar(
        title=f"Couriers: {rooms} rooms, {couriers} couriers, {parcels} parcels",
        story="Couriers carry parcels, open them and tell what is inside.",
        fluents=fluents,
        actions=actions,
        agents=names,
        designated=[*literals, *contents],
        commonly_known=literals,
        goals=goals,
    )


def _write_in_earshot(name: str, room: int, rooms: int) -> str:
    """That a courier is in a room or next to it."""
    return " | ".join(f"in({name},{one})" for one in range(max(room - 1, 0), min(room + 2, rooms)))


def _write_in_sight(name: str, one: int, other: int, rooms: int) -> str:
    """That a guard is in one of two rooms that are neighbours, or next to them."""
    near = sorted({(room + step) % rooms for room in (one, other) for step in (-1, 0, 1)})
    return " | ".join(f"at({name},{room})" for room in near)
