"""A proof that a task has no plan: a delete relaxation of what designated worlds satisfy."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection

from epigym.task.formula import Formula, Op, and_, literal
from epigym.task.task import Task


def may_reach_goal(task: Task) -> bool:
    """Whether the goal may be reached; where it may not, the task has no plan.

    A literal is reached once a designated world may satisfy it. Nothing is ever made false, and formulas
    other than literals, conjunctions and disjunctions count as true. So a literal that is not reached here is
    unreachable.
    """
    worlds = [task.initial.valuations[world] for world in task.initial.designated]
    reached = {literal(name, name in world) for world in worlds for name in task.fluents}
    goal = and_(*task.goal)
    if _missing(goal, reached) is None:
        return True
    changes = [
        (and_(action.applicability, event.precondition, effect.condition), made)
        for action in task.actions
        for event in map(action.events.__getitem__, action.designated)
        for effect in event.effects
        if (made := literal(effect.fluent, effect.value)) not in reached
    ]
    waiting = defaultdict[Formula, list[tuple[Formula, Formula]]](list)  # the events that each literal may enable
    while changes:
        needed, made = changes.pop()
        if made in reached:
            continue
        missing = _missing(needed, reached)
        if missing is None:
            reached.add(made)
            changes += waiting.pop(made, ())
        for one in missing or ():
            waiting[one].append((needed, made))
    return _missing(goal, reached) is None


def _missing(formula: Formula, reached: Collection[Formula], value: bool = True) -> list[Formula] | None:
    """Literals; one more must be reached for a formula to be true, or false; None if it may be so already."""
    match formula.op:
        case Op.NOT:
            return _missing(formula.children[0], reached, not value)
        case Op.AND | Op.OR:
            each = (_missing(part, reached, value) for part in formula.children)
            if (formula.op is Op.AND) is value:
                return next((found for found in each if found is not None), None)
            missing: list[Formula] = []
            for found in each:
                if found is None:
                    return None
                missing += found
            return missing
        case Op.FLUENT:
            one = literal(formula.name, value)
            return None if one in reached else [one]
        case Op.TRUE | Op.FALSE:
            return None if (formula.op is Op.TRUE) is value else []
    return None
