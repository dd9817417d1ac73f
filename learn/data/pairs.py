"""Expansions to learn an order from: e-states whose distances are exact, and which of two a search should prefer.

A problem is exhausted, so that every label is exact. Of some of its e-states, half of them on shortest plans and the
others from every distance, all successors are kept: what brings a goal nearer is better than its siblings, than its
parent, and than anything from which no goal can be reached.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from epigym.space import StateSpace
from epigym.task import Task
from learn.data import ragged
from learn.data.explorers import Exploration, ExplorerSettings, explore

_BEST = 2  # successors of an e-state that stand for all that are nearest
_MOST_WORSE = 12  # of those that are compared with one of them


@dataclass(frozen=True, slots=True)
class Pairs:
    """Labelled e-states of one problem, and pairs of them.

    Attributes:
        space: where they live, with the e-states on the ways to them; its task has the goal.
        ids: int32[k], the e-states.
        distance: int32[k], actions to the nearest goal, `UNREACHABLE` where there is none.
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
    if not found:
        return None
    both = np.array(found, dtype=np.int32)
    ids, places = np.unique(both, return_inverse=True)
    better, worse = places.reshape(-1, 2).T
    weight = np.array(weights)
    space, own_ids = _walked_to(exploration, ids)
    return Pairs(space, own_ids, distance[ids], better, worse, weight / weight.sum())


def _walked_to(exploration: Exploration, ids: NDArray[np.int32]) -> tuple[StateSpace, NDArray[np.int32]]:
    """Some exhausted e-states in a space that has the goal, and their ids there, which are in the same order.

    The ways to them are walked again, which builds no other e-states.
    """
    passed = np.zeros(len(exploration.states), dtype=np.bool_)
    ends = ids
    while len(ends):
        passed[ends] = True
        before = exploration.predecessor[ends]
        ends = np.unique(before[before >= 0])
        ends = ends[~passed[ends]]
    space = StateSpace(exploration.task)
    own = np.zeros(len(passed), dtype=np.int32)
    for state in np.flatnonzero(passed)[1:].tolist():
        own[state] = space.successor(int(own[exploration.predecessor[state]]), int(exploration.action[state]))
    return space, own[ids]


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
