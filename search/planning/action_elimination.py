"""Plans without the actions that they can do without.

Source: Nakhost, Müller, "Action Elimination and Plan Neighborhood Graph Search" (ICAPS 2010).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from epigym.errors import TaskError
from epigym.space.space import StateSpace
from search.agents.limits import Budget


def eliminate_actions(space: StateSpace, plan: Sequence[str], budget: Budget) -> tuple[str, ...]:
    """A plan less what follows its first goal, and less every action that can be left out.

    An action is left out with all later ones that cannot be executed without it. They are tried in turn, until none can
    be left out or a limit is reached.

    Args:
        space: of the task.
        plan: names of actions that lead from the initial e-state to a goal.
        budget: the limits, with a running clock.
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
    """Those of `actions` that can be executed in their turn, each with the e-state it reaches; None without a goal."""
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
