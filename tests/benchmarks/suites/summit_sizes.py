"""The lines of growing problems on which the summit is looked for, domain by domain."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Line:
    """A line of problems that grow from the top of a domain's test problems to the limits of its parameters.

    Attributes:
        sizes: parameters of the domain for each step, from the lowest to the highest; no goals.
        walk: most actions of the random walk at the first and at the last step.
        subgoals: most subgoals at the first and at the last step.
    """

    sizes: tuple[dict[str, Any], ...]
    walk: tuple[int, int]
    subgoals: tuple[int, int]

    def __len__(self) -> int:
        """The number of steps."""
        return len(self.sizes)

    def at(self, step: int) -> tuple[dict[str, Any], int, int]:
        """Parameters, most actions of the walk and most subgoals at a step, counted from 1."""
        share = (step - 1) / max(len(self) - 1, 1)
        walk, subgoals = (round(low + share * (high - low)) for low, high in (self.walk, self.subgoals))
        return self.sizes[step - 1], walk, subgoals


def _sizes(names: str, values: Iterable[tuple[Any, ...]], **others: Any) -> tuple[dict[str, Any], ...]:
    """Parameters of these names, one set for each tuple of values; the others are the same for all."""
    return tuple({**dict(zip(names.split(), chosen, strict=True)), **others} for chosen in values)


def _each(repeated: int, values: Iterable[Any]) -> list[tuple[Any]]:
    """Each value so many times: where sizes soon end, walks and goals grow on."""
    return [(value,) for value in values for _ in range(repeated)]


_CALLS = (
    ("private", 6), ("private", 7), ("deceived", 8), ("basic", 8), ("private", 8), ("deceived", 9), ("basic", 9),
    ("private", 9), ("deceived", 10), ("basic", 10), ("private", 10), ("deceived", 11), ("basic", 11),
    ("private", 11), ("deceived", 12), ("basic", 12), ("basic", 13),
)  # fmt: skip
_BOXES = (
    (5, 3, 5), (5, 3, 6), (6, 3, 6), (5, 4, 5), (6, 3, 7), (6, 4, 5), (6, 3, 8), (5, 4, 6), (6, 4, 6), (5, 5, 5),
    (6, 5, 5), (6, 4, 7), (5, 5, 6), (6, 4, 8), (6, 5, 6), (6, 5, 7),
)  # fmt: skip
_NUMBERS = (
    (3, 18), (3, 20), (3, 22), (3, 24), (4, 20), (3, 28), (4, 22), (4, 24), (4, 28), (5, 24), (4, 32), (5, 28),
    (5, 32), (5, 36), (6, 32), (6, 36), (6, 40), (7, 36), (7, 40), (8, 40),
)  # fmt: skip
_FRIENDS = (
    (5, 4), (6, 3), (6, 4), (6, 4), (6, 5), (6, 5), (6, 6), (7, 4), (7, 4), (7, 5), (7, 5), (7, 6), (8, 4), (8, 4),
    (8, 5), (8, 5), (8, 6), (8, 6),
)  # fmt: skip
_TEAMS = (
    (7, 2, 2, 2), (8, 2, 2, 2), (7, 2, 1, 1), (9, 2, 2, 2), (8, 2, 1, 1), (9, 3, 2, 2), (10, 2, 2, 2), (10, 3, 2, 2),
    (11, 3, 2, 2), (10, 3, 3, 3), (11, 3, 3, 3), (11, 4, 3, 3), (12, 3, 3, 3), (12, 4, 3, 3), (11, 4, 4, 4),
    (12, 4, 4, 4),
)  # fmt: skip
_MESSENGERS = (
    (6, 8), (7, 8), (7, 9), (8, 9), (8, 10), (8, 11), (9, 11), (9, 12), (9, 13), (10, 13), (10, 14), (10, 15),
    (11, 15), (11, 16), (11, 18), (12, 18), (12, 19), (12, 20),
)  # fmt: skip
_CORRIDORS = (
    (12, 16), (13, 18), (14, 20), (15, 22), (16, 24), (17, 26), (18, 28), (19, 30), (20, 33), (21, 36), (22, 39),
    (23, 42), (24, 45), (25, 48), (25, 51), (25, 54), (25, 57), (25, 60),
)  # fmt: skip
_LOUD_CORRIDORS = (
    (9, 11, 4), (10, 13, 4), (11, 15, 4), (12, 17, 4), (13, 20, 4), (14, 23, 5), (15, 26, 5), (16, 29, 5), (17, 32, 5),
    (18, 35, 6), (19, 38, 6), (20, 41, 6), (21, 44, 6), (22, 47, 7), (23, 50, 7), (24, 54, 7), (25, 57, 8), (25, 60, 8),
)  # fmt: skip

LINES: Mapping[str, Line] = {
    "active_muddy_child": Line(_sizes("children", _each(2, range(8, 16))), (6, 15), (8, 120)),
    "assembly_line": Line(
        _sizes("agents parts", [*[(8, 1)] * 4, *[(5, 2)] * 4, *[(4, 3)] * 3, *[(6, 2)] * 4], clear_start=True),
        (30, 120),
        (16, 120),
    ),
    "blocks_world": Line(
        _sizes("blocks", [(blocks,) for blocks in range(30, 62, 2)], tier="single"), (60, 300), (16, 120)
    ),
    "cloud_scheduling": Line(
        _sizes("tasks tenants", [(tasks, tenants) for tasks in (5, 6) for tenants in (2, 3, 3, 4, 4, 5, 5, 6)]),
        (20, 40),
        (16, 240),
    ),
    "coin_in_the_box": Line(_sizes("agents", _each(3, range(7, 13))), (40, 240), (16, 120)),
    "collaboration_communication": Line(_sizes("agents boxes rooms", _BOXES), (30, 150), (16, 120)),
    "consecutive_numbers": Line(_sizes("agents highest", _NUMBERS), (15, 40), (16, 200)),
    "epistemic_gossip": Line(
        _sizes("agents protocol", [(agents, way) for agents in (7, 8) for _ in range(4) for way in ("tell", "call")]),
        (30, 120),
        (16, 240),
    ),
    "gossip": Line(_sizes("kind agents", _CALLS), (30, 120), (16, 200)),
    "grapevine": Line(_sizes("agents rooms", _FRIENDS), (40, 200), (16, 160)),
    "room_messages": Line(_sizes("agents rooms", _MESSENGERS), (40, 240), (16, 120)),
    "search_and_rescue": Line(
        _sizes("locations drones firefighters ambulances", _TEAMS, shape="ring"), (40, 240), (16, 240)
    ),
    "selective_communication": Line(
        tuple({"agents": agents, "rooms": rooms, "sense": rooms // 2} for agents, rooms in _CORRIDORS),
        (160, 1000),
        (16, 60),
    ),
    "selective_communication_enriched": Line(
        tuple(
            {"agents": agents, "rooms": rooms, "sense": rooms // 2, "useless": useless, "toggles": True}
            for agents, rooms, useless in _LOUD_CORRIDORS
        ),
        (160, 1000),
        (16, 60),
    ),
}
