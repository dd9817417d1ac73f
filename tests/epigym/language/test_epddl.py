"""Declarations, facts and formulas of EPDDL, compared with grounding by hand."""

import pytest

from epigym.language.epddl.parser import parse
from epigym.language.epddl.syntax import Domain
from epigym.language.source import Source
from epigym.task.formula import (
    FALSE,
    TRUE,
    Formula,
    and_,
    believes,
    common,
    considers_possible,
    everybody,
    fluent,
    knows_whether,
    not_,
    or_,
)
from epigym.task.task import Action, Effect, EState, Event, Task
from tests.helpers.epddl_texts import specification, task

pytestmark = pytest.mark.filterwarnings("ignore::epigym.errors.ProblemWarning")

P, Q = fluent("p"), fluent("q")
RA, RB, RC = fluent("r_A"), fluent("r_B"), fluent("r_C")
FULL = ((TRUE, "Full"),)
BLIND = ((TRUE, "Blind"),)


def goal(text: str, **parts: str) -> Formula:
    return and_(*task(goal=text, **parts).goal)


def world(valuation: str, agents: int = 2) -> EState:
    return EState((frozenset(valuation.split()),), ((frozenset([0]),),) * agents, (0,))


def test_a_whole_task_by_hand() -> None:
    items = """
        (:event tell :parameters (?i - agent) :precondition (and (r ?i) (ok ?i)))
        (:event flip :effects (:and (when (p) (not (p))) (when (not (p)) (p))))
        (:action say :parameters (?i - agent | (ok ?i))
            :action-type (private (tell ?i) (nil))
            :observability-conditions (:and (?i Full) (default Blind)))
        (:action toggle :parameters () :action-type (public (flip)) :observability-conditions (default Full))
    """
    private = {"Full": (frozenset([0]), frozenset([1])), "Blind": (frozenset([1]), frozenset([1]))}
    assert task(
        items,
        facts="(ok B)",
        init=":worlds (w v) :relations (A (:forall (?x ?y - world) (?x ?y)) B (:and (w w) (v v)))"
        " :labels (w (:and (p) (r B)) v (p)) :designated (w)",
        goal="(and ([A] (r B)) (p))",
    ) == Task(
        name="prob",
        fluents=("p", "q", "r_A", "r_B"),
        agents=("A", "B"),
        actions=(
            Action("say_B", TRUE, (Event("tell", RB), Event("nil")), (0,), private, (BLIND, FULL)),
            Action(
                "toggle",
                TRUE,
                (Event("flip", TRUE, (Effect("p", True, not_(P)), Effect("p", False, P))),),
                (0,),
                {"Full": (frozenset([0]),)},
                (FULL, FULL),
            ),
        ),
        initial=EState(
            (frozenset({"p", "r_B"}), frozenset({"p"})),
            ((frozenset([0, 1]),) * 2, (frozenset([0]), frozenset([1]))),
            (0,),
        ),
        goal=(believes("A", RB), P),
        domain="d",
        instance="prob",
    )


# Lexical rules


def test_words_are_case_sensitive_and_comments_may_hold_anything() -> None:
    text = "(define (domain d) ; é ( :wrong\r\n(:predicates (p) (P) (left-room) (a_b-1)) )"

    assert [predicate.name for predicate in parse(Source("", text), Domain).predicates] == [
        "p",
        "P",
        "left-room",
        "a_b-1",
    ]


def test_a_dash_that_starts_a_word_is_the_type_dash() -> None:
    assert task(predicates="(:predicates (p) (s ?x-y -agent))").fluents == ("p", "s_A", "s_B")


# Types and entities


TYPES = """(:types box - object big - box bot - agent)
    (:constants K - bot c0 - big)
    (:predicates (p) (in ?x - box) (near ?x) (with ?x - (either big agent)) (any ?x - entity)
        (pair ?i - bot ?x - box))"""


def test_fluents_follow_declarations_and_entity_order() -> None:
    found = task(
        predicates=TYPES,
        agents="A",
        declared="(:objects b1 - big b2 b3 - box o)",
        init=":worlds (w) :relations (A (w w) K (w w)) :labels () :designated (w)",
    )
    assert found.agents == ("K", "A")
    boxes, objects = ["c0", "b1", "b2", "b3"], ["c0", "b1", "b2", "b3", "o"]
    assert found.fluents == (
        "p",
        *(f"in_{box}" for box in boxes),
        *(f"near_{name}" for name in objects),
        *(f"with_{name}" for name in ["K", "c0", "A", "b1"]),
        *(f"any_{name}" for name in ["K", "c0", "A", *objects[1:]]),
        *(f"pair_K_{box}" for box in boxes),
    )


def test_a_type_without_members_makes_no_atoms_and_no_actions() -> None:
    found = specification(
        "(:event e :effects (p)) (:action a :parameters (?x - ghost) :action-type (public (e))"
        " :observability-conditions (default Full))",
        predicates="(:types ghost) (:predicates (p) (seen ?x - ghost))",
    )
    assert (found.task.actions, found.atoms) == ((), ("p",))


def test_subtypes_may_stand_where_their_supertypes_are_expected() -> None:
    predicates = "(:types bot - agent) (:predicates (p) (r ?i - agent) (s ?b - bot))"
    assert goal("(forall (?b - bot) (and (r ?b) (s ?b)))", predicates=predicates, agents="A - bot B - bot C") == and_(
        RA, fluent("s_A"), RB, fluent("s_B")
    )


