"""Expansions to learn an order from: e-states whose distances are known, and which of two a search should prefer.

A small problem is exhausted, so that every label is exact. Of some of its e-states, half of them on shortest plans and
the others from every distance, all successors are kept: what brings a goal nearer is better than its siblings, than its
parent, and than anything from which no goal can be reached. Of a larger problem a plan says which to prefer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from epigym.space import StateSpace
from epigym.task import Task
from learn.data import ragged
from learn.data.explorers import ExplorerSettings, explore

_BEST = 2  # successors of an e-state that stand for all that are nearest
_MOST_WORSE = 12  # of those that are compared with one of them


@dataclass(frozen=True, slots=True)
class Pairs:
    """Labelled e-states of one problem, and pairs of them.

    Attributes:
        space: where they live; its task has the goal.
        ids: int32[k], the e-states.
        distance: int32[k], actions to the nearest goal, or to the end of a plan; `UNREACHABLE` where there is none.
        better: int64[p], positions in `ids`.
        worse: int64[p], positions in `ids` of what `better` is preferred to.
        weight: float64[p]; the pairs of an expansion together weigh as much as those of any other, in all 1.
    """

    space: StateSpace
    ids: NDArray[np.int32]
    distance: NDArray[np.int32]
    better: NDArray[np.int64]
    worse: NDArray[np.int64]
    weight: NDArray[np.float64]


def pairs_of(task: Task, *, expansions: int, max_states: int, seed: int) -> Pairs | None:
    """Pairs of a problem, or None when it has more e-states, or nothing to choose.

    Args:
        task: the problem.
        expansions: of at most so many e-states the successors are compared.
        max_states: e-states that the problem may have.
        seed: what is drawn depends on it.
    """
    exploration = explore(task, ExplorerSettings("exhaustive", max_visited=max_states))
    if not exploration.complete:
        return None
    rng = np.random.default_rng(seed)
    distance = exploration.distance
    order = np.argsort(exploration.source, kind="stable")
    targets = exploration.target[order]
    ptr = ragged.pointers(np.bincount(exploration.source, minlength=len(distance)))
    chosen = _chosen(distance, ptr, targets, expansions, rng)
    found: list[tuple[int, int]] = []
    weights: list[float] = []
    for state in chosen:
        own = _compared(state, np.unique(targets[ptr[state] : ptr[state + 1]]), distance, rng)
        found += own
        weights += [1 / len(own)] * len(own)
    return _joined(exploration.space, found, weights, distance) if found else None


def pairs_of_plan(space: StateSpace, states: Sequence[int], *, seed: int) -> Pairs:
    """Pairs of the e-states of a plan: each is better than the one before it, and than its siblings.

    What the siblings are worth is not known; their distance is taken for that of their parent.

    Args:
        space: where the e-states live, with the goal.
        states: from the initial one to a goal, at least two, each once.
        seed: of some e-states not all siblings are taken, as it says.
    """
    rng = np.random.default_rng(seed)
    steps = len(states) - 1
    found: list[tuple[int, int]] = []
    weights: list[float] = []
    distance: dict[int, int] = {}
    for number, (state, after) in enumerate(pairwise(states)):
        others = np.setdiff1d(space.expand([state]).target, [state, after])
        own = [*((after, int(other)) for other in rng.permutation(others)[:_MOST_WORSE]), (after, state)]
        found += own
        weights += [1 / len(own)] * len(own)
        for _, other in own:
            distance.setdefault(other, steps - number)
    known = distance | {state: steps - number for number, state in enumerate(states)}
    labels = np.zeros(max(known) + 1, dtype=np.int32)
    labels[list(known)] = list(known.values())
    return _joined(space, found, weights, labels)


def _joined(
    space: StateSpace, found: Sequence[tuple[int, int]], weights: Sequence[float], distance: NDArray[np.int32]
) -> Pairs:
    """Pairs of ids, with their weights, and the distances by id."""
    ids, places = np.unique(np.array(found, dtype=np.int32), return_inverse=True)
    better, worse = places.reshape(-1, 2).T
    weight = np.array(weights)
    return Pairs(space, ids, distance[ids], better, worse, weight / weight.sum())


def _chosen(
    distance: NDArray[np.int32], ptr: NDArray[np.int64], targets: NDArray[np.int32], most: int, rng: np.random.Generator
) -> list[int]:
    """E-states to expand, none of them a goal: some on shortest plans, some from every distance."""
    found: dict[int, None] = {}
    for _ in range(most):
        state = 0
        while distance[state] > 0 and len(found) < most // 2:
            found[state] = None
            after = targets[ptr[state] : ptr[state + 1]]
            state = int(rng.choice(after[distance[after] == distance[state] - 1]))
        if len(found) >= most // 2:
            break
    by_distance = [np.flatnonzero(distance == step) for step in range(1, int(distance.max(initial=0)) + 1)]
    while by_distance and len(found) < most:
        level = int(rng.integers(len(by_distance)))
        left = np.setdiff1d(by_distance[level], list(found))
        if len(left):
            found[int(rng.choice(left))] = None
        else:
            del by_distance[level]
    return list(found)


def _compared(
    state: int, after: NDArray[np.int32], distance: NDArray[np.int32], rng: np.random.Generator
) -> list[tuple[int, int]]:
    """Pairs (better, worse) of an e-state's successors, and of a best one and the e-state itself."""
    is_best = distance[after] == distance[state] - 1
    best = rng.permutation(after[is_best])[:_BEST].tolist()
    others = after[~is_best & (after != state)]
    found = [(one, int(other)) for one in best for other in rng.permutation(others)[:_MOST_WORSE]]
    return [*found, (best[0], state)]
