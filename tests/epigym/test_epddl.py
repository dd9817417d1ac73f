"""Every construct of EPDDL, grounded by hand."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from epigym.errors import MissingError
from epigym.formula import (
    FALSE,
    TRUE,
    Formula,
    and_,
    believes,
    common,
    considers_possible,
    everybody,
    fluent,
    not_,
    or_,
)
from epigym.language import load
from epigym.language.epddl import load_epddl, load_spec
from epigym.language.epddl.parser import parse_domain
from epigym.language.source import Source
from epigym.task import Action, Effect, EState, Event, Task
from tests.helpers.epddl_texts import LIBRARY, ONE_WORLD, actions, domain_text, problem_text, specification, task

pytestmark = pytest.mark.filterwarnings("ignore::epigym.errors.ProblemWarning")

P, Q = fluent("p"), fluent("q")
RA, RB, RC = fluent("r_A"), fluent("r_B"), fluent("r_C")
FULL = ((TRUE, "Full"),)
BLIND = ((TRUE, "Blind"),)


def goal(text: str, **parts: str) -> Formula:
    return and_(*task(goal=text, **parts).goal)


def event(text: str, **parts: str) -> Event:
    """The event of the public action `a`, whose event schema is given."""
    items = f"(:event e {text}) (:action a :parameters (?i - agent | (= ?i A))"
    (action,) = task(f"{items} :action-type (public (e)) :observability-conditions (default Full))", **parts).actions
    return action.events[0]


def chains(observability: str, agents: str = "A B C", **parts: str) -> tuple[tuple[tuple[Formula, str], ...], ...]:
    items = f"""(:event e :effects (p))
        (:action a :parameters (?i - agent | (= ?i A)) :action-type (private (e) (nil))
         :observability-conditions {observability})"""
    return task(items, agents=agents, **parts).actions[0].observability


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
    private = {
        "Full": (frozenset([0]), frozenset([1])),
        "Blind": (frozenset([1]), frozenset([1])),
    }
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

    assert [predicate.name for predicate in parse_domain(Source("", text)).predicates] == [
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
        ("([Kw. A] (p))", or_(believes("A", P), believes("A", not_(P)))),
        ("(<Kw. A> (p))", not_(or_(believes("A", P), believes("A", not_(P))))),
        ("([(A B)] (p))", everybody("AB", P)),
        ("(<(A B)> (p))", not_(everybody("AB", not_(P)))),
        ("([Kw. (A B)] (p))", and_(*(or_(believes(i, P), believes(i, not_(P))) for i in "AB"))),
        ("(<Kw. (A B)> (p))", not_(and_(*(or_(believes(i, P), believes(i, not_(P))) for i in "AB")))),
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


# Events


@pytest.mark.parametrize(
    ("effects", "expected"),
    [
        ("()", []),
        ("(p)", [Effect("p", True)]),
        ("(not (p))", [Effect("p", False)]),
        ("(:and (not (p)) (p))", [Effect("p", True)]),
        ("(:and (p) (not (p)) (q))", [Effect("p", True), Effect("q", True)]),
        ("(when (q) (p))", [Effect("p", True, Q)]),
        ("(when (q) (:and (p) (not (q))))", [Effect("p", True, Q), Effect("q", False, Q)]),
        ("(iff (q) (p))", [Effect("p", True, Q), Effect("p", False, not_(Q))]),
        ("(iff (q) (not (p)))", [Effect("p", True, not_(Q)), Effect("p", False, Q)]),
        ("(:and (when (q) (p)) (when (r A) (p)) (when ([A] (q)) (not (p))))",
         [Effect("p", True, or_(Q, RA)), Effect("p", False, believes("A", Q))]),
        ("(:and (when (q) (p)) (not (p)))", [Effect("p", True, Q), Effect("p", False)]),
        ("(:forall (?j - agent | (/= ?j A)) (when (r A) (:forall (?k - agent | (= ?k ?j)) (r ?k))))",
         [Effect("r_B", True, RA)]),
        ("(when (ok A) (p))", []),
        ("(when (ok B) (p))", [Effect("p", True)]),
    ],
)  # fmt: skip
def test_effects(effects: str, expected: list[Effect]) -> None:
    assert event(f":effects {effects}", facts="(ok B)").effects == tuple(expected)


def test_event_arguments_replace_the_formal_parameters() -> None:
    items = """
        (:event e :parameters (?i ?j - agent) :precondition ([?i] (r ?j)) :effects (r ?i))
        (:action a :parameters (?i ?j - agent) :action-type (public (e ?j ?i)) :observability-conditions (default Full))
        (:action b :parameters (?i - agent) :action-type (public (e B ?i)) :observability-conditions (default Full))
    """
    found = actions(items)
    assert found["a_A_B"].events == (Event("e", believes("B", RA), (Effect("r_B", True),)),)
    assert found["b_A"].events == (Event("e", believes("B", RA), (Effect("r_B", True),)),)
    assert found["b_A"].events[0] is found["a_A_B"].events[0]


def test_an_event_may_bind_variables_called_like_the_actions() -> None:
    items = """
        (:event e :parameters (?x - agent) :precondition (forall (?i - agent) ([?i] (r ?x))))
        (:action a :parameters (?i - agent | (= ?i A)) :action-type (public (e ?i))
            :observability-conditions (default Full))
    """
    assert actions(items)["a_A"].events[0].precondition is and_(believes("A", RA), believes("B", RA))


def test_variables_may_be_called_like_those_of_the_library() -> None:
    items = """(:event e :parameters (?e - agent) :effects (r ?e))
        (:action a :parameters (?e ?nil - agent) :action-type (private (e ?nil) (nil))
            :observability-conditions (default Blind))"""
    assert actions(items)["a_A_B"].events == (Event("e", TRUE, (Effect("r_B", True),)), Event("nil"))


def test_one_event_for_two_variables_gets_two_names() -> None:
    items = """(:event e)
        (:action a :parameters () :action-type (sensing (e) (e)) :observability-conditions (default Half))"""
    assert [event.name for event in actions(items)["a"].events] == ["e", "e.2"]


# Actions


PUBLIC = ":observability-conditions (default Full)"


def test_actions_follow_declarations_the_last_parameter_fastest() -> None:
    items = f"""(:event e)
        (:action z :parameters (?i ?j - agent) :action-type (public (e)) {PUBLIC})
        (:action a :parameters () :action-type (public (e)) {PUBLIC})
        (:action m :parameters (?i - agent ?j - agent | (/= ?i ?j)) :action-type (public (e)) {PUBLIC})"""
    assert list(actions(items)) == ["z_A_A", "z_A_B", "z_B_A", "z_B_B", "a", "m_A_B", "m_B_A"]


STATIC = f"""(:event e :parameters (?i - agent) :precondition (and (p) (ok ?i)))
    (:event f :parameters (?i - agent) :precondition (exists (?j - agent | (ok ?j)) (and (q) (= ?i ?j))))
    (:event g :parameters (?i - agent) :precondition (not (ok ?i)))
    (:action a :parameters (?i - agent) :action-type (public (e ?i)) {PUBLIC})
    (:action b :parameters (?i - agent) :action-type (public (f ?i)) {PUBLIC})
    (:action c :parameters (?i - agent) :action-type (sensing (e ?i) (g ?i)) {PUBLIC})
    (:action d :parameters (?i - agent) :action-type (private (g ?i) (nil)) {PUBLIC})"""


def test_actions_that_facts_forbid_are_not_generated() -> None:
    found = actions(STATIC, facts="(ok B)")
    assert list(found) == ["a_B", "b_B", "c_A", "c_B", "d_A"]
    assert [event.precondition for event in found["c_A"].events] == [FALSE, TRUE]
    assert found["b_B"].events[0].precondition is Q


def test_the_toolkits_reading_keeps_them() -> None:
    assert len(actions(STATIC, facts="(ok B)", plank_compat=True)) == 8


def test_many_parameters_are_pruned_one_by_one() -> None:
    places = " ".join(f"x{index}" for index in range(40))
    facts = " ".join(f"(next x{index} x{index + 1})" for index in range(39))
    parameters = "?a ?b ?c ?d ?e | (and (next ?a ?b) (next ?b ?c) (next ?c ?d) (next ?d ?e))"
    found = actions(
        f"(:event go) (:action walk :parameters ({parameters}) :action-type (public (go)) {PUBLIC})",
        predicates="(:predicates (p) (:fact next ?x ?y))",
        declared=f"(:objects {places})",
        facts=facts,
    )
    assert list(found)[:2] == ["walk_x0_x1_x2_x3_x4", "walk_x1_x2_x3_x4_x5"]
    assert len(found) == 36


def test_equal_parts_of_ground_actions_are_one_object() -> None:
    items = """(:event e :parameters (?i - agent) :effects (r ?i))
        (:action a :parameters (?i ?j ?k - agent) :action-type (private (e ?i) (nil))
         :observability-conditions (:and (?i Full) (default Blind)))"""
    found = actions(items)
    first, second = found["a_A_A_B"], found["a_A_B_A"]
    assert first.events[0] is second.events[0]
    assert first.observability is second.observability
    assert first.relations is found["a_B_A_A"].relations


def test_basic_is_built_in_and_its_effects_count() -> None:
    items = "(:event e :precondition (q) :effects (p)) (:action a :parameters () :action-type (basic (e)))"
    assert actions(items)["a"] == Action(
        "a",
        TRUE,
        (Event("e", Q, (Effect("p", True),)),),
        (0,),
        {"Fully": (frozenset([0]),)},
        (((TRUE, "Fully"),), ((TRUE, "Fully"),)),
    )


def test_basic_may_say_who_observes() -> None:
    items = "(:event e) (:action a :parameters () :action-type (basic (e)) :observability-conditions (default Fully))"
    assert actions(items)["a"].observability == (((TRUE, "Fully"),),) * 2


# Action types


def test_relations_of_action_types() -> None:
    library = """(define (action-type-library lib) (:action-type t
        :events (?a ?b ?c) :observability-types (One Two Three Four)
        :relations (One (:forall (?x ?y - event | (imply (/= ?x ?y) (and (/= ?x ?c) (/= ?y ?c)))) (?x ?y))
                    Two (?a ?b) Two (:and (?b ?c) (?c ?c)) Four ())
        :designated (?c ?a)))"""
    items = """(:event e)
        (:action x :parameters () :action-type (t (e) (e) (nil)) :observability-conditions (default Two))"""
    found = actions(items, library=library)["x"]
    empty = frozenset[int]()
    assert found.relations == {
        "One": (frozenset([0, 1]), frozenset([0, 1]), frozenset([2])),
        "Two": (empty, frozenset([2]), frozenset([2])),
        "Three": (empty,) * 3,
        "Four": (empty,) * 3,
    }
    assert found.designated == (0, 2)


# Observability


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("(default Blind)", [BLIND, BLIND, BLIND]),
        ("(:and (default Blind) (?i Full) (C Full))", [FULL, BLIND, FULL]),
        ("(:and (?i Full) (A Full) (default Blind))", [FULL, BLIND, BLIND]),
        ("(:forall (?j - agent) (?j Full))", [FULL, FULL, FULL]),
        ("(:and (?i Full) (:forall (?j | (/= ?i ?j)) (?j (if (r ?j) Full else Blind))))",
         [FULL, ((RB, "Full"), (TRUE, "Blind")), ((RC, "Full"), (TRUE, "Blind"))]),
        ("(:and (B (if (p) Full)) (default Blind))", [BLIND, ((P, "Full"), (TRUE, "Blind")), BLIND]),
        ("(:and (B (if (p) Full else-if (q) Blind else-if (r C) Full else Blind)) (default Full))",
         [FULL, ((P, "Full"), (Q, "Blind"), (RC, "Full"), (TRUE, "Blind")), FULL]),
        ("(:and (B (if (p) Full else-if (q) Full)) (default Full))", [FULL, FULL, FULL]),
        ("(:and (B (if (ok A) Blind else-if (ok B) Full else Blind)) (default Blind))", [BLIND, FULL, BLIND]),
        ("(:and (B (if (ok A) Blind else-if ([B] (p)) Full)) (default Blind))",
         [BLIND, ((believes("B", P), "Full"), (TRUE, "Blind")), BLIND]),
    ],
)  # fmt: skip
def test_observability(text: str, expected: list[tuple[tuple[Formula, str], ...]]) -> None:
    assert chains(text, facts="(ok B)") == tuple(expected)


# Initial states


def test_explicit_models() -> None:
    init = """:worlds (w v u)
        :relations (A (u u) B (:forall (?x ?y - world | (or (= ?x ?y) (and (/= ?x u) (/= ?y u)))) (?x ?y))
                    A (:and (w v) (:forall (?x - world | (/= ?x w)) (?x w))))
        :labels (v (:and (p) (:forall (?i - agent) (r ?i))) u (p) u (q) w ())
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


