"""The steps of a plan: the e-states it leads through, what each of its actions changed, and who saw that."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from epigym.errors import TaskError, UsageError
from epigym.names import unknown
from epigym.reference.dense_model import PointedModel
from epigym.reference.semantics import apply, observability_types
from epigym.space.kripke_model import KripkeModel
from epigym.space.space import StateSpace
from epigym.task.task import Action, EState, Task


def walk(space: StateSpace, plan: Sequence[str]) -> list[int]:
    """The e-states from the initial one to that after the last action of `plan`, one more than actions.

    Raises:
        UsageError: naming the first step whose action is unknown or cannot be applied, and why.
    """
    numbers = {action.name: number for number, action in enumerate(space.task.actions)}
    states = [space.initial]
    for step, name in enumerate(plan, start=1):
        if name not in numbers:
            raise UsageError(f"step {step}: {unknown('action', name, numbers)}")
        try:
            states.append(_successor(space, states[-1], numbers[name]))
        except TaskError as error:
            raise UsageError(f"step {step}: {error}") from None
    return states


@dataclass(frozen=True, slots=True)
class Change:
    """What an action changed.

    Attributes:
        worlds: those afterwards that are unlike any world before, in facts or in what agents believe there.
        facts: the fluents that are not true at the designated worlds as they were.
    """

    worlds: frozenset[int] = frozenset()
    facts: frozenset[str] = frozenset()


def change(before: KripkeModel, after: KripkeModel) -> Change:
    """What is different in an e-state after an action."""
    return Change(
        _unlike(before.state, after.state),
        frozenset(name for name in after.fluents if _values(before, name) != _values(after, name)),
    )


class Notice(StrEnum):
    """What an agent perceives of an action."""

    SAW = "saw"
    NOTICED = "noticed"
    MISSED = "missed"


def witnesses(task: Task, estate: EState, action: Action) -> tuple[Notice, ...]:
    """For each agent what it perceives of `action` in `estate`.

    Raises:
        TaskError: when designated worlds disagree about an agent's observability type.
    """
    return tuple(notice(action, kind) for kind in observability_types(task, estate, action))


def notice(action: Action, kind: str) -> Notice:
    """What an agent of an observability type perceives of `action`.

    Whichever designated event happens, it saw it when it considers only that event possible, and noticed it when it
    considers it possible among others.
    """
    seen = [(event, action.relations[kind][event]) for event in action.designated]
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
            old + _shifted(new, count) for old, new in zip(before.successors, after.successors, strict=True)
        ),
        designated=before.designated,
    )
    model = PointedModel.of(both)
    colours = model.refined(map(tuple, map(sorted, model.valuations))).tolist()
    known = set(colours[:count])
    return frozenset(world for world, colour in enumerate(colours[count:]) if colour not in known)


def _shifted(rows: Sequence[frozenset[int]], count: int) -> tuple[frozenset[int], ...]:
    shifted = {row: frozenset(world + count for world in row) for row in set(rows)}
    return tuple(shifted[row] for row in rows)


def _values(model: KripkeModel, fluent: str) -> set[bool]:
    """The truth values of a fluent at the designated worlds."""
    return {fluent in model.state.valuations[world] for world in model.designated}
