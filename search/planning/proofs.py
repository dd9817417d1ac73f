"""That a task has no plan, said a second time by the reference, which shares nothing with the core.

A small space is explored again as a whole; of a larger one, some e-states are.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from time import perf_counter

import numpy as np

from epigym.errors import EpigymError
from epigym.reference import applicable_actions, apply, canonical, collapsed, subgoals
from epigym.space import StateSpace
from epigym.task import EState, Task
from epigym.walks import breadth_first

SECONDS = 10.0
"""How long the reference may take, at most."""
_SMALL = 2_000  # e-states: a space of more is not explored again as a whole
_SAMPLE = 200  # e-states of such a space that are expanded again


class RefutedError(EpigymError):
    """Raised when the reference contradicts the core about a task that is said to have no plan."""


def confirmed(task: Task, seconds: float = SECONDS, *, forbid_collapse: bool = False) -> str:
    """Look again at a task that a search said has no plan.

    Args:
        task: the planning task.
        seconds: to look for.
        forbid_collapse: whether e-states in which an agent believes everything do not count, see `StateSpace`.

    Returns:
        What was looked at, as a sentence.

    Raises:
        RefutedError: when a goal was found, or the reference sees other successors than the core.
    """
    start = perf_counter()
    halfway, deadline = start + seconds / 2, start + seconds
    space = StateSpace(task, forbid_collapse=forbid_collapse)
    explored = _explored(space, halfway)
    if explored is not None and (count := _explore(task, forbid_collapse, halfway)) is not None:
        if count != explored:
            raise RefutedError(f"the reference explores {count:,} e-states where the core explores {explored:,}")
        return f"the reference explored all {count:,} e-states again"
    checked, known = _compare(space, deadline), f"{len(space):,}{'' if explored else ' and more'}"
    return f"the reference expanded {checked:,} of {known} e-states again"


def _explored(space: StateSpace, deadline: float) -> int | None:
    """The number of e-states of a small space; None for others, or when time is over."""
    for _ in breadth_first(space):
        if len(space) > _SMALL or perf_counter() > deadline:
            return None
    return len(space)


def _explore(task: Task, forbid_collapse: bool, deadline: float) -> int | None:
    """Explore a space by the reference alone; the number of its e-states, or None when time is over."""
    seen, queue = {canonical(task.initial, task.fluents)}, deque([task.initial])
    while queue:
        if perf_counter() > deadline:
            return None
        state = queue.popleft()
        if all(subgoals(task, state)):
            raise RefutedError("the reference reaches an e-state in which the goal holds")
        for _, target in _successors(task, state, forbid_collapse):
            if (form := canonical(target, task.fluents)) not in seen:
                seen.add(form)
                queue.append(target)
    return len(seen)


def _compare(space: StateSpace, deadline: float) -> int:
    """Expand e-states that were met, drawn at random, by the core and by the reference; how many there was time for."""
    drawn = np.random.default_rng(0).permutation(len(space))[:_SAMPLE]
    for done, state in enumerate(drawn.tolist()):
        if perf_counter() > deadline:
            return done
        _compare_one(space, state)
    return len(drawn)


def _compare_one(space: StateSpace, state: int) -> None:
    task, model = space.task, space.model(state).state
    if all(subgoals(task, model)) or space.is_goal([state])[0]:
        raise RefutedError(f"the goal holds in e-state {state}")
    _, actions, targets, _ = space.expand([state])
    theirs = {action: space.intern(target) for action, target in _successors(task, model, space.forbid_collapse)}
    if theirs != dict(zip(actions.tolist(), targets.tolist(), strict=True)):
        raise RefutedError(f"the reference sees other successors of e-state {state} than the core")


def _successors(task: Task, state: EState, forbid_collapse: bool) -> Iterator[tuple[int, EState]]:
    """The actions that are allowed in an e-state, and where they lead, by the reference."""
    for number, is_applicable in enumerate(applicable_actions(task, state)):
        if is_applicable:
            target = apply(task, state, task.actions[number])
            if not (forbid_collapse and any(collapsed(target))):
                yield number, target
