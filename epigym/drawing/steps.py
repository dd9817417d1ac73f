"""The steps of a plan: the e-states it leads through, what each of its actions changed, and who saw that.

A step is the name of an action, which leads to all its outcomes together; or the name and one outcome, such as
`peek_a: heads`, which leads there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from epigym.errors import TaskError, UsageError
from epigym.names import unknown
from epigym.reference.dense_model import PointedModel
from epigym.reference.semantics import apply, observability_types, outcomes
from epigym.space.branching import Outcome, outcomes_of
from epigym.space.kripke_model import KripkeModel
from epigym.space.space import StateSpace
from epigym.task.task import Action, EState, Task


def walk(space: StateSpace, plan: Sequence[str]) -> list[int]:
    """The e-states from the initial one to that after the last step of `plan`, one more than steps.

    Raises:
        UsageError: naming the first step whose action or outcome is unknown or cannot be applied, and why.
    """
    states = [space.initial]
    for step, text in enumerate(plan, start=1):
        try:
            states.append(take_step(space, states[-1], text)[2])
        except (TaskError, UsageError) as error:
            raise UsageError(f"step {step}: {error}") from None
    return states


def take_step(space: StateSpace, state: int, text: str) -> tuple[Action, Outcome | None, int]:
    """The action of a step, its outcome, None for all of them, and the id of the e-state that it leads to.

    Raises:
        TaskError: when the action is not allowed.
        UsageError: when there is no such action, or it has no such outcome.
    """
    for number, action in enumerate(space.task.actions):
        if text == action.name:
            return action, None, _successor(space, state, number)
    starts = [number for number, action in enumerate(space.task.actions) if text.startswith(f"{action.name}: ")]
    for number in starts:
        action = space.task.actions[number]
        found = {str(one): (action, one, target) for one, target in outcomes_of(space, state, number)}
        if (outcome := text.removeprefix(f"{action.name}: ")) in found:
            return found[outcome]
        if number == starts[-1]:
            if not found:
                _successor(space, state, number)  # says why not
            raise UsageError(unknown(f"outcome of {action.name!r}", outcome, found))
    raise UsageError(unknown("action", text, [action.name for action in space.task.actions]))


@dataclass(frozen=True, slots=True)
class Change:
    """The changes by an action.

    Attributes:
        worlds: those afterwards that are unlike any world before, in facts or in what agents believe there.
        facts: the fluents that are not true at the designated worlds as they were.
    """

    worlds: frozenset[int] = frozenset()
    facts: frozenset[str] = frozenset()


def change(before: KripkeModel, after: KripkeModel) -> Change:
    """The difference between the e-states before and after an action."""
    return Change(
        _unlike(before.state, after.state),
        frozenset(name for name in after.fluents if _values(before, name) != _values(after, name)),
    )


class Notice(StrEnum):
    """The perception of an action by an agent."""

    SAW = "saw"
    NOTICED = "noticed"
    MISSED = "missed"


def witnesses(task: Task, estate: EState, action: Action, outcome: Outcome | None = None) -> tuple[Notice, ...]:
    """The perception of `action` in `estate`, or of one of its outcomes, by each agent.

    Raises:
        TaskError: when designated worlds disagree about an agent's observability type, and no outcome is given.
    """
    if outcome is None:
        return tuple(notice(action, kind, action.designated) for kind in observability_types(task, estate, action))
    [types] = [one.types for one in outcomes(task, estate, action) if (one.event, one.assignment) == outcome[:2]]
    return tuple(notice(action, kind, (outcome.event,)) for kind in types)


def notice(action: Action, kind: str, events: Sequence[int]) -> Notice:
    """The perception of `action` by an agent of an observability type, when one of `events` happens.

    The agent saw it if it considers only that event possible, and noticed it if it considers others possible, too.
    """
    seen = [(event, action.relations[kind][event]) for event in events]
    if all(row == {event} for event, row in seen):
        return Notice.SAW
    return Notice.NOTICED if all(event in row for event, row in seen) else Notice.MISSED


def _successor(space: StateSpace, state: int, action: int) -> int:
    try:
        return space.successor(state, action)
    except TaskError:
        apply(space.task, space.model(state).state, space.task.actions[action])  # the reference says why not
        raise


def _unlike(before: EState, after: EState) -> frozenset[int]:
    """The worlds of `after` that are bisimilar to none of `before`."""
    count = len(before.valuations)
    both = EState(
        valuations=before.valuations + after.valuations,
        successors=tuple(
            old + _shift(new, count) for old, new in zip(before.successors, after.successors, strict=True)
        ),
        designated=before.designated,
    )
    model = PointedModel.of(both)
    colours = model.refine(map(tuple, map(sorted, model.valuations))).tolist()
    known = set(colours[:count])
    return frozenset(world for world, colour in enumerate(colours[count:]) if colour not in known)


def _shift(rows: Sequence[frozenset[int]], count: int) -> tuple[frozenset[int], ...]:
    shifted = {row: frozenset(world + count for world in row) for row in set(rows)}
    return tuple(shifted[row] for row in rows)


def _values(model: KripkeModel, fluent: str) -> set[bool]:
    """The truth values of a fluent at the designated worlds."""
    return {fluent in model.state.valuations[world] for world in model.designated}
