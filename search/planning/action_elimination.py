"""Action elimination: removes redundant actions from plans.

Source: Nakhost, Müller, "Action Elimination and Plan Neighborhood Graph Search" (ICAPS 2010).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress

from epigym.errors import TaskError
from epigym.space.space import StateSpace

Steps = list[tuple[int, int]]
"""The actions of a plan, each with the e-state that it leads to."""


def eliminate_actions(space: StateSpace, plan: Sequence[str], may_execute: Callable[[], bool]) -> tuple[str, ...]:
    """Cut a plan after its first goal and remove redundant actions until none is left or `may_execute` says no.

    Args:
        space: the state space of the task.
        plan: the names of actions that lead from the initial e-state to a goal.
        may_execute: called before each action that is executed to try a shorter plan.

    Returns:
        The names of the remaining actions.
    """
    steps = execute_plan(space, plan, lambda: True)
    assert steps is not None, "the plan leads to a goal"
    return name_actions(space, remove_redundant_steps(space, steps, may_execute))


def execute_plan(space: StateSpace, plan: Sequence[str], may_execute: Callable[[], bool]) -> Steps | None:
    """Execute a plan up to its first goal; None when it reaches none, or `may_execute` says no."""
    numbers = {action.name: number for number, action in enumerate(space.task.actions)}
    if not numbers.keys() >= set(plan):
        return None
    actions = [numbers[name] for name in plan]
    steps = _execute(space, space.initial, actions, may_execute)
    return None if steps is None or [action for action, _ in steps] != actions[: len(steps)] else steps


def remove_redundant_steps(space: StateSpace, steps: Steps, may_execute: Callable[[], bool]) -> Steps:
    """Remove redundant actions until none is left or `may_execute` says no.

    An action is redundant if the plan still reaches a goal without it and without the later actions that it enables.
    """
    place = failures = 0
    while failures < len(steps) and may_execute():
        place %= len(steps)
        state = steps[place - 1][1] if place else space.initial
        rest = _execute(space, state, [action for action, _ in steps[place + 1 :]], may_execute)
        if rest is None:
            place, failures = place + 1, failures + 1
        else:
            steps, failures = [*steps[:place], *rest], 0
    return steps


def name_actions(space: StateSpace, steps: Steps) -> tuple[str, ...]:
    """The names of the actions."""
    return tuple(space.task.actions[action].name for action, _ in steps)


def _execute(space: StateSpace, state: int, actions: Iterable[int], may_execute: Callable[[], bool]) -> Steps | None:
    """Execute actions up to a goal, without the inapplicable ones; None without a goal."""
    steps = Steps()
    for action in actions:
        if space.is_goal([state])[0]:
            break
        if not may_execute():
            return None
        if not space.applicable([state])[0, action]:  # asked first: the error takes long to explain itself
            continue
        with suppress(TaskError):  # designated worlds disagree, or beliefs would become inconsistent
            state = space.successor(state, action)
            steps.append((action, state))
    return steps if space.is_goal([state])[0] else None