# Facts


def test_facts_are_constants_by_closed_world() -> None:
    found = specification(facts="(ok A)", goal="(and (imply (ok A) (p)) (or (ok B) (q)))")
    assert found.task.fluents == ("p", "q", "r_A", "r_B")
    assert found.task.goal == (P, Q)
    assert (found.facts, found.atoms) == (("ok_A",), ("p", "q", "r_A", "r_B", "ok_A", "ok_B"))


def test_facts_that_an_effect_touches_stay_fluents() -> None:
    found = task("(:event e :effects (ok B))", facts="(ok A)", goal="(ok A)")
    assert found.fluents == ("p", "q", "r_A", "r_B", "ok_A", "ok_B")
    assert found.initial == world("ok_A")
    assert found.goal == (fluent("ok_A"),)


def test_facts_in_a_label_hold_in_that_world_only() -> None:
    init = ":worlds (w v) :relations () :labels (v (ok B)) :designated (w)"
    assert task(facts="(ok A)", init=init).initial.valuations == (frozenset({"ok_A"}), frozenset({"ok_A", "ok_B"}))


def test_conditions_use_the_initial_facts() -> None:
    found = task("(:event e :effects (not (ok A)))", facts="(ok A)", goal="(forall (?i - agent | (ok ?i)) (r ?i))")
    assert found.goal == (RA,)


# Formulas


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("(true)", TRUE),
        ("(false)", FALSE),
        ("(= A A)", TRUE),
        ("(/= A A)", FALSE),
        ("(imply (p) (q))", or_(not_(P), Q)),
        ("(forall (?i - agent) (r ?i))", and_(RA, RB, RC)),
        ("(exists (?i ?j - agent | (/= ?i ?j)) (and (r ?i) (r ?j)))", or_(and_(RA, RB), and_(RA, RC), and_(RB, RA),
         and_(RB, RC), and_(RC, RA), and_(RC, RB))),
        ("(forall (?i - agent | (and (ok ?i) (or (= ?i A) (= ?i B)))) (r ?i))", and_(RA)),
        ("(forall (?i - agent | (imply (ok ?i) (not (= ?i A)))) (r ?i))", and_(RB, RC)),
        ("(forall (?i - agent | (exists (?j - agent | (/= ?i ?j)) (ok ?j))) (r ?i))", and_(RA, RB, RC)),
        ("(forall (?i - agent | (forall (?j - agent) (= ?i ?j))) (r ?i))", TRUE),
        ("(exists (?i - agent | (false)) (r ?i))", FALSE),
        ("(forall () (p))", P),
        ("([A] (p))", believes("A", P)),
        ("(<A> (p))", considers_possible("A", P)),
        ("([Kw. A] (p))", knows_whether("A", P)),
        ("(<Kw. A> (p))", not_(knows_whether("A", P))),
        ("([(A B)] (p))", everybody("AB", P)),
        ("(<(A B)> (p))", not_(everybody("AB", not_(P)))),
        ("([Kw. (A B)] (p))", and_(*(knows_whether(i, P) for i in "AB"))),
        ("(<Kw. (A B)> (p))", not_(and_(*(knows_whether(i, P) for i in "AB")))),
        ("([All] (p))", everybody("ABC", P)),
        ("([(:and (A) (B A))] (p))", everybody("AB", P)),
        ("([(:forall (?i - agent | (/= ?i A)) (?i))] (p))", everybody("BC", P)),
        ("([(:forall (?i | (= ?i C)) (?i))] (p))", believes("C", P)),
        ("([(:forall (?i - agent | (false)) (?i))] (p))", TRUE),
        ("([(A)] (p))", believes("A", P)),
        ("([C. All] (p))", common("ABC", P)),
        ("([C. (A B)] (p))", common("AB", P)),
        ("(<C. (A B)> (p))", not_(common("AB", not_(P)))),
        ("([C. (A)] (p))", common("A", P)),
        ("([team] (p))", everybody("AB", P)),
        ("([C. team] (p))", common("AB", P)),
        ("([none] (p))", TRUE),
        ("(<none> (p))", FALSE),
        ("(forall (?g - agent-group) ([?g] (p)))", and_(everybody("AB", P), believes("C", P))),
        ("(forall (?i - agent) ([?i] ([(A ?i)] (r ?i))))",
         and_(believes("A", believes("A", RA)), *(believes(i, everybody(f"A{i}", fluent(f"r_{i}"))) for i in "BC"))),
    ],
)  # fmt: skip
def test_formulas(text: str, expected: Formula) -> None:
    groups = "(:agent-groups (none ()) (team (A B)) (rest (:forall (?i - agent | (not (or (= ?i A) (= ?i B)))) (?i))))"
    assert goal(text, agents="A B C", facts="(ok A) (ok C)", declared=groups) is expected


def test_goals_are_flattened_and_joined() -> None:
    found = task(goal="(and (p) (and (q) (forall (?i - agent) (r ?i))))) (:goal (not (q))")
    assert found.goal == (P, Q, RA, RB, not_(Q))


def test_a_goal_that_always_holds_has_no_subgoals() -> None:
    assert task(goal="(true)").goal == ()


def test_untyped_quantified_variables_range_over_objects() -> None:
    assert goal("(forall (?x) (s ?x))", predicates="(:predicates (p) (s ?x))", declared="(:objects o)") is fluent("s_o")
