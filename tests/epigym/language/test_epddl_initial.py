"""Initial states of EPDDL: explicit models and theories, compared with results by hand."""

import pytest

from epigym.task.task import EState
from tests.helpers.epddl_texts import task

pytestmark = pytest.mark.filterwarnings("ignore::epigym.errors.ProblemWarning")


def test_explicit_models() -> None:
    init = """:worlds (w v u)
        :relations (B (:forall (?x ?y - world | (or (= ?x ?y) (and (/= ?x u) (/= ?y u)))) (?x ?y))
                    A (:and (w v) (:forall (?x - world | (/= ?x w)) (?x w))))
        :labels (v (:and (p) (:forall (?i - agent) (r ?i))) u (q) w ())
        :designated (u w)"""
    assert task(init=init).initial == EState(
        valuations=(frozenset(), frozenset({"p", "r_A", "r_B"}), frozenset({"q"})),
        successors=(
            (frozenset([1]), frozenset([0]), frozenset([0])),
            (frozenset([0, 1]), frozenset([0, 1]), frozenset([2])),
        ),
        designated=(0, 2),
    )


def test_equal_rows_of_an_explicit_relation_are_one_object() -> None:
    init = ":worlds (w v) :relations (A (:forall (?x ?y - world) (?x ?y)) B ()) :labels () :designated (w)"
    first, second = task(init=init).initial.successors[0]
    assert first is second


def theory(*formulas: str, agents: str = "A B", predicates: str = "(:predicates (p) (q))", facts: str = "") -> EState:
    text = " ".join(formulas)
    return task(init=f"(:and {text})", agents=agents, predicates=predicates, goal="(true)", facts=facts).initial


def test_a_theory_leaves_open_what_it_does_not_mention() -> None:
    everything = frozenset(range(4))
    assert theory("(p)") == EState(
        (frozenset(), frozenset({"q"}), frozenset({"p"}), frozenset({"p", "q"})),
        ((everything,) * 4, (everything,) * 4),
        (2, 3),
    )


def test_an_empty_theory_is_total_ignorance() -> None:
    found = task(init="()", predicates="(:predicates (p))").initial
    assert (found.valuations, found.designated) == ((frozenset(), frozenset({"p"})), (0, 1))


def test_common_knowledge_restricts_worlds_and_knowing_whether_cuts_relations() -> None:
    found = theory(
        "([C. All] (or (p) (q)))", "(p)", "(q)", "([C. All] ([Kw. A] (p)))", "([C. All] ([B] (imply (q) (p))))",
        "([C. All] (<Kw. B> (q)))",
    )  # fmt: skip
    assert found == EState((frozenset({"p"}), frozenset({"p", "q"})), ((frozenset([0, 1]),) * 2,) * 2, (1,))
    found = theory("([C. All] (or (p) (q)))", "(p)", "(q)", "(:forall (?i - agent) ([C. All] ([Kw. ?i] (p))))")
    assert found.successors == (((frozenset([0]), frozenset([1, 2]), frozenset([1, 2]))),) * 2
    assert found.designated == (2,)


def test_knowing_whether_compound_formulas() -> None:
    found = theory("([C. All] ([Kw. A] (and (p) (q))))", "([C. All] ([Kw. A] (or (p) (q))))")
    assert found.successors[0] == (frozenset([0]), frozenset([1, 2]), frozenset([1, 2]), frozenset([3]))
    assert found.successors[0][1] is found.successors[0][2]


def test_facts_of_a_theory_have_their_initial_values() -> None:
    predicates = "(:predicates (p) (:fact ok ?i - agent)) (:event e :effects (not (ok A)))"
    found = theory("([C. All] (imply (ok A) (p)))", predicates=predicates, facts="(ok A)")
    assert found.valuations == (frozenset({"p", "ok_A"}),)


def test_a_theory_over_no_fluents_has_one_world() -> None:
    found = task(init="()", predicates="(:predicates (:fact ok ?i - agent))", goal="(true)").initial
    assert found == EState((frozenset(),), ((frozenset([0]),),) * 2, (0,))
