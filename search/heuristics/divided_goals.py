"""`divided_goals`: count the parts of the goal that do not hold, as small as belief lets them be."""

from __future__ import annotations

from collections.abc import Iterator

from epigym.formula import Formula, Op, believes, common
from epigym.space import StateSpace
from search.heuristics.open_goals import OpenGoals


def divided(formula: Formula) -> Iterator[Formula]:
    """Formulas that hold together iff `formula`, in negation normal form, does.

    Belief distributes over conjunction, and what everybody of a group believes each of them believes:
    `E_{a,b} (p & q)` is `B_a p`, `B_a q`, `B_b p` and `B_b q`.
    """
    match formula.op:
        case Op.AND:
            for child in formula.children:
                yield from divided(child)
        case Op.BELIEVES | Op.EVERYBODY:
            parts = list(divided(formula.children[0]))
            yield from (believes(agent, part) for agent in formula.agents for part in parts)
        case Op.COMMON:
            yield from (common(formula.agents, part) for part in divided(formula.children[0]))
        case _:
            yield formula


class DividedGoals(OpenGoals):
    """Scores an e-state with the number of parts of the subgoals that do not hold; goals score 0.

    As `open_goals` where no subgoal can be divided, and finer where one can.

    Args:
        space: where the e-states live.
    """

    name = "divided_goals"

    def __init__(self, space: StateSpace) -> None:
        """Divide the goal of the space's task."""
        parts = (part for subgoal in space.task.goal for part in divided(subgoal.negation_normal_form()))
        self._truth = space.query(dict.fromkeys(parts))
