"""Expansions to learn an order from: e-states whose distances are known, and which of two a search should prefer.

A small problem is exhausted, so that every label is exact. Of some of its e-states, half of them on shortest plans and
the others from every distance, all successors are kept: what brings a goal nearer is better than its siblings, than its
parent, and than anything from which no goal can be reached. Of a larger problem what is seen of it says so much on
shortest plans, or a plan that was found which to prefer.
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
from learn.data.explorers import Exploration, ExplorerSettings, OnVisit, explore, keep, require_goal
from learn.data.labels import UNREACHABLE

_BEST = 2  # successors of an e-state that stand for all that are nearest
_MOST_WORSE = 12  # of those that are compared with one of them


@dataclass(frozen=True, slots=True)
class Pairs:
    """Labelled e-states of one problem, and pairs of them.

    Attributes:
        space: where they live, with the e-states on the ways to them; its task has the goal.
        ids: int32[k], the e-states.
        distance: int32[k], actions to the nearest goal, or to the end of a plan, or that a plan has at least;
            `UNREACHABLE` where there is none.
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


def make_pairs(
    task: Task, *, expansions: int, max_states: int, seed: int, partially_explored: bool = False
) -> Pairs | None:
    """Pairs of a problem, or None when it has more e-states, or nothing to choose.

    Of a problem that is too large, whose nearest goal is in sight, distances are exact on every shortest plan; farther
    off they are what a plan takes at least.

    Args:
        task: the problem.
        expansions: of at most so many e-states the successors are compared.
        max_states: e-states that are looked at, nearest first.
        seed: what is drawn depends on it.
        partially_explored: whether the problem may have more, if its nearest goal is among these.
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
    """The e-states that an explorer keeps of a problem, with their distances, and no pairs.

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
    """Pairs of the e-states of a plan: each is better than the one before it, and than its siblings.

    What the siblings are worth is not known; their distance is taken for that of their parent.

    Args:
        space: where the e-states live, with the goal.
        states: from the initial one to a goal, at least two, each once.
        seed: of some e-states not all siblings are taken, as it says.
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
) -> tuple[Exploration, NDArray[np.int32], list[int]] | None:
    """The e-states of a problem, their distances, and those to expand; None when there are too many."""
    exploration = explore(task, ExplorerSettings("exhaustive", max_visited=max_states))
    distance = exact = exploration.distance
    if not exploration.complete:
        # Whatever is nearer than the last layer has been met, with all ways to it.
        least = exploration.depth[-1] - exploration.depth
        exact = np.where(distance < least, distance, UNREACHABLE)
        if not partially_explored or exact[0] == UNREACHABLE:
            return None
        distance = np.where(exact == UNREACHABLE, least, exact)
    order = np.argsort(exploration.source, kind="stable")
    ptr = ragged.pointers(np.bincount(exploration.source, minlength=len(distance)))
    return exploration, distance, _choose_expansions(exact, ptr, exploration.target[order], expansions, rng)


def _walk_to(exploration: Exploration, places: NDArray[np.integer]) -> tuple[StateSpace, NDArray[np.int32]]:
    """Some visited e-states, by their places, in a space that has the goal; and their ids there, in the same order.

    The ways to them are walked again, which builds no other e-states.
    """
    place_of = np.full(int(exploration.states.max()) + 2, -1)  # the last for -1, what is before the initial e-state
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


def _compare_successors(
    state: int, after: NDArray[np.int32], distance: NDArray[np.int32], rng: np.random.Generator
) -> list[tuple[int, int]]:
    """Pairs (better, worse) of an e-state's successors, and of a best one and the e-state itself."""
    is_best = distance[after] == distance[state] - 1
    best = rng.permutation(after[is_best])[:_BEST].tolist()
    return [*_combine(best, after[~is_best & (after != state)], rng), (best[0], state)]


def _combine(better: list[int], worse: NDArray[Any], rng: np.random.Generator) -> list[tuple[int, int]]:
    """Each of some numbers with some of others that are worse."""
    return [(one, other) for one in better for other in rng.permutation(worse)[:_MOST_WORSE].tolist()]


def _join(
    expansions: Iterable[list[tuple[int, int]]],
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]] | None:
    """The numbers in the pairs of expansions, the pairs as positions in these, and their weights; None without pairs.

    Each expansion with pairs weighs the same.
    """
    groups = [group for group in expansions if group]
    if not groups:
        return None
    numbers, places = np.unique(np.array([pair for group in groups for pair in group]), return_inverse=True)
    better, worse = places.reshape(-1, 2).T
    weight = np.array([1 / len(group) for group in groups for _ in group])
    return numbers, better, worse, weight / weight.sum()
