"""The sizes of the problems on the rungs of the scaling ladder, domain by domain."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Sizes:
    """How a domain's ladder grows.

    Attributes:
        rungs: parameters of the domain for each rung, from the lowest to the highest.
        lower: number of lower rungs, whose goals are chosen by the effort of breadth-first search.
        most_steps: most steps of the walks on the lower rungs; the upper rungs take four times as many.
        look_ahead: nodes generated to judge the goals of the upper rungs.
        draws: number of goals drawn for the upper rungs.
    """

    rungs: tuple[dict[str, Any], ...]
    lower: int
    most_steps: int
    look_ahead: int = 100_000
    draws: int = 40


def _line(agents: int, parts: int) -> dict[str, Any]:
    return {"agents": agents, "parts": parts, "clear_start": True}


def _boxes(agents: int, boxes: int, rooms: int) -> dict[str, Any]:
    return {"agents": agents, "boxes": boxes, "rooms": rooms}


def _friends(agents: int, rooms: int) -> dict[str, Any]:
    return {"agents": agents, "rooms": rooms}


def _phones(protocol: str, agents: int) -> dict[str, Any]:
    return {"protocol": protocol, "agents": agents}


def _corridor(agents: int, rooms: int) -> dict[str, Any]:
    return {"agents": agents, "rooms": rooms, "sense": rooms // 2}


_AGENTS = (3, 3, 3, 4, 4, 4, 5, 5, 5, 6, 9, 9, 12, 12, 12)
_LINES = (
    (2, 3), (2, 3), (4, 1), (4, 1), (4, 1), (3, 2), (5, 1), (5, 1),
    (5, 1), (5, 1), (6, 1), (6, 1), (8, 1), (8, 1), (8, 1),
)  # fmt: skip
_BOXES = (
    (2, 2, 3), (3, 2, 3), (3, 2, 3), (2, 3, 4), (4, 2, 3), (3, 3, 4), (3, 3, 4), (4, 3, 4),
    (4, 3, 4), (5, 3, 4), (5, 3, 5), (5, 3, 5), (6, 3, 6), (6, 3, 6), (6, 3, 6),
)  # fmt: skip
_FRIENDS = (
    (3, 2), (3, 2), (3, 2), (3, 3), (3, 3), (3, 3), (4, 2), (4, 3),
    (4, 3), (4, 4), (5, 4), (5, 4), (6, 3), (6, 3), (6, 3),
)  # fmt: skip
_PHONES = (
    ("tell", 4), ("tell", 4), ("tell", 4), ("call", 4), ("call", 4), ("tell", 5), ("call", 4), ("tell", 5),
    ("call", 5), ("call", 5), ("call", 6), ("call", 6), ("tell", 7), ("tell", 7), ("tell", 7),
)  # fmt: skip
_CORRIDORS = (
    (9, 10), (9, 10), (10, 12), (12, 14), (12, 16), (12, 20), (14, 20), (14, 24),
    (16, 30), (16, 30), (18, 36), (18, 36), (25, 60), (25, 60), (25, 60), (25, 60), (25, 60),
)  # fmt: skip
_LOUD_CORRIDORS = (
    (9, 10), (9, 10), (10, 12), (12, 14), (12, 16), (12, 20), (14, 20), (14, 24),
    (16, 24), (16, 30), (18, 36), (20, 40), (20, 60), (20, 60), (20, 60), (20, 60), (20, 60), (20, 60), (20, 60),
)  # fmt: skip

SIZES: Mapping[str, Sizes] = {
    "assembly_line": Sizes(tuple(_line(*size) for size in _LINES), lower=10, most_steps=40),
    "coin_in_the_box": Sizes(
        tuple({"agents": agents} for agents in _AGENTS), lower=10, most_steps=30, look_ahead=1_000_000
    ),
    "collaboration_communication": Sizes(tuple(_boxes(*size) for size in _BOXES), lower=10, most_steps=40),
    "epistemic_gossip": Sizes(tuple(_phones(*size) for size in _PHONES), lower=10, most_steps=24),
    "grapevine": Sizes(tuple(_friends(*size) for size in _FRIENDS), lower=10, most_steps=30),
    "selective_communication": Sizes(
        tuple(_corridor(*size) for size in _CORRIDORS), lower=12, most_steps=160, look_ahead=3_000_000, draws=400
    ),
    "selective_communication_enriched": Sizes(
        tuple(_corridor(*size) for size in _LOUD_CORRIDORS), lower=14, most_steps=160, look_ahead=3_000_000, draws=400
    ),
}
