"""Event conditions: what an action type may demand of the events bound to its variables."""

from __future__ import annotations

from epigym.language.epddl.syntax import Conditional, EventSchema
from epigym.language.epddl.terms import Formula, Modal, items, subformulas

CONDITIONS = frozenset(
    [":propositional-precondition", ":propositional-postconditions", ":propositional-event"]
    + [f":{trivial}-{part}" for trivial in ("trivial", "non-trivial") for part in ("precondition", "postconditions")]
    + [":trivial-event", ":non-trivial-event"]
)


def first_modality(formula: Formula) -> Modal | None:
    """The first modality of a formula, as it is written."""
    return next((part for part in subformulas(formula) if isinstance(part, Modal)), None)


def satisfies(event: EventSchema, condition: str) -> bool:
    """Whether an event meets an event condition, by its text alone."""
    kind, _, part = condition[1:].rpartition("-")
    checks = []
    if part in ("precondition", "event"):
        trivial = event.precondition is None or str(event.precondition.place) == "true"
        formulas = [] if event.precondition is None else [event.precondition]
        checks.append(_meets(kind, trivial, formulas))
    if part in ("postconditions", "event"):
        effects = [] if event.effects is None else list(items(event.effects))
        conditions = [effect.condition for effect in effects if isinstance(effect, Conditional)]
        checks.append(_meets(kind, not effects, conditions))
    return all(checks)


def _meets(kind: str, trivial: bool, formulas: list[Formula]) -> bool:
    if kind == "propositional":
        return all(first_modality(formula) is None for formula in formulas)
    return trivial if kind == "trivial" else not trivial
