"""Selective Communication: learn a fact down the corridor and shout it where the right agents hear it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from domains.checks import DomainError, between, formulas, subset
from domains.domain import Domain, Scene
from domains.writing.mastar import Action, agent_names, always, and_, believes, not_, write
from domains.writing.structure import Structure, numbered


@dataclass(frozen=True, slots=True)
class Corridor:
    """Rooms in a row, one agent who walks, and who notices what.

    Attributes:
        names: the agents; the first one walks.
        rooms: the numbers of the rooms.
        end: the last room that can be entered.
        sense: the room in which the fact can be seen.
        start: the room in which the walker starts.
        hears: for each room the agents who hear a shout from there.
        notice: for `right` and `left` the agents who notice that step.
    """

    names: tuple[str, ...]
    rooms: range
    end: int
    sense: int
    start: int
    hears: tuple[tuple[str, ...], ...]
    notice: Mapping[str, tuple[str, ...]]

    @property
    def position(self) -> list[str]:
        """The literals that say where the walker starts."""
        return [f"at_{room}" if room == self.start else f"-at_{room}" for room in self.rooms]

    def actions(self) -> list[Action]:
        """Walking, seeing the fact, and shouting it in each room."""
        inside = range(1, self.end + 1)
        return [
            self._walk("right", [(room, room + 1) for room in inside[:-1]], blocked=self.end),
            self._walk("left", [(room, room - 1) for room in reversed(inside[1:])], blocked=1),
            Action("sense", "determines", [("q", "")], f"at_{self.sense}", observes=always(self.names[:1])),
            *(self._shout(room) for room in self.rooms),
        ]

    def _walk(self, direction: str, steps: Iterable[tuple[int, int]], *, blocked: int) -> Action:
        return Action(
            direction,
            "causes",
            [(f"at_{to}, -at_{here}", f"at_{here}") for here, to in steps],
            executable=f"-at_{blocked}",
            observes=always(self.notice[direction]),
        )

    def _shout(self, room: int) -> Action:
        return Action(
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
        agents: number of agents, 2 to 25; they are called a, b, c, …
        rooms: number of rooms, 2 to 60.
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
        depth: 1: they believe q; 2: they believe that a believes q; and so on in turns, up to 20.
        excluded: agents who shall not believe q.
        goals: explicit mA* formulas, after those of the three parameters above. Without any goal, all
            agents but a shall believe q.

    Returns:
        The mA* text of the problem.

    Raises:
        DomainError: when a parameter is out of range.

    Source: F. Kominis and H. Geffner, "Beliefs in multiagent planning: from one agent to many"
    (ICAPS 2015), in the form published in mA* with the EFP planners.
    """
    corridor = make_corridor(
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


def structure(*, rooms: int = 4, end: int | None = None, **_: Any) -> Structure:
    """Rooms have numbers; whoever acts is not named."""
    return Structure(numbered("room", range(1, (end or rooms) + 1)))


def make_corridor(
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
) -> Corridor:
    """The corridor that the parameters of `problem` describe.

    Raises:
        DomainError: when a parameter is out of range.
    """
    names = agent_names(between("agents", agents, 2, 25))
    last = between("end", between("rooms", rooms, 2, 60) if end is None else end, 2, rooms)
    return Corridor(
        names=names,
        rooms=range(1, rooms + 1),
        end=last,
        sense=between("sense", sense, 1, last),
        start=between("start", start, 1, last),
        hears=_audience(names, rooms, positions) if hears is None else _explicit_audience(names, rooms, hears),
        notice={
            "right": tuple(name for name in names if name not in subset("miss_right", miss_right, names)),
            "left": tuple(name for name in names if name not in subset("miss_left", miss_left, names)),
        },
    )


def goal_formulas(
    names: Sequence[str],
    *,
    informed: Sequence[str],
    depth: int,
    excluded: Sequence[str],
    goals: Sequence[str] | None,
) -> list[str]:
    """The goal that the parameters of `problem` describe."""
    between("depth", depth, 1, 20)
    wanted = [_chain(name, names[0], depth) for name in subset("informed", informed, names)]
    wanted += [not_(believes(name, "q")) for name in subset("excluded", excluded, names)]
    if goals is not None:
        wanted += formulas("goals", goals)
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
    placed = [between("each of positions", room, 1, rooms) for room in positions]
    return tuple(
        (names[0], *(name for name, place in zip(names[1:], placed, strict=True) if abs(place - room) <= 1))
        for room in range(1, rooms + 1)
    )


def _explicit_audience(names: Sequence[str], rooms: int, hears: Sequence[Sequence[str]]) -> tuple[tuple[str, ...], ...]:
    if not isinstance(hears, Sequence) or len(hears) != rooms:
        raise DomainError(f"hears must list the hearers in each of the {rooms} rooms, got {hears!r}")
    return tuple(subset("hears", heard, names) for heard in hears)


_SHORT: dict[str, Any] = {"agents": 3, "rooms": 4, "positions": [2, 3]}
_CROWD: dict[str, Any] = {
    "agents": 7, "rooms": 4, "positions": [2, 3, 2, 2, 2, 2], "miss_right": "defg", "miss_left": "defg",
}  # fmt: skip
_TEN: dict[str, Any] = {"agents": 9, "rooms": 10, "sense": 8, "positions": [2, 3, 5, 6, 1, 7, 10, 10], "depth": 2}
_EIGHT: dict[str, Any] = {
    "agents": 8, "rooms": 10, "end": 8, "sense": 8, "positions": [2, 3, 5, 6, 1, 7, 8], "depth": 2,
}  # fmt: skip
_WALLS: dict[str, Any] = {
    "agents": 9, "rooms": 10, "start": 10, "sense": 10, "miss_right": "j",
    "hears": ["abcdefgh", "abc", "acd", "ade", "aef", "afg", "agh", "adg", "acf", "aeh"],
}  # fmt: skip
_NINE: dict[str, Any] = {
    "agents": 9, "rooms": 11, "start": 11, "sense": 10,
    "hears": ["ab", "abc", "bcd", "cde", "def", "efg", "fgh", "ghj", "hj", "", ""],
}  # fmt: skip
_E_MISSES_H = "B(e, -B(h, q))"
_INSTANCES: dict[str, dict[str, Any]] = {
    "4_1_pl_3": {**_SHORT, "goals": ["B(a, q)", "B(c, B(b, q))"]},
    "4_1_pl_5": {**_SHORT, "informed": "c", "excluded": "b"},
    "4_2_pl_5": {**_CROWD, "informed": "c", "excluded": "b"},
    "4_2_pl_7": {**_CROWD, "informed": "ac", "goals": ["B(c, at_2)", "B(c, -B(g, q))"]},
    "4_2_pl_8": {**_CROWD, "informed": "ac", "goals": ["B(b, at_1)", "B(c, -B(g, q))"]},
    "4_3_pl_5": {**_SHORT, "informed": "c", "depth": 3, "excluded": "b"},
    "4_3_pl_6": {**_SHORT, "goals": ["-B(c, at_4)", "B(c, B(a, B(c, q)))", "-B(b, q)"]},
    "4_3_pl_8": {**_SHORT, "goals": ["B(b, at_1)", "B(c, B(a, B(c, q)))", "-B(b, q)", "-B(b, -q)"]},
    "4_4_pl_5": {**_SHORT, "goals": ["B(a, B(c, B(a, B(c, q))))", "-B(b, q)"]},
    "10_10_pl_9": {**_TEN, "informed": "g"},
    "10_10_pl_10": {**_TEN, "informed": "eg"},
    "10_10_pl_13": {**_TEN, "informed": "egj"},
    "10_10_pl_17": {**_TEN, "informed": "cdeghj"},
    "10_8_pl_9": {**_EIGHT, "goals": ["B(b, B(g, q))"]},
    "10_8_pl_10": {**_EIGHT, "informed": "eh"},
    "10_8_pl_14": {**_EIGHT, "informed": "b"},
    "10_8_pl_15": {**_EIGHT, "informed": "f"},
    "8_10_pl_6": {**_WALLS, "goals": ["B(a, q)", *(f"B({name}, B(a, q))" for name in "efgh")]},
    "8_10_pl_8": {**_WALLS, "goals": ["B(a, q)", "B(e, B(a, q))", _E_MISSES_H, *(f"B({n}, B(a, q))" for n in "fgh")]},
    "8_10_pl_9": {
        **_WALLS,
        "goals": ["B(a, q)", "B(c, B(a, q))", "B(e, B(a, q))", _E_MISSES_H, *(f"B({n}, B(a, q))" for n in "fgh")],
    },
    "8_10_pl_12": {
        **_WALLS,
        "goals": ["B(a, q)", *(f"B({n}, B(a, q))" for n in "bce"), _E_MISSES_H, *(f"B({n}, B(a, q))" for n in "fgh")],
    },
    "9_11_pl_4": {**_NINE, "goals": [f"B({name}, q)" for name in "ahj"]},
    "9_11_pl_5": {**_NINE, "goals": [f"B({name}, q)" for name in "ahjg"]},
    "9_11_pl_6": {**_NINE, "informed": "f"},
    "9_11_pl_7": {
        **_NINE,
        "hears": ["ab", "abc", "bcd", "cde", "def", "efg", "afgh", "aghj", "hj", "", ""],
        "goals": [f"B({name}, q)" for name in "ahjgf"],
    },
    "9_11_pl_8": {**_NINE, "goals": [f"B({name}, q)" for name in "ahjgef"]},
    "9_11_pl_9": {**_NINE, "goals": [f"B({name}, q)" for name in "ahjgdef"]},
    "9_11_pl_10": {**_NINE, "goals": [*(f"B({name}, q)" for name in "ahjgdef"), "at_4"]},
    "9_11_pl_11": {**_NINE, "goals": [f"B({name}, q)" for name in "ahjgdefc"]},
}
_TRAIN = (
    "10_10_pl_13", "10_8_pl_10", "10_8_pl_15", "4_1_pl_3", "4_2_pl_7", "4_3_pl_5", "8_10_pl_6", "9_11_pl_6",
    "9_11_pl_8",
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
    instances=_INSTANCES,
    train=_TRAIN,
    test=tuple(name for name in _INSTANCES if name not in _TRAIN),
    structure=structure,
    ranges={
        "train": ({"agents": (3, 4, 5, 6, 7), "rooms": (4, 5, 6, 7, 8), "sense": (2, 3, 4)},),
        "validation": ({"agents": (8, 9), "rooms": (9, 10, 11), "sense": (3, 5)},),
        "test": ({"agents": (9, 10, 11, 12), "rooms": (12, 14, 16), "sense": (3, 5, 7)},),
    },
)
