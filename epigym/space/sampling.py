"""Random walks through a state space, and goals sampled by them, which are known to be reachable."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from epigym.errors import TaskError
from epigym.space.space import Query, StateSpace

_WALKS = 100  # walks that may end where every formula of the vocabulary is as it was at the start


@dataclass(frozen=True, slots=True)
class RandomGoal:
    """A goal and the walk that proves that it can be reached.

    Attributes:
        subgoals: indices into the vocabulary, ascending.
        plan: indices of the actions of the walk.
    """

    subgoals: tuple[int, ...]
    plan: tuple[int, ...]


def sample_walk(
    space: StateSpace, rng: np.random.Generator, *, steps: int, start: int | None = None
) -> tuple[list[int], list[int]]:
    """Apply random actions to an e-state, going to e-states not yet visited while there are any.

    Args:
        space: where to walk.
        rng: the source of randomness.
        steps: most actions to apply; the walk ends early where nothing new can be reached.
        start: where it begins; None: at the initial e-state.

    Returns:
        The e-states of the walk, the start first, and the actions between them.
    """
    states, actions = [space.initial if start is None else start], []
    for _ in range(steps):
        step = space.expand(states[-1:])
        fresh = [k for k, target in enumerate(step.target.tolist()) if target not in states]
        if not fresh:
            break
        chosen = fresh[rng.integers(len(fresh))]
        states.append(int(step.target[chosen]))
        actions.append(int(step.action[chosen]))
    return states, actions


def sample_narrow_walk(
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


def sample_goal(
    space: StateSpace,
    vocabulary: Query,
    rng: np.random.Generator,
    *,
    steps: int,
    size: int,
    walk: Callable[..., tuple[list[int], list[int]]] = sample_walk,
) -> RandomGoal:
    """Sample a goal that is not reached at the start and is reached by a random walk.

    The goal consists of formulas that are true where the walk ends, so the walk is a plan.

    Args:
        space: where to walk.
        vocabulary: the formulas to sample from, as a query of the space.
        rng: the source of randomness; the same state gives the same goal.
        steps: most actions of the walk, at least 1.
        size: most subgoals of the goal, at least 1; one of them is false at the start.
        walk: how to walk; called like `sample_walk`.

    Returns:
        The goal, with the walk up to the first e-state that satisfies it.

    Raises:
        TaskError: when no walk changes the truth of any formula.
    """
    for _ in range(_WALKS):
        states, actions = walk(space, rng, steps=steps)
        truths = vocabulary(states)
        changed = np.flatnonzero(truths[-1] & ~truths[0])
        if len(changed) == 0:
            continue
        first = int(changed[rng.integers(len(changed))])
        others = [index for index in np.flatnonzero(truths[-1]).tolist() if index != first]
        chosen = sorted([first, *rng.permutation(others)[: size - 1].tolist()])
        reached = int(np.flatnonzero(truths[:, chosen].all(axis=1))[0])
        return RandomGoal(tuple(chosen), tuple(actions[:reached]))
    raise TaskError(f"no random goal: after {_WALKS} random walks no formula was true that was false at the start")
