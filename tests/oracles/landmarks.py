"""Landmarks in plain Python, by their meaning: what the relaxation does not reach the goal without."""

from epigym.reference.semantics import Evaluation
from epigym.task.formula import TRUE, Formula, Op, conjuncts
from epigym.task.task import EState
from tests.oracles.relaxation import Relaxation, Supporter


class Landmarks:
    """The landmarks of an e-state and their greedy-necessary orders.

    Attributes:
        goal: the parts of the subgoals.
        reached: what costs something and becomes true in every relaxed plan; nothing if there is none.
    """

    def __init__(self, relaxation: Relaxation, estate: EState) -> None:
        self._relaxation = relaxation
        self._holds = Evaluation(relaxation.task.agents, estate).holds
        self.goal = {part for subgoal in relaxation.goal for part in conjuncts(subgoal) if part is not TRUE}
        self.reached: set[Formula] = set()
        if self._reaches_goal(None):
            open_ = [formula for formula in self._collect() if not self._true(formula, None, set())]
            self.reached = {formula for formula in open_ if not self._reaches_goal(formula)}

    def before(self, landmark: Formula) -> set[Formula]:
        """The landmarks that whatever may make this one true for the first time requires."""
        if landmark not in self.reached:
            return set()
        added = self._add_facts(landmark)
        required = [
            set(conjuncts(supporter.requirement))
            for fact in self._relaxation.facts_below(landmark)
            for supporter in self._relaxation.supporters(fact)
            if self._supports(supporter, landmark, added)
        ]
        return self.reached.intersection(*required)

    def _reaches_goal(self, without: Formula | None) -> bool:
        added = self._add_facts(without)
        return all(self._true(subgoal, without, added) for subgoal in self._relaxation.goal)

    def _add_facts(self, without: Formula | None) -> set[Formula]:
        """The facts that some sequence of operators adds, without one formula ever being true."""
        added: set[Formula] = set()
        while True:
            more = {
                fact
                for fact in self._relaxation.facts
                for supporter in self._relaxation.supporters(fact)
                if self._supports(supporter, without, added)
            }
            if more <= added:
                return added
            added |= more

    def _supports(self, supporter: Supporter, without: Formula | None, added: set[Formula]) -> bool:
        return all(map(self._holds, supporter.possible)) and self._true(supporter.requirement, without, added)

    def _true(self, formula: Formula, without: Formula | None, added: set[Formula]) -> bool:
        if formula.op is Op.AND:
            return all(self._true(part, without, added) for part in formula.children)
        return formula is not without and (
            self._holds(formula)
            or any(
                formula in added if option is formula else self._true(option, without, added)
                for option in self._relaxation.options(formula)
            )
        )

    def _collect(self) -> set[Formula]:
        """Whatever a relaxed plan may make true that is no conjunction."""
        found: set[Formula] = set()
        border = [*self._relaxation.goal]
        border += [one.requirement for fact in self._relaxation.facts for one in self._relaxation.supporters(fact)]
        while border:
            for part in conjuncts(border.pop()):
                if part not in found:
                    found.add(part)
                    border += [option for option in self._relaxation.options(part) if option is not part]
        return found
