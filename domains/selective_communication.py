"""Selective Communication: learn a fact down the corridor and shout it where the right agents hear it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from domains.checks import (
    MAX_LEVELS,
    MAX_STATEMENTS,
    DomainError,
    check_at_least,
    check_between,
    check_formulas,
    check_limit,
    check_subset,
)
from domains.domain import Domain, Growth, Scene, sizes
from domains.writing.mastar import ActionText, agent_names, always, and_, believes, not_, write
from domains.writing.structure import ObjectNames, number_objects


class Corridor:
    """Rooms in a row, one agent who walks, and who notices what, as the parameters of `problem` say it.

    Attributes:
        names: the agents; the first one walks.
        rooms: the numbers of the rooms.
        end: the last room that can be entered.
        sense: the room in which the fact can be seen.
        start: the room in which the walker starts.
        hears: for each room the agents who hear a shout from there.
        notice: for `right` and `left` the agents who notice that step.
    """

    def __init__(
        self,
        *,
        agents: int,
        rooms: int,
        end: int | None,
        start: int,
        sense: int,
        positions: Sequence[int] | None,
        hears: Sequence[Sequence[str]] | None,
        miss_right: Sequence[str],
        miss_left: Sequence[str],
    ) -> None:
        check_at_least("agents", agents, 2)
        check_at_least("rooms", rooms, 2)
        check_limit("statements", 5 * rooms + 5 * agents, MAX_STATEMENTS, agents=agents, rooms=rooms)
        names = agent_names(agents)
        last = check_between("end", rooms if end is None else end, 2, rooms)
        self.names = names
        self.rooms = range(1, rooms + 1)
        self.end = last
        self.sense = check_between("sense", sense, 1, last)
        self.start = check_between("start", start, 1, last)
        self.hears = _audience(names, rooms, positions) if hears is None else _explicit_audience(names, rooms, hears)
        missing = {
            "right": check_subset("miss_right", miss_right, names),
            "left": check_subset("miss_left", miss_left, names),
        }
        self.notice = {step: [name for name in names if name not in blind] for step, blind in missing.items()}

    @property
    def position(self) -> list[str]:
        """The literals that say where the walker starts."""
        return [f"at_{room}" if room == self.start else f"-at_{room}" for room in self.rooms]

    def actions(self) -> list[ActionText]:
        """Walking, seeing the fact, and shouting it in each room."""
        inside = range(1, self.end + 1)
        return [
            self._walk("right", [(room, room + 1) for room in inside[:-1]], blocked=self.end),
            self._walk("left", [(room, room - 1) for room in reversed(inside[1:])], blocked=1),
            ActionText("sense", "determines", [("q", "")], f"at_{self.sense}", observes=always(self.names[:1])),
            *(self._shout(room) for room in self.rooms),
        ]

    def _walk(self, direction: str, steps: Iterable[tuple[int, int]], *, blocked: int) -> ActionText:
        return ActionText(
            direction,
            "causes",
            [(f"at_{to}, -at_{here}", f"at_{here}") for here, to in steps],
            executable=f"-at_{blocked}",
            observes=always(self.notice[direction]),
        )

    def _shout(self, room: int) -> ActionText:
        return ActionText(
            f"shout_{room}",
            "announces",
            [("q", "")],
            executable=and_(believes(self.names[0], "q"), f"at_{room}"),
            observes=always(self.hears[room - 1]),
        )


def problem(
    *,
    agents: int = 3,
    rooms: int = 4,
    end: int | None = None,
    start: int = 1,
    sense: int = 2,
    positions: Sequence[int] | None = None,
    hears: Sequence[Sequence[str]] | None = None,
    miss_right: Sequence[str] = (),
    miss_left: Sequence[str] = (),
    informed: Sequence[str] = (),
    depth: int = 1,
    excluded: Sequence[str] = (),
    goals: Sequence[str] | None = None,
) -> str:
    """One agent walks a corridor, learns a fact in one of its rooms, and shouts it where others hear it.

    The first agent, a, walks from room to room; the others stay where they are. In one room a can find out
    whether q holds. Once a believes q it can shout q, which is heard in the same and the adjacent rooms.
    All agents notice a's steps, but not what a sees, and a shout that is not heard is not suspected.

    Difficulty grows with the length of the corridor, which makes plans long but hardly branching, and with
    the number of agents who must be told or must not: their positions decide in which rooms to shout.

    Args:
        agents: number of agents, at least 2; they are called a, b, c, …
        rooms: number of rooms, at least 2.
        end: the last room that a can enter; all rooms by default.
        start: the room in which a starts.
        sense: the room in which a can find out about q.
        positions: the rooms of the agents other than a; by default they are spread evenly over the corridor
            from room 2 on.
        hears: for each room the agents who hear a shout from there, instead of `positions`; that allows for
            walls, and for an a who does not notice its own shouts.
        miss_right: agents who do not notice steps to the right.
        miss_left: agents who do not notice steps to the left.
        informed: agents who shall learn q.
        depth: at least 1; 1: they believe q; 2: they believe that a believes q; and so on in turns.
        excluded: agents who shall not believe q.
        goals: explicit mA* formulas, after those of the three parameters above. Without any goal, all
            agents but a shall believe q.

    Source: F. Kominis and H. Geffner, "Beliefs in multiagent planning: from one agent to many"
    (ICAPS 2015), in the form published in mA* with the EFP planners.
    """
    corridor = Corridor(
        agents=agents, rooms=rooms, end=end, start=start, sense=sense,
        positions=positions, hears=hears, miss_right=miss_right, miss_left=miss_left,
    )  # fmt: skip
    return write(
        title=f"Selective Communication: agents={agents}, rooms={rooms}",
        story="""
            Agent a walks along a corridor, finds out about q in one of the rooms, and shouts q where the
            right agents hear it: in the same and the adjacent rooms.
        """,
        fluents=["q", *(f"at_{room}" for room in corridor.rooms)],
        actions=corridor.actions(),
        agents=corridor.names,
        designated=[*corridor.position, "q"],
        commonly_known=corridor.position,
        goals=goal_formulas(corridor.names, informed=informed, depth=depth, excluded=excluded, goals=goals),
    )


def vocabulary(*, agents: int = 3, rooms: int = 4, end: int | None = None, **_: Any) -> list[str]:
    """Where a is, who believes q, and who believes that another believes it."""
    names = agent_names(agents)
    found = [f"at_{room}" for room in range(1, (end or rooms) + 1)]
    for name in names:
        found += [believes(name, "q"), not_(believes(name, "q"))]
    for name in names[1:]:
        found += [believes(name, believes(names[0], "q")), believes(name, not_(believes(names[0], "q")))]
        found += [believes(names[0], believes(name, "q")), believes(names[0], not_(believes(name, "q")))]
    return found


def structure(*, rooms: int = 4, **_: Any) -> ObjectNames:
    """Rooms have numbers; whoever acts is not named."""
    return ObjectNames(number_objects("room", range(1, rooms + 1)))


def goal_formulas(
    names: Sequence[str],
    *,
    informed: Sequence[str],
    depth: int,
    excluded: Sequence[str],
    goals: Sequence[str] | None,
) -> list[str]:
    """The goal that the parameters of `problem` describe."""
    check_at_least("depth", depth, 1)
    check_limit("levels of a formula", depth, MAX_LEVELS, depth=depth)
    wanted = [_chain(name, names[0], depth) for name in check_subset("informed", informed, names)]
    wanted += [not_(believes(name, "q")) for name in check_subset("excluded", excluded, names)]
    if goals is not None:
        wanted += check_formulas("goals", goals)
    return wanted or [believes(name, "q") for name in names[1:]]


def _chain(name: str, walker: str, depth: int) -> str:
    """`name` believes that `walker` believes that `name` believes … q."""
    formula = "q"
    for level in reversed(range(depth)):
        formula = believes(walker if level % 2 and name != walker else name, formula)
    return formula


def _audience(names: Sequence[str], rooms: int, positions: Sequence[int] | None) -> tuple[tuple[str, ...], ...]:
    others = len(names) - 1
    if positions is None:
        positions = [2 + index * (rooms - 1) // others for index in range(others)]
    if not isinstance(positions, Sequence) or len(positions) != others:
        raise DomainError(f"positions must list the rooms of the {others} agents other than a, got {positions!r}")
    placed = [check_between("each of positions", room, 1, rooms) for room in positions]
    heard = [[names[0]] for _ in range(rooms)]
    for name, place in zip(names[1:], placed, strict=True):
        for hearers in heard[max(place - 2, 0) : place + 1]:
            hearers.append(name)
    return tuple(map(tuple, heard))


def _explicit_audience(names: Sequence[str], rooms: int, hears: Sequence[Sequence[str]]) -> tuple[tuple[str, ...], ...]:
    if not isinstance(hears, Sequence) or len(hears) != rooms:
        raise DomainError(f"hears must list the hearers in each of the {rooms} rooms, got {hears!r}")
    return tuple(check_subset("hears", heard, names) for heard in hears)


_GROWTH = (
    (12, 16), (13, 18), (14, 20), (15, 22), (16, 24), (17, 26), (18, 28), (19, 30), (20, 33), (21, 36), (22, 39),
    (23, 42), (24, 45), (25, 48), (25, 51), (25, 54), (25, 57), (25, 60),
)  # fmt: skip

DOMAIN = Domain(
    name="selective_communication",
    problem=problem,
    vocabulary=vocabulary,
    scene=Scene(
        parameters={"agents": 4, "positions": [2, 4, 4], "miss_right": "d"},
        plan=("right", "sense", "shout_2"),
        caption=(
            "Agent a has learnt q in room 2 and shouted it: b has heard it, c knows where a is and "
            "believes that neither knows, and d believes that a never left room 1."
        ),
    ),
    structure=structure,
    ranges={
        "train": ({"agents": (3, 4, 5, 6, 7), "rooms": (4, 5, 6, 7, 8), "sense": (2, 3, 4)},),
        "validation": ({"agents": (8, 9), "rooms": (9, 10, 11), "sense": (3, 5)},),
        "test": ({"agents": (9, 10, 11, 12), "rooms": (12, 14, 16), "sense": (3, 5, 7)},),
    },
    growth=Growth(
        sizes("agents rooms sense", [(agents, rooms, rooms // 2) for agents, rooms in _GROWTH]),
        walk=(160, 1000),
        subgoals=(16, 60),
    ),
)
