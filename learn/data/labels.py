"""Exact labels: distances to the nearest goal inside an explored transition graph."""

from __future__ import annotations

from enum import IntEnum

import numpy as np
from numpy.typing import ArrayLike, NDArray

from epigym.space import ragged

UNREACHABLE = -1
"""The distance of states that cannot reach a goal by recorded transitions."""


class Label(IntEnum):
    """What the distance of an e-state means."""

    EXACT = 0
    LOWER_BOUND = 1
    ALONG_PLAN = 2
    """The distance along the recorded transitions: an upper bound."""
    DEAD_END = 3
    """No goal is reachable; the distance is `UNREACHABLE`."""
    UNKNOWN = 4
    """No recorded transitions reach a goal; the distance is `UNREACHABLE`."""


_DEAD_END = 10  # added to the largest distance of a problem for e-states that cannot reach a goal


def compute_goal_distances(count: int, source: ArrayLike, target: ArrayLike, goals: ArrayLike) -> NDArray[np.int32]:
    """Compute distances to the nearest goal by one backward breadth-first search from all goals.

    Unlike labels assigned while backtracking (paper, section 3.3), they do not depend on the order of exploration.

    Args:
        count: number of states, named 0 … count - 1.
        source: int[m], where each transition starts.
        target: int[m], where each transition leads.
        goals: int[g], the goal states.

    Returns:
        int32[count]: number of transitions to the nearest goal, `UNREACHABLE` if there is none.
    """
    sources, targets = np.asarray(source, dtype=np.int64), np.asarray(target, dtype=np.int64)
    predecessors = sources[np.argsort(targets, kind="stable")]
    ptr = ragged.pointers(np.bincount(targets, minlength=count))
    distances = np.full(count, UNREACHABLE, dtype=np.int32)
    frontier = np.unique(np.asarray(goals, dtype=np.int64))
    distance = 0
    while frontier.size:
        distances[frontier] = distance
        distance += 1
        found = predecessors[ragged.positions(ptr, frontier)[0]]
        frontier = np.unique(found[distances[found] == UNREACHABLE])
    return distances


def make_targets(distance: NDArray[np.int32]) -> NDArray[np.float64]:
    """float64[k]: the regression targets for the distances of a problem's e-states, int32[k]."""
    return np.where(distance == UNREACHABLE, distance.max() + _DEAD_END, distance).astype(np.float64)