# Files


def write(folder: Path) -> tuple[Path, Path, Path]:
    items = f"(:event e :effects (p)) (:action a :parameters () :action-type (public (e)) {PUBLIC})"
    texts = {"p.epddl": problem_text(), "d.epddl": domain_text(items), "l.epddl": LIBRARY}
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")
    return folder / "p.epddl", folder / "d.epddl", folder / "l.epddl"


def test_a_single_library_need_not_be_in_a_list(tmp_path: Path) -> None:
    problem, domain, library = write(tmp_path)
    expected = load_epddl(problem, domain, [library])
    assert load(problem, domain_file=domain, libraries=str(library)) == expected
    assert load(problem, domain_file=domain, libraries=library) == expected


def test_files_that_are_named_must_exist(tmp_path: Path) -> None:
    problem, domain, library = write(tmp_path)
    for arguments in (
        {"path": tmp_path / "none.epddl", "domain_file": domain},
        {"path": problem, "domain_file": tmp_path / "none.epddl"},
        {"path": problem, "domain_file": domain, "libraries": [library, tmp_path / "none.epddl"]},
    ):
        with pytest.raises(MissingError, match=r"none\.epddl: No such file"):
            load(**arguments)


def test_specification_files_look_beside_themselves_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    problem, domain, library = write(tmp_path / "here")
    write(tmp_path / "cwd")[0].write_text("not EPDDL")
    content = {"domain": "d.epddl", "problem": "p.epddl", "action-type-libraries": ["l.epddl"]}
    spec = tmp_path / "here" / "spec.json"
    spec.write_text(json.dumps(content), encoding="utf-8")
    monkeypatch.chdir(tmp_path / "cwd")
    assert load_spec(spec) == load_epddl(problem, domain, [library])


def test_specification_files_then_look_in_the_working_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    problem, domain, library = write(tmp_path / "cwd" / "files")
    content = {"domain": "files/d.epddl", "problem": str(problem), "action-type-libraries": ["files/l.epddl"]}
    spec = tmp_path / "spec.json"
    spec.write_text(json.dumps(content), encoding="utf-8")
    monkeypatch.chdir(tmp_path / "cwd")
    assert load_spec(spec) == load_epddl(problem, domain, [library])


def test_one_world_is_what_the_helper_says() -> None:
    assert task(init=ONE_WORLD).initial == world("")
