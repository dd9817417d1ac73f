"""Ranking data: pairs of a preferred e-state and another one.

Some e-states of an exploration are expanded, half of them on shortest plans, the others sampled from all distances. A
successor that is nearer to a goal is better than its siblings, than its parent, and than any e-state that cannot reach
a goal. In partially explored problems, pairs come from shortest plans within the explored part, or from a plan that
search has found.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from epigym.space import ragged
from epigym.space.space import StateSpace
from learn.data.explorers import ExploredGraph
from learn.data.labels import Label
from learn.data.rollout import Rollout

_BEST = 2  # maximum number of best successors of an e-state in pairs
_MOST_WORSE = 12  # maximum number of worse successors paired with each of them


class Pairs(NamedTuple):
    """p pairs of e-states.

    Attributes:
        better: int64[p], the preferred e-states.
        worse: int64[p], the others.
        weight: float64[p], with sum 1; the pairs of each expansion have the same total weight.
    """

    better: NDArray[np.int64]
    worse: NDArray[np.int64]
    weight: NDArray[np.float64]


def choose_pairs(exploration: ExploredGraph, expansions: int, seed: int) -> Pairs:
    """Choose pairs of visited e-states, given by position; none if no goal is near the initial e-state.

    The orders are exact if the exploration is exhaustive. After `dfs` they are those of the recorded transitions.

    Args:
        exploration: the explored e-states with their labels.
        expansions: maximum number.
        seed: of the sampling.
    """
    rng = np.random.default_rng(seed)
    ptr, target = exploration.list_successors()
    distance = exploration.distance
    expandable = _find_expandable(exploration, ptr, target)
    chosen = _choose_expansions(distance, expandable, ptr, target, expansions, rng) if expandable[0] else []
    return join_pairs(
        _compare_successors(state, np.unique(target[ptr[state] : ptr[state + 1]]), distance, rng) for state in chosen
    )


def _find_expandable(
    exploration: ExploredGraph, ptr: NDArray[np.int64], target: NDArray[np.int64]
) -> NDArray[np.bool_]:
    """bool[v]: the e-states from which some visited successor is nearer to a goal, by labels that are no bounds."""
    distance = exploration.distance
    source = np.repeat(np.arange(len(distance)), ragged.lengths(ptr))
    expandable = np.zeros(len(distance), np.bool_)
    expandable[source[distance[target] == distance[source] - 1]] = True
    return expandable & (distance > 0) & np.isin(exploration.label, (Label.EXACT, Label.ALONG_PLAN))


def make_plan_pairs(space: StateSpace, states: Sequence[int], *, seed: int) -> Rollout:
    """Make pairs of a plan: each e-state is better than its predecessor and than its siblings.

    The distances of siblings are unknown; they are labelled with the distance of their parent.

    Args:
        space: state space whose task has the goal.
        states: the e-states of the plan from the initial one to a goal, at least two, without repetition.
        seed: of the sampling of siblings.
    """
    rng = np.random.default_rng(seed)
    distance: dict[int, int] = {}
    compared: list[list[tuple[int, int]]] = []
    for left, (state, after) in zip(range(len(states) - 1, 0, -1), pairwise(states), strict=True):
        others = np.setdiff1d(space.expand([state]).target, [state, after])
        compared.append([*_combine([after], others, rng), (after, state)])
        distance = dict.fromkeys(others.tolist(), left) | distance
    distance |= {state: len(states) - 1 - number for number, state in enumerate(states)}
    better, worse, weight = join_pairs(compared)
    numbers, places = np.unique([better, worse], return_inverse=True)
    better, worse = places.reshape(2, -1)
    labels = np.array([distance[number] for number in numbers.tolist()], dtype=np.int32)
    along = np.where(np.isin(numbers, states), Label.ALONG_PLAN, Label.UNKNOWN).astype(np.uint8)
    return Rollout(space, numbers.astype(np.int32), labels, along, better, worse, weight)


def _choose_expansions(
    distance: NDArray[np.int32],
    expandable: NDArray[np.bool_],
    ptr: NDArray[np.int64],
    targets: NDArray[np.int64],
    most: int,
    rng: np.random.Generator,
) -> list[int]:
    """Choose e-states to expand: half of them on shortest plans, the others from all distances."""
    found: dict[int, None] = {}
    for _ in range(most):
        state = 0
        while expandable[state] and len(found) < most // 2:
            found[state] = None
            after = targets[ptr[state] : ptr[state + 1]]
            state = int(rng.choice(after[distance[after] == distance[state] - 1]))
        if len(found) >= most // 2:
            break
    farthest = int(distance[expandable].max(initial=0))
    by_distance = [np.flatnonzero(expandable & (distance == step)) for step in range(1, farthest + 1)]
    while by_distance and len(found) < most:
        level = int(rng.integers(len(by_distance)))
        left = np.setdiff1d(by_distance[level], list(found))
        if len(left):
            found[int(rng.choice(left))] = None
        else:
            del by_distance[level]
    return list(found)


def _compare_successors(
    state: int, after: NDArray[np.int64], distance: NDArray[np.int32], rng: np.random.Generator
) -> list[tuple[int, int]]:
    """Pairs (better, worse) of an e-state's successors, and of a best one and the e-state itself."""
    is_best = distance[after] == distance[state] - 1
    best = rng.permutation(after[is_best])[:_BEST].tolist()
    return [*_combine(best, after[~is_best & (after != state)], rng), (best[0], state)]


def _combine(better: list[int], worse: NDArray[Any], rng: np.random.Generator) -> list[tuple[int, int]]:
    """Combine each of some e-states with up to 12 worse ones, sampled at random."""
    return [(one, other) for one in better for other in rng.permutation(worse)[:_MOST_WORSE].tolist()]


def join_pairs(expansions: Iterable[list[tuple[int, int]]]) -> Pairs:
    """Join the pairs (better, worse) of all expansions; those of each expansion have the same total weight."""
    groups = [group for group in expansions if group]
    better, worse = np.array([pair for group in groups for pair in group], np.int64).reshape(-1, 2).T
    weight = np.array([1 / len(group) for group in groups for _ in group])
    return Pairs(better, worse, weight / max(weight.sum(), 1.0))
