"""Events, actions and observability of EPDDL, compared with grounding by hand."""

import pytest

from epigym.task.formula import FALSE, TRUE, Formula, and_, believes, fluent, not_, or_
from epigym.task.task import Action, Effect, Event
from tests.helpers.epddl_texts import PUBLIC, actions, task

pytestmark = pytest.mark.filterwarnings("ignore::epigym.errors.ProblemWarning")

P, Q = fluent("p"), fluent("q")
RA, RB, RC = fluent("r_A"), fluent("r_B"), fluent("r_C")
FULL = ((TRUE, "Full"),)
BLIND = ((TRUE, "Blind"),)


def event(text: str, **parts: str) -> Event:
    """The event of the public action `a` with a given event schema."""
    items = f"(:event e {text}) (:action a :parameters (?i - agent | (= ?i A))"
    (action,) = task(f"{items} :action-type (public (e)) :observability-conditions (default Full))", **parts).actions
    return action.events[0]


def chains(observability: str, agents: str = "A B C", **parts: str) -> tuple[tuple[tuple[Formula, str], ...], ...]:
    items = f"""(:event e :effects (p))
        (:action a :parameters (?i - agent | (= ?i A)) :action-type (private (e) (nil))
         :observability-conditions {observability})"""
    return task(items, agents=agents, **parts).actions[0].observability


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


def test_names_of_variables_and_events() -> None:
    items = """
        (:event e :parameters (?x - agent) :precondition (forall (?i - agent) ([?i] (r ?x))))
        (:action a :parameters (?i - agent | (= ?i A)) :action-type (public (e ?i))
            :observability-conditions (default Full))
    """
    assert actions(items)["a_A"].events[0].precondition is and_(believes("A", RA), believes("B", RA))
    items = """(:event e :parameters (?e - agent) :effects (r ?e))
        (:action a :parameters (?e ?nil - agent) :action-type (private (e ?nil) (nil))
            :observability-conditions (default Blind))"""
    assert actions(items)["a_A_B"].events == (Event("e", TRUE, (Effect("r_B", True),)), Event("nil"))
    items = """(:event e)
        (:action a :parameters () :action-type (sensing (e) (e)) :observability-conditions (default Half))"""
    assert [event.name for event in actions(items)["a"].events] == ["e", "e.2"]


# Actions


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


def test_actions_that_facts_forbid() -> None:
    found = actions(STATIC, facts="(ok B)")
    assert list(found) == ["a_B", "b_B", "c_A", "c_B", "d_A"]
    assert [event.precondition for event in found["c_A"].events] == [FALSE, TRUE]
    assert found["b_B"].events[0].precondition is Q
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


def test_basic() -> None:
    items = "(:event e :precondition (q) :effects (p)) (:action a :parameters () :action-type (basic (e)))"
    assert actions(items)["a"] == Action(
        "a",
        TRUE,
        (Event("e", Q, (Effect("p", True),)),),
        (0,),
        {"Fully": (frozenset([0]),)},
        (((TRUE, "Fully"),), ((TRUE, "Fully"),)),
    )
    items = "(:event e) (:action a :parameters () :action-type (basic (e)) :observability-conditions (default Fully))"
    assert actions(items)["a"].observability == (((TRUE, "Fully"),),) * 2


# Action types


def test_relations_of_action_types() -> None:
    library = """(define (action-type-library lib) (:action-type t
        :events (?a ?b ?c) :observability-types (One Two Three Four)
        :relations (One (:forall (?x ?y - event | (imply (/= ?x ?y) (and (/= ?x ?c) (/= ?y ?c)))) (?x ?y))
                    Two (:and (?b ?c) (?c ?c)) Two (:and (?b ?c) (?c ?c)) Four ())
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
