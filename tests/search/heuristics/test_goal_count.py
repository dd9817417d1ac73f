"""Goals are split as far as belief distributes over conjunctions and groups."""

from dataclasses import replace

import numpy as np
from hypothesis import given

from epigym import EState, StateSpace
from epigym.reference import semantics as reference
from epigym.task.formula import Formula, and_, believes, common, everybody, fluent, not_, or_, split_formula
from search.heuristics import make_heuristic
from tests.helpers.strategies import AGENTS, estates, formulas
from tests.helpers.tasks import coin

P, Q = fluent("p"), fluent("q")


def test_parts_of_a_goal() -> None:
    assert list(split_formula(everybody("ab", and_(P, not_(Q))))) == [
        believes(agent, part) for agent in "ab" for part in (P, not_(Q))
    ]
    assert list(split_formula(believes("a", everybody("bc", P)))) == [believes("a", believes(b, P)) for b in "bc"]
    assert list(split_formula(and_(P, common("ab", and_(P, Q))))) == [P, common("ab", P), common("ab", Q)]
    for whole in (or_(P, Q), believes("a", or_(P, Q)), not_(believes("a", and_(P, Q)))):
        assert list(split_formula(whole)) == [whole]


@given(estates(), formulas())
def test_the_parts_hold_together_iff_the_formula_does(estate: EState, formula: Formula) -> None:
    parts = split_formula(formula.negation_normal_form())
    assert reference.holds(estate, AGENTS, formula) == all(reference.holds(estate, AGENTS, part) for part in parts)


def test_the_score_counts_parts_that_are_missing() -> None:
    task = replace(coin(), goal=(everybody("ab", and_(fluent("open"), fluent("tail"))),))
    space = StateSpace(task)
    lifted = space.successor(space.initial, 0)
    looked = space.successor(lifted, 1)
    told = space.successor(looked, 2)
    ids = np.array([space.initial, lifted, looked, told], dtype=np.int32)
    assert make_heuristic("split_goal_count", space).score(ids).tolist() == [4, 2, 1, 0]
    assert make_heuristic("goal_count", space).score(ids).tolist() == [1, 1, 1, 0]
