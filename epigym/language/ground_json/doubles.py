"""Applicability formulas, which the official layout does not have, as preconditions of designated events."""

from __future__ import annotations

from dataclasses import replace

from epigym.task.formula import TRUE, and_, conjuncts
from epigym.task.task import Action


def in_preconditions(action: Action) -> Action:
    """An action without applicability formula that is applicable where `action` is and leads to the same e-states.

    Each designated event gets a double, designated in its place, that asks for the formula too. No event leads to a
    double, so nobody learns that the formula held, and a world after a double is bisimilar to that after the event.
    """
    asked = set(conjuncts(action.applicability))
    events = [action.events[number] for number in action.designated]
    if all(asked.issubset(conjuncts(event.precondition)) for event in events):
        return replace(action, applicability=TRUE)
    doubles = [replace(event, precondition=and_(action.applicability, event.precondition)) for event in events]
    count = len(action.events)
    return replace(
        action,
        applicability=TRUE,
        events=(*action.events, *doubles),
        designated=tuple(range(count, count + len(doubles))),
        relations={
            kind: (*rows, *(rows[number] for number in action.designated)) for kind, rows in action.relations.items()
        },
    )
