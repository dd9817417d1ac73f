"""Action elimination: removes redundant actions from plans.

Source: Nakhost, Müller, "Action Elimination and Plan Neighborhood Graph Search" (ICAPS 2010).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from epigym.errors import TaskError
from epigym.space.space import StateSpace
from search.agents.limits import Budget


def eliminate_actions(space: StateSpace, plan: Sequence[str], budget: Budget) -> tuple[str, ...]:
    """Cut a plan after its first goal and remove redundant actions until none is left or a limit is reached.

    An action is redundant if the plan still reaches a goal without it and without the later actions that it enables.

    Args:
        space: the state space of the task.
        plan: the names of actions that lead from the initial e-state to a goal.
        budget: the limits, with a running clock.

    Returns:
        The names of the remaining actions.
    """
    names = [action.name for action in space.task.actions]
    steps = _execute(space, space.initial, [names.index(name) for name in plan])
    assert steps is not None, "the plan leads to a goal"
    place = failures = 0
    while failures < len(steps) and not budget.check(0):
        place %= len(steps)
        state = steps[place - 1][1] if place else space.initial
        rest = _execute(space, state, [action for action, _ in steps[place + 1 :]])
        if rest is None:
            place, failures = place + 1, failures + 1
        else:
            steps, failures = [*steps[:place], *rest], 0
    return tuple(names[action] for action, _ in steps)


def _execute(space: StateSpace, state: int, actions: Iterable[int]) -> list[tuple[int, int]] | None:
    """Execute actions up to a goal, without the inapplicable ones; each with its e-state, or None without a goal."""
    steps = []
    for action in actions:
        if space.is_goal([state])[0]:
            break
        try:
            state = space.successor(state, action)
        except TaskError:
            continue
        steps.append((action, state))
    return steps if space.is_goal([state])[0] else None
