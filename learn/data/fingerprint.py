"""Fingerprints: short hexadecimal names of tasks and settings, by which results are cached."""

from __future__ import annotations

from typing import Any

from epigym.io.checksummed import digest
from epigym.task.formula import Formula
from epigym.task.task import Action, EState, Task


def fingerprint(**parts: Any) -> str:
    """32 hexadecimal digits computed from the parts (plain values and containers)."""
    return digest(parts)[:32]


def fingerprint_task(task: Task) -> str:
    """The fingerprint of a task without its name."""
    table: dict[Formula, int] = {}
    rows: list[Any] = []
    for root in task.formulas():
        for formula in root.subformulas():
            if formula not in table:
                table[formula] = len(table)
                children = [table[child] for child in formula.children]
                rows.append([int(formula.op), formula.name, formula.agents, children])
    return fingerprint(
        fluents=task.fluents,
        agents=task.agents,
        formulas=rows,
        actions=[_action(action, table) for action in task.actions],
        initial=_state(task.initial),
        goal=[table[subgoal] for subgoal in task.goal],
    )


def _action(action: Action, table: dict[Formula, int]) -> list[Any]:
    events = [
        [
            table[event.precondition],
            [[effect.fluent, effect.value, table[effect.condition]] for effect in event.effects],
        ]
        for event in action.events
    ]
    relations = {kind: [sorted(row) for row in rows] for kind, rows in action.relations.items()}
    observability = [[[table[condition], kind] for condition, kind in row] for row in action.observability]
    return [action.name, table[action.applicability], events, action.designated, relations, observability]


def _state(state: EState) -> list[Any]:
    valuations = [sorted(valuation) for valuation in state.valuations]
    successors = [[sorted(row) for row in rows] for rows in state.successors]
    return [valuations, successors, state.designated]
