"""Ranking data: pairs of a preferred e-state and another one, and distances to the goal.

A small problem is fully explored, so all labels are exact. Some e-states are expanded, half of them on shortest plans,
the others sampled from all distances. A successor that is nearer to a goal is better than its siblings, than its
parent, and than any e-state that cannot reach a goal. In larger problems, pairs come from shortest plans within the
explored part, or from a plan that search has found.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from epigym.space import ragged
from epigym.space.search_problem import Source
from epigym.space.space import StateSpace
from epigym.task.task import Task
from learn.data.explorers import ExploredGraph, ExplorerSettings, OnVisit, explore, keep, require_goal
from learn.data.labels import UNREACHABLE

_BEST = 2  # maximum number of best successors of an e-state in pairs
_MOST_WORSE = 12  # maximum number of worse successors paired with each of them


@dataclass(frozen=True, slots=True)
class Pairs:
    """Labelled e-states of one problem, and pairs of them.

    Attributes:
        space: state space of these e-states and of those on the paths to them; its task has the goal.
        ids: int32[k], the e-states.
        distance: int32[k], number of actions to the nearest goal, or to the end of a known plan, or a lower bound;
            `UNREACHABLE` if no goal is reachable.
        better: int64[p], position in `ids` of the preferred e-state of each pair.
        worse: int64[p], position in `ids` of the other e-state.
        weight: float64[p], with sum 1; the pairs of each expansion have the same total weight.
    """

    space: StateSpace
    ids: NDArray[np.int32]
    distance: NDArray[np.int32]
    better: NDArray[np.int64]
    worse: NDArray[np.int64]
    weight: NDArray[np.float64]


def make_pairs(
    task: Task, *, expansions: int, max_states: int, seed: int, partially_explored: bool = False
) -> Pairs | None:
    """Make pairs of a problem; None if it is too large or has no pairs.

    If a problem is partially explored, distances are exact on shortest plans and lower bounds elsewhere.

    Args:
        task: the problem.
        expansions: maximum number of expanded e-states.
        max_states: maximum number of explored e-states, nearest first.
        seed: of the sampling.
        partially_explored: whether the problem may have more e-states if a goal is among the explored ones.
    """
    rng = np.random.default_rng(seed)
    explored = _explore_nearest(task, expansions, max_states, rng, partially_explored=partially_explored)
    if explored is None:
        return None
    exploration, distance, chosen = explored
    whole = exploration.space
    found = _join(
        _compare_successors(state, np.unique(whole.expand([state]).target), distance, rng) for state in chosen
    )
    if found is None:
        return None
    numbers, better, worse, weight = found
    space, ids = _walk_to(exploration, numbers)
    return Pairs(space, ids, distance[numbers], better, worse, weight)


def make_rollout(source: Source, settings: ExplorerSettings, on_visit: OnVisit = lambda visited: None) -> Pairs:
    """Explore a problem; return the kept e-states with their distances, without pairs.

    Args:
        source: the problem, see `SearchProblem.of`.
        settings: of the explorer.
        on_visit: called with the number of e-states visited.

    Raises:
        NoGoalError: when no visited e-state reaches a goal.
    """
    exploration = explore(source, settings, on_visit)
    kept = keep(exploration, settings)
    require_goal(exploration, kept)
    space, ids = _walk_to(exploration, kept)
    nothing = np.empty(0, dtype=np.int64)
    return Pairs(space, ids, exploration.distance[kept], nothing, nothing, nothing.astype(np.float64))


def make_plan_pairs(space: StateSpace, states: Sequence[int], *, seed: int) -> Pairs:
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
    found = _join(compared)
    assert found is not None
    numbers, better, worse, weight = found
    labels = np.array([distance[number] for number in numbers.tolist()], dtype=np.int32)
    return Pairs(space, numbers.astype(np.int32), labels, better, worse, weight)


def _explore_nearest(
    task: Task, expansions: int, max_states: int, rng: np.random.Generator, *, partially_explored: bool
) -> tuple[ExploredGraph, NDArray[np.int32], list[int]] | None:
    """Explore a problem; return the exploration, distances and the e-states to expand, or None if it is too large."""
    exploration = explore(task, ExplorerSettings("exhaustive", max_visited=max_states))
    distance = exact = exploration.distance
    if not exploration.complete:
        # All e-states before the last layer are explored, with all paths to them.
        least = exploration.depth[-1] - exploration.depth
        exact = np.where(distance < least, distance, UNREACHABLE)
        if not partially_explored or exact[0] == UNREACHABLE:
            return None
        distance = np.where(exact == UNREACHABLE, least, exact)
    order = np.argsort(exploration.source, kind="stable")
    ptr = ragged.pointers(np.bincount(exploration.source, minlength=len(distance)))
    return exploration, distance, _choose_expansions(exact, ptr, exploration.target[order], expansions, rng)


def _walk_to(exploration: ExploredGraph, places: NDArray[np.integer]) -> tuple[StateSpace, NDArray[np.int32]]:
    """Build a space that holds some visited e-states, given by position, and return their ids in the same order.

    The space has the goal and holds only these e-states and those on the paths to them.
    """
    place_of = np.full(int(exploration.states.max()) + 2, -1)  # the last entry is for -1, before the initial e-state
    place_of[exploration.states] = np.arange(len(exploration.states))
    before = place_of[exploration.predecessor]
    passed = np.zeros(len(before), dtype=np.bool_)
    ends = places
    while len(ends):
        passed[ends] = True
        ends = np.unique(before[ends])
        ends = ends[(ends >= 0) & ~passed[ends]]
    space = StateSpace(exploration.task, consistent_beliefs=exploration.space.consistent_beliefs)
    own = np.zeros(len(passed), dtype=np.int32)
    for place in np.flatnonzero(passed)[1:].tolist():  # each after the one before it
        own[place] = space.successor(int(own[before[place]]), int(exploration.action[place]))
    return space, own[places]


def _choose_expansions(
    distance: NDArray[np.int32], ptr: NDArray[np.int64], targets: NDArray[np.int32], most: int, rng: np.random.Generator
) -> list[int]:
    """Choose e-states to expand, without goals: half of them on shortest plans, the others from all distances."""
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


def _compare_successors(
    state: int, after: NDArray[np.int32], distance: NDArray[np.int32], rng: np.random.Generator
) -> list[tuple[int, int]]:
    """Pairs (better, worse) of an e-state's successors, and of a best one and the e-state itself."""
    is_best = distance[after] == distance[state] - 1
    best = rng.permutation(after[is_best])[:_BEST].tolist()
    return [*_combine(best, after[~is_best & (after != state)], rng), (best[0], state)]


def _combine(better: list[int], worse: NDArray[Any], rng: np.random.Generator) -> list[tuple[int, int]]:
    """Combine each of some e-states with up to 12 worse ones, sampled at random."""
    return [(one, other) for one in better for other in rng.permutation(worse)[:_MOST_WORSE].tolist()]


def _join(
    expansions: Iterable[list[tuple[int, int]]],
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]] | None:
    """The e-states in the pairs of all expansions, the pairs as positions in these, and their weights; None if empty.

    All expansions with pairs have the same total weight.
    """
    groups = [group for group in expansions if group]
    if not groups:
        return None
    numbers, places = np.unique(np.array([pair for group in groups for pair in group]), return_inverse=True)
    better, worse = places.reshape(-1, 2).T
    weight = np.array([1 / len(group) for group in groups for _ in group])
    return numbers, better, worse, weight / weight.sum()
