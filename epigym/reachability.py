"""A proof that a task has no plan: a delete relaxation of what designated worlds satisfy."""

from __future__ import annotations

from collections.abc import Collection

from epigym.formula import Formula, Op, and_, literal
from epigym.task import Task


def may_reach_goal(task: Task) -> bool:
    """Whether the goal may be reached; where it may not, the task has no plan.

    A literal is reached once a designated world may satisfy it. Nothing is ever made false, and whatever is neither a
    literal nor a conjunction or disjunction counts as true. So what is not reached here is not reached at all.
    """
    worlds = [task.initial.valuations[world] for world in task.initial.designated]
    reached = {literal(name, name in world) for world in worlds for name in task.fluents}
    goal = and_(*task.goal).negation_normal_form()
    if _may_hold(goal, reached):
        return True
    changes = [
        (and_(action.applicability, event.precondition, effect.condition).negation_normal_form(), made)
        for action in task.actions
        for event in map(action.events.__getitem__, action.designated)
        for effect in event.effects
        if (made := literal(effect.fluent, effect.value)) not in reached
    ]
    while new := {made for needed, made in changes if made not in reached and _may_hold(needed, reached)}:
        reached |= new
        if _may_hold(goal, reached):
            return True
    return False


def _may_hold(formula: Formula, reached: Collection[Formula]) -> bool:
    """Whether a formula in negation normal form may hold at a designated world."""
    match formula.op:
        case Op.AND:
            return all(_may_hold(part, reached) for part in formula.children)
        case Op.OR:
            return any(_may_hold(part, reached) for part in formula.children)
        case Op.FALSE:
            return False
    return formula.unnegated.op is not Op.FLUENT or formula in reached
