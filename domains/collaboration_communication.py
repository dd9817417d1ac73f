"""Collaboration and Communication: find boxes along a corridor and tell each other where they are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import permutations, product
from typing import Any

from domains.checks import (
    MAX_STATEMENTS,
    MAX_WORLDS,
    DomainError,
    check_at_least,
    check_between,
    check_formulas,
    check_limit,
    check_one_each,
    check_one_of,
    check_subset,
    power,
)
from domains.domain import Domain, Growth, Scene, sizes
from domains.writing.mastar import ActionText, agent_names, always, and_, believes, common, not_, or_, write
from domains.writing.structure import ObjectNames, number_objects

_CHECKS = ("box", "room")
_MOST_CASES = 8
_ORDERS = ("room", "box")


def problem(
    *,
    agents: int = 2,
    boxes: int = 2,
    rooms: int = 3,
    places: Sequence[int] | None = None,
    checks: str = "box",
    tells_by: str = "room",
    newcomers: int = 0,
    mumbled: Sequence[str] = (),
    goals: Sequence[str] | None = None,
) -> str:
    """Agents walk a corridor, look for boxes in its rooms, and announce where the boxes are.

    All agents start in room 2, which holds no box; every box is in one of the other rooms, nobody knows in
    which. Agents see each other walk. In a room that may hold a box, an agent can check whether a certain
    box is there, unseen by the others; what it believes about the place of a box it can tell everybody.

    Difficulty grows with the numbers of boxes and rooms (worlds: rooms − 1 to the power of the boxes), with
    the number of agents, and with goals in which one agent knows what the other does not: both then have to
    look for themselves, and have to be back in time.

    Args:
        agents: number of agents, at least 2; they are called a, b, c, …
        boxes: number of boxes, at least 1; they are called b1, b2, …
        rooms: number of rooms, at least 2.
        places: the room of each box, not 2; by default boxes fill rooms 1, 3, 4, … and the last room takes
            those that are left.
        checks: `box`: any box can be looked for in any room but the second; `room`: in each of these rooms
            one box only, b1 in the first one, b2 in the next one and so on (takes as many boxes as rooms).
        tells_by: what changes slowest among the announcements, `room` or `box`. The order of actions breaks
            ties in a search; the published problems use both.
        newcomers: the checks and announcements of this many last agents come after those of the others.
        mumbled: announcements that the speaker does not notice to have been made, such as `tell_a_b1_1`,
            and therefore does not expect to have an effect.
        goals: mA* formulas; by default it becomes common knowledge among the first two agents where the
            first box is.

    Source: F. Kominis and H. Geffner, "Beliefs in multiagent planning: from one agent to many"
    (ICAPS 2015), in the form published in mA* with the EFP planners.
    """
    _check_sizes(agents, boxes, rooms)
    names = agent_names(agents)
    crates = [f"b{number}" for number in range(1, boxes + 1)]
    numbers = range(1, rooms + 1)
    hiding = [room for room in numbers if room != 2]
    placed = _places(crates, hiding, places)
    looked_for = _list_checks(crates, hiding, check_one_of("kind of checks", checks, _CHECKS))
    teams = _teams(names, check_between("newcomers", newcomers, 0, agents))
    tells = _tells(teams, crates, hiding, check_one_of("order of tells_by", tells_by, _ORDERS))
    quiet = check_subset("mumbled", mumbled, [f"tell_{name}_{box}_{room}" for name, box, room in tells])
    positions = [f"at_{name}_2" for name in names]
    positions += [f"-at_{name}_{room}" for room in hiding for name in names]
    return write(
        title=f"Collaboration and Communication: agents={agents}, boxes={boxes}, rooms={rooms}",
        story="""
            Agents walk a corridor, seen by each other. In a room an agent can check, unseen, whether a box
            is there, and it can tell everybody where it believes a box to be.
        """,
        fluents=[
            *(f"at_{name}_{room}" for name in names for room in numbers),
            *(f"at_{box}_{room}" for box in crates for room in hiding),
        ],
        actions=[
            *_moves(names, numbers),
            *_work(teams, looked_for, tells, quiet, names),
        ],
        agents=names,
        designated=[*positions, *(_at(box, room, placed[box] == room) for box in crates for room in hiding)],
        commonly_known=[*positions, *(part for box in crates for part in _somewhere(box, hiding))],
        goals=[common(names[:2], f"at_b1_{placed['b1']}")] if goals is None else check_formulas("goals", goals),
    )


def vocabulary(
    *, agents: int = 2, boxes: int = 2, rooms: int = 3, places: Sequence[int] | None = None, **_: Any
) -> list[str]:
    """Where agents are, who believes where a box is, and who believes that another believes it or does not."""
    names = agent_names(agents)
    crates = [f"b{number}" for number in range(1, boxes + 1)]
    placed = _places(crates, [room for room in range(1, rooms + 1) if room != 2], places)
    found = [f"at_{name}_{room}" for name in names for room in range(1, rooms + 1)]
    for box, room in placed.items():
        fact = f"at_{box}_{room}"
        for name in names:
            found += [believes(name, fact), not_(believes(name, fact))]
        for name, other in permutations(names, 2):
            found += [believes(name, believes(other, fact)), believes(name, not_(believes(other, fact)))]
    return found


def structure(*, boxes: int = 2, rooms: int = 3, **_: Any) -> ObjectNames:
    """Boxes and rooms; box b1 is no agent b."""
    return ObjectNames(
        {f"b{number}": "box" for number in range(1, boxes + 1)} | number_objects("room", range(1, rooms + 1))
    )


def _check_sizes(agents: int, boxes: int, rooms: int) -> None:
    check_at_least("agents", agents, 2)
    check_at_least("boxes", boxes, 1)
    check_at_least("rooms", rooms, 2)
    check_limit("worlds", power(rooms - 1, boxes), MAX_WORLDS, boxes=boxes, rooms=rooms)
    statements = agents * (boxes * (rooms - 1) * (agents + 5) + 2 * (agents + rooms))
    check_limit("statements", statements, MAX_STATEMENTS, agents=agents, boxes=boxes, rooms=rooms)


def _places(crates: Sequence[str], hiding: Sequence[int], places: Sequence[int] | None) -> dict[str, int]:
    if places is None:
        places = [hiding[min(index, len(hiding) - 1)] for index in range(len(crates))]
    return check_one_each("places", places, hiding, crates)


def _list_checks(crates: Sequence[str], hiding: Sequence[int], checks: str) -> list[tuple[str, str, int]]:
    """What can be looked for: the name of the check, the box and the room."""
    if checks == "box":
        return [(f"{box}_{room}", box, room) for room, box in product(hiding, crates)]
    if len(crates) != len(hiding):
        raise DomainError(f"checks='room' takes one box for each of {len(hiding)} rooms, got {len(crates)} boxes")
    return [(str(room), box, room) for room, box in zip(hiding, crates, strict=True)]


def _teams(names: Sequence[str], newcomers: int) -> list[Sequence[str]]:
    split = len(names) - newcomers
    return [team for team in (names[:split], names[split:]) if team]


def _tells(
    teams: Sequence[Sequence[str]], crates: Sequence[str], hiding: Sequence[int], slowest: str
) -> list[tuple[str, str, int]]:
    if slowest == "room":
        return [(name, box, room) for team in teams for room, name, box in product(hiding, team, crates)]
    return [(name, box, room) for team in teams for box, name, room in product(crates, team, hiding)]


def _at(thing: str, room: int, there: bool = True) -> str:
    return f"at_{thing}_{room}" if there else f"-at_{thing}_{room}"


def _somewhere(box: str, hiding: Sequence[int]) -> list[str]:
    """The box is in exactly one of the rooms: by cases, or for many rooms in some, and always in one half at most."""
    if len(hiding) > _MOST_CASES:
        return [or_(*(_at(box, room) for room in hiding)), *_only_in_a_half(box, hiding)]
    return [or_(*(f"({and_(*(_at(box, room, room == place) for room in hiding))})" for place in hiding))]


def _only_in_a_half(box: str, rooms: Sequence[int]) -> Iterator[str]:
    """The box is not in both halves of the rooms, of each half, and so on: n log n literals instead of n²."""
    if len(rooms) > 1:
        halves = rooms[: len(rooms) // 2], rooms[len(rooms) // 2 :]
        yield or_(*(f"({and_(*(_at(box, room, False) for room in half))})" for half in halves))
        for half in halves:
            yield from _only_in_a_half(box, half)


def _moves(names: Sequence[str], rooms: Sequence[int]) -> list[ActionText]:
    actions = []
    for index, name in enumerate(names):
        right = _move("right", name, [(room, room + 1) for room in rooms[:-1]], names)
        left = _move("left", name, [(room, room - 1) for room in rooms[1:]], names)
        # The published problems declare the steps of a third agent the other way round.
        actions += [right, left] if index < 2 else [left, right]
    return actions


def _move(direction: str, mover: str, steps: Sequence[tuple[int, int]], names: Sequence[str]) -> ActionText:
    """One step along the corridor, unless the mover is in the last room of that direction; everybody sees it."""
    wall = max(to for _, to in steps) if direction == "right" else 1
    return ActionText(
        f"{direction}_{mover}",
        "causes",
        [(f"{_at(mover, to)}, {_at(mover, here, False)}", _at(mover, here)) for here, to in steps],
        executable=believes(mover, _at(mover, wall, False)),
        observes=always(names),
    )


def _work(
    teams: Sequence[Sequence[str]],
    looked_for: Sequence[tuple[str, str, int]],
    tells: Sequence[tuple[str, str, int]],
    quiet: Sequence[str],
    names: Sequence[str],
) -> list[ActionText]:
    """The checks and announcements, team by team."""
    actions = []
    for team in teams:
        actions += [_check(name, *check) for name in team for check in looked_for]
        actions += [_tell(name, box, room, names, quiet) for name, box, room in tells if name in team]
    return actions


def _check(agent: str, suffix: str, box: str, room: int) -> ActionText:
    return ActionText(
        f"{agent}_check_{suffix}",
        "determines",
        [(_at(box, room), "")],
        executable=believes(agent, _at(agent, room)),
        observes=always([agent]),
    )


def _tell(agent: str, box: str, room: int, names: Sequence[str], quiet: Sequence[str]) -> ActionText:
    name = f"tell_{agent}_{box}_{room}"
    return ActionText(
        name,
        "announces",
        [(_at(box, room), "")],
        executable=believes(agent, _at(box, room)),
        observes=always(other for other in names if other != agent or name not in quiet),
    )


_GROWTH = (
    (5, 3, 5), (5, 3, 6), (6, 3, 6), (5, 4, 5), (6, 3, 7), (6, 4, 5), (6, 3, 8), (5, 4, 6), (6, 4, 6), (5, 5, 5),
    (6, 5, 5), (6, 4, 7), (5, 5, 6), (6, 4, 8), (6, 5, 6), (6, 5, 7),
)  # fmt: skip

DOMAIN = Domain(
    name="collaboration_communication",
    problem=problem,
    vocabulary=vocabulary,
    scene=Scene(
        parameters={"agents": 3, "boxes": 1},
        plan=("right_a", "left_b", "a_check_b1_3", "b_check_b1_1"),
        caption=(
            "Agent a has looked in room 3 and b in room 1: both know that the box is in room 1, each "
            "believes that the other does not, and c believes that neither does."
        ),
    ),
    structure=structure,
    actors=dict.fromkeys(("right", "left", "check", "tell"), 0),
    ranges={
        "train": (
            {"agents": (2, 3), "boxes": (1, 2), "rooms": (3, 4)},
            {"agents": (2, 3), "boxes": (2,), "rooms": (3,), "checks": ("room",)},
        ),
        "validation": (
            {"agents": (3, 4), "boxes": (3,), "rooms": (4,)},
            {"agents": (3, 4), "boxes": (3,), "rooms": (4,), "checks": ("room",)},
        ),
        "test": ({"agents": (4, 5, 6), "boxes": (3, 4), "rooms": (5, 6)},),
    },
    growth=Growth(sizes("agents boxes rooms", _GROWTH), walk=(30, 150), subgoals=(16, 120)),
)
