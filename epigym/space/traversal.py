"""Walks through a state space: breadth first, best first, and at random to goals that are known to be reachable."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from epigym.errors import TaskError
from epigym.space.space import Query, StateSpace, Transitions

_CHUNK = 512  # e-states expanded in one call
_WALKS = 100  # walks that may end where every formula of the vocabulary is as it was at the start


class Wave(NamedTuple):
    """Some e-states of one layer of a breadth-first walk, expanded.

    Attributes:
        depth: of the e-states that were expanded.
        expanded: how many they are.
        transitions: of all of them.
        fresh: int64[m], the transitions that reach an e-state that the walk had not met, each such e-state once.
    """

    depth: int
    expanded: int
    transitions: Transitions
    fresh: NDArray[np.int64]


def breadth_first(space: StateSpace, *, threads: int = 1) -> Iterator[Wave]:
    """Expand the e-states of a space breadth first, from the initial one on, for as long as waves are taken.

    Args:
        space: it may hold e-states that others have met.
        threads: how many threads compute successors; the result does not depend on it.
    """
    met = np.zeros(len(space), dtype=np.bool_)
    met[space.initial] = True
    layer, depth = np.array([space.initial], dtype=np.int32), 0
    while len(layer):
        found = [layer[:0]]
        for start in range(0, len(layer), _CHUNK):
            chunk = layer[start : start + _CHUNK]
            step = space.expand(chunk, threads=threads)
            met = np.concatenate([met, np.zeros(len(space) - len(met), dtype=np.bool_)])
            first = np.unique(step.target, return_index=True)[1]
            fresh = np.sort(first[~met[step.target[first]]])
            met[step.target[fresh]] = True
            found.append(step.target[fresh])
            yield Wave(depth, len(chunk), step, fresh)
        layer, depth = np.concatenate(found), depth + 1


class Found(NamedTuple):
    """How a best-first walk ended.

    Attributes:
        solved: whether a goal was reached.
        expanded: e-states expanded; where evaluation is deferred, successors built.
        path: of `best_first`, the e-states from the initial one to the goal; empty where none was reached.
    """

    solved: bool
    expanded: int
    path: tuple[int, ...] = ()


def best_first(
    space: StateSpace, score: Callable[[NDArray[np.int32]], NDArray[np.float64]], *, max_expanded: int
) -> Found:
    """Greedy best-first search: expand the e-state of the lowest score, then of the lowest id, until a goal is met.

    It is what `hfs` of the search agents does, without a plan: the yardstick of models that are being made.

    Args:
        space: it holds no e-state but the initial one yet.
        score: of e-states, int32[k] to float64[k]; ordered in thousandths.
        max_expanded: most e-states to expand.
    """
    if space.is_goal([space.initial])[0]:
        return Found(True, 0, (space.initial,))
    frontier: list[tuple[float, int]] = [(0.0, space.initial)]
    reached_from: dict[int, int] = {}
    expanded = 0
    while frontier and expanded < max_expanded:
        _, state = heapq.heappop(frontier)
        step = space.expand([state], stop_at_goal=True)
        expanded += 1
        fresh = step.target[step.is_new]
        reached_from.update(dict.fromkeys(fresh.tolist(), state))
        if len(step.target) and space.is_goal(step.target[-1:])[0]:
            return Found(True, expanded, _path(reached_from, int(step.target[-1])))
        if len(fresh):
            for entry in zip(np.rint(score(fresh) * 1000).tolist(), fresh.tolist(), strict=True):
                heapq.heappush(frontier, entry)
    return Found(False, expanded)


def _path(reached_from: Mapping[int, int], state: int) -> tuple[int, ...]:
    """The e-states from the initial one to another."""
    path = [state]
    while path[-1] in reached_from:
        path.append(reached_from[path[-1]])
    return tuple(reversed(path))


def deferred(space: StateSpace, evaluate: Callable[[int], tuple[float, Sequence[int]]], *, max_built: int) -> Found:
    """Greedy best-first search that builds a successor when its turn comes, in turn of all and of preferred actions.

    It is what `lazy` of the search agents does, without a plan.

    Args:
        space: it holds no e-state but the initial one yet.
        evaluate: the score of an e-state, ordered in thousandths, and which actions are preferred there.
        max_built: most successors to build.
    """
    if space.is_goal([space.initial])[0]:
        return Found(True, 0)
    queues: tuple[list[_Branch], list[_Branch]] = ([], [])
    taken = [0, 0]
    tried: set[tuple[int, int]] = set()
    met = {space.initial}
    fresh: int | None = space.initial
    while len(tried) < max_built:
        if fresh is not None:
            score, preferred = evaluate(fresh)
            can = space.applicable([fresh])[0]
            for queue, actions in zip(queues, (preferred, np.flatnonzero(can).tolist()), strict=True):
                if last_first := [action for action in reversed(actions) if can[action]]:
                    heapq.heappush(queue, (np.rint(score * 1000), len(met), fresh, last_first))
        turns = [turn for turn in range(2) if queues[turn]]
        if not turns:
            break
        turn = min(turns, key=taken.__getitem__)
        taken[turn] += 1
        state, action = _next(queues[turn])
        fresh = None
        if (state, action) not in tried:
            tried.add((state, action))
            target = space.successor(state, action)
            if space.is_goal([target])[0]:
                return Found(True, len(tried))
            fresh = None if target in met else target
            met.add(target)
    return Found(False, len(tried))


_Branch = tuple[float, int, int, list[int]]
"""The score of an e-state, when it was met, and its actions that are still to be tried, the next one last."""


def _next(queue: list[_Branch]) -> tuple[int, int]:
    """The best e-state of a queue and its next action."""
    _, _, state, actions = queue[0]
    action = actions.pop()
    if not actions:
        heapq.heappop(queue)
    return state, action


@dataclass(frozen=True, slots=True)
class RandomGoal:
    """A goal and the walk that proves that it can be reached.

    Attributes:
        subgoals: indices into the vocabulary, ascending.
        plan: indices of the actions of the walk.
    """

    subgoals: tuple[int, ...]
    plan: tuple[int, ...]


def random_walk(space: StateSpace, rng: np.random.Generator, *, steps: int) -> tuple[list[int], list[int]]:
    """Apply random actions to the initial e-state, going to e-states not yet visited while there are any.

    Args:
        space: where to walk.
        rng: the source of randomness.
        steps: most actions to apply; the walk ends early where nothing new can be reached.

    Returns:
        The e-states of the walk, the initial one first, and the actions between them.
    """
    states, actions = [space.initial], []
    for _ in range(steps):
        step = space.expand(states[-1:])
        fresh = [k for k, target in enumerate(step.target.tolist()) if target not in states]
        if not fresh:
            break
        chosen = fresh[rng.integers(len(fresh))]
        states.append(int(step.target[chosen]))
        actions.append(int(step.action[chosen]))
    return states, actions


def narrow_walk(
    space: StateSpace, rng: np.random.Generator, *, steps: int, max_worlds: int
) -> tuple[list[int], list[int]]:
    """A random walk that builds the e-states it tries and no other successors: for large e-states.

    Args:
        space: where to walk.
        rng: the source of randomness.
        steps: most actions to apply; the walk ends early where nothing new can be reached.
        max_worlds: e-states with more worlds are not entered.

    Returns:
        The e-states of the walk, the initial one first, and the actions between them.
    """
    states, actions = [space.initial], []
    for _ in range(steps):
        [allowed] = space.allowed(states[-1:])
        for action in rng.permutation(np.flatnonzero(allowed)).tolist():
            state = space.successor(states[-1], action)
            if state not in states and space.world_counts([state])[0] <= max_worlds:
                states.append(state)
                actions.append(action)
                break
        else:
            break
    return states, actions


def random_goal(
    space: StateSpace,
    vocabulary: Query,
    rng: np.random.Generator,
    *,
    steps: int,
    size: int,
    walk: Callable[..., tuple[list[int], list[int]]] = random_walk,
) -> RandomGoal:
    """Draw a goal that is not reached at the start and is reached by a random walk.

    The goal is drawn from the formulas that are true where the walk ends, so the walk is a plan.

    Args:
        space: where to walk.
        vocabulary: the formulas to draw from, as a query of the space.
        rng: the source of randomness; the same state gives the same goal.
        steps: most actions of the walk, at least 1.
        size: most subgoals of the goal, at least 1; one of them is false at the start.
        walk: how to walk; called like `random_walk`.

    Returns:
        The goal, with the walk up to the first e-state that satisfies it.

    Raises:
        TaskError: when no walk changes the truth of any formula.
    """
    [before] = vocabulary([space.initial])
    for _ in range(_WALKS):
        states, actions = walk(space, rng, steps=steps)
        truths = vocabulary(states)
        changed = np.flatnonzero(truths[-1] & ~before)
        if len(changed) == 0:
            continue
        first = int(changed[rng.integers(len(changed))])
        others = [index for index in np.flatnonzero(truths[-1]).tolist() if index != first]
        chosen = sorted([first, *rng.permutation(others)[: size - 1].tolist()])
        reached = int(np.flatnonzero(truths[:, chosen].all(axis=1))[0])
        return RandomGoal(tuple(chosen), tuple(actions[:reached]))
    raise TaskError(f"no random goal: after {_WALKS} random walks no formula was true that was false at the start")
