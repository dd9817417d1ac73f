"""Random goals that are known to be reachable: true after a random walk.

A walk applies random actions to the initial e-state; the goal is drawn from the formulas that are true
where it ends, so the walk is a plan. The formulas to draw from are the subgoals of the space's task: build
the task with a whole vocabulary for its goal.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from epigym.errors import TaskError
from epigym.space import StateSpace

_WALKS = 100  # walks that may end where every formula of the vocabulary is as it was at the start


@dataclass(frozen=True, slots=True)
class RandomGoal:
    """A goal and the walk that proves that it can be reached.

    Attributes:
        subgoals: indices into the subgoals of the space's task, ascending.
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
        fresh = np.flatnonzero(~np.isin(step.target, states))
        if len(fresh) == 0:
            break
        chosen = int(rng.choice(fresh))
        states.append(int(step.target[chosen]))
        actions.append(int(step.action[chosen]))
    return states, actions


def random_goal(space: StateSpace, rng: np.random.Generator, *, steps: int, size: int) -> RandomGoal:
    """Draw a goal that is not reached at the start and is reached by a random walk.

    Args:
        space: a space whose task has the formulas to draw from as its subgoals.
        rng: the source of randomness; the same state gives the same goal.
        steps: most actions of the walk, at least 1.
        size: most subgoals of the goal, at least 1; one of them is false at the start.

    Returns:
        The goal, with the walk up to the first e-state that satisfies it.

    Raises:
        TaskError: when no walk changes the truth of any formula.
    """
    before = space.subgoals([space.initial])[0]
    for _ in range(_WALKS):
        states, actions = random_walk(space, rng, steps=steps)
        truths = space.subgoals(states)
        changed = np.flatnonzero(truths[-1] & ~before)
        if len(changed) == 0:
            continue
        first = int(rng.choice(changed))
        others = [index for index in np.flatnonzero(truths[-1]).tolist() if index != first]
        chosen = sorted([first, *rng.permutation(others)[: size - 1].tolist()])
        reached = int(np.flatnonzero(truths[:, chosen].all(axis=1))[0])
        return RandomGoal(tuple(chosen), tuple(actions[:reached]))
    raise TaskError(f"no random goal: after {_WALKS} random walks no formula was true that was false at the start")
