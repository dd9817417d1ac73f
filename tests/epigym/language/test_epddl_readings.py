"""Departures of the official toolkit from the intended reading, and the warnings about them."""

import warnings

import pytest

from epigym.language.epddl.readings import ReadingWarning, RequirementWarning
from epigym.task.formula import TRUE, and_, considers_possible, everybody, fluent, knows_whether, not_
from epigym.task.task import Effect
from tests.helpers.epddl_texts import PUBLIC, actions, specification, task

P, Q = fluent("p"), fluent("q")


def departures(items: str = "", *, plank_compat: bool = False, **parts: str) -> list[str]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        task(items, plank_compat=plank_compat, **parts)
    return [str(warning.message) for warning in caught if warning.category is ReadingWarning]


def public(event: str, call: str = "(e)", parameters: str = "?i ?j - agent | (and (= ?i A) (= ?j B))") -> str:
    return f"(:event e {event}) (:action a :parameters ({parameters}) :action-type (public {call}) {PUBLIC})"


ARGUMENTS = public(":parameters (?i - agent) :precondition (r ?i)", "(e ?j)")
INERTIA = public(":effects (when (q) (p))")
ELSE_IF = """(:event e) (:action a :parameters () :action-type (private (e) (nil))
    :observability-conditions (:forall (?i - agent)
        (?i (if (p) Full else-if (q) Blind else-if (r A) Full else Full))))"""
BASIC = "(:event e :effects (p)) (:action a :parameters (?i - agent | (= ?i A)) :action-type (basic (e)))"
BARE = public("", parameters="")


@pytest.mark.parametrize(
    ("items", "line", "message"),
    [
        (ARGUMENTS, 4, "ignores the arguments of events"),
        (INERTIA, 4, "lets an atom become false"),
        (ELSE_IF, 6, "gives every else-if branch"),
        (BASIC, 4, "ignores the effects of actions of type basic"),
        (BARE, 4, "drops actions without parameters"),
        (public(":precondition (<(A B)> (p))"), 4, "reads a diamond over a group"),
        (public(":precondition (exists (?x) (= ?x ?x))"), 4, "lets untyped quantified variables range"),
    ],
)
@pytest.mark.filterwarnings("ignore::epigym.language.epddl.readings.RequirementWarning")
def test_one_warning_lists_the_departures_of_the_toolkit(items: str, line: int, message: str) -> None:
    found = departures(items)
    assert any(message in text and f"(d.epddl:{line}:" in text for text in found), found
    assert departures(items, plank_compat=True) == []


@pytest.mark.filterwarnings("ignore::epigym.language.epddl.readings.RequirementWarning")
def test_several_departures_make_one_warning() -> None:
    (found,) = departures(INERTIA, goal="(<All> (p))")
    assert "lets an atom become false" in found
    assert "reads a diamond over a group as the conjunction of the agents' diamonds (p.epddl:" in found


@pytest.mark.parametrize(
    "items",
    [
        public(":effects (:and (p) (not (q)))"),
        public(":effects (:and (when (q) (p)) (when (r A) (not (p))))"),
        public(":effects (iff (q) (p))"),
        public(":effects (when (q) (not (p)))"),
        public(":effects (when (true) (p))"),
        public(":parameters (?i - agent) :precondition (r ?i)", "(e ?i)"),
        public(":precondition (<(A)> (p))"),
        public(":precondition (<C. All> (p))"),
    ],
)
@pytest.mark.filterwarnings("ignore::epigym.language.epddl.readings.RequirementWarning")
def test_no_warning_where_both_readings_agree(items: str) -> None:
    assert departures(items) == []


UNSURE = [not_(knows_whether(i, Q)) for i in "AB"]


@pytest.mark.parametrize(
    ("items", "part", "meant", "toolkits"),
    [
        (ARGUMENTS, "precondition", fluent("r_B"), fluent("r_A")),
        (INERTIA, "effects", (Effect("p", True, Q),), (Effect("p", True, Q), Effect("p", False))),
        (public(":effects (when (ok A) (p))"), "effects", (), (Effect("p", False),)),
        (BASIC, "effects", (Effect("p", True),), ()),
        (public(":precondition (<(A B)> (p))"), "precondition", not_(everybody("AB", not_(P))),
         and_(considers_possible("A", P), considers_possible("B", P))),
        (public(":precondition (or (q) (<(:forall (?k - agent | (false)) (?k))> (p)))"), "precondition", Q, TRUE),
        (public(":precondition (<Kw. (A B)> (q))"), "precondition",
         not_(and_(knows_whether("A", Q), knows_whether("B", Q))), and_(*UNSURE)),
    ],
)  # fmt: skip
@pytest.mark.filterwarnings("ignore::epigym.errors.ProblemWarning")
def test_the_toolkits_reading_of_events(items: str, part: str, meant: object, toolkits: object) -> None:
    for plank_compat, expected in ((False, meant), (True, toolkits)):
        [action] = actions(items, plank_compat=plank_compat).values()
        assert getattr(action.events[0], part) == expected


@pytest.mark.filterwarnings("ignore::epigym.errors.ProblemWarning")
def test_the_toolkits_reading_of_actions() -> None:
    assert list(actions(BARE)) == ["a"]
    assert list(actions(BARE, plank_compat=True)) == []
    items = ELSE_IF.replace("()", "(?k - agent)", 1)
    expected = ((P, "Full"), (TRUE, "Blind"))  # the first else-if takes all remaining cases
    assert actions(items, plank_compat=True)["a_A"].observability == (expected, expected)


@pytest.mark.filterwarnings("ignore::epigym.language.epddl.readings.RequirementWarning")
def test_a_model_without_a_relation_for_some_agent_warns() -> None:
    init = ":worlds (w) :relations (A (w w)) :labels () :designated (w)"
    (message,) = departures(init=init)
    assert message == "p.epddl:5:2: no relation for B: inconsistent beliefs at all worlds"


@pytest.mark.filterwarnings("ignore::epigym.language.epddl.readings.RequirementWarning")
def test_a_theory_that_gives_away_what_an_agent_should_not_know_warns() -> None:
    init = "(:and ([C. All] ([Kw. A] (p))) ([C. All] (<Kw. A> (p))) ([C. All] (<Kw. B> (p))))"
    (message,) = departures(init=init)
    assert message == "p.epddl:5:2: agent 'A' is said not to know whether p, but does in some world"


@pytest.mark.filterwarnings("ignore::epigym.language.epddl.readings.RequirementWarning")
@pytest.mark.parametrize(
    ("effects", "expected"),
    [
        ("(:and (p) (not (p)))", ["(p) without a condition"]),
        ("(:and (not (r ?i)) (q) (r ?i))", ["(r ?i) without a condition"]),
        ("(:and (when (q) (:and (p) (not (p)))))", ["(p) under the same condition"]),
        ("(:and (when (q) (p)) (iff (q) (not (p))))", ["(p) under the same condition"]),
        ("(:forall (?j - agent) (:and (r ?j) (not (r ?j))))", ["(r ?j) without a condition"]),
        ("(:and (when (q) (p)) (when (not (q)) (not (p))))", []),
        ("(:and (p) (p) (not (q)))", []),
        ("(:and (:forall (?j - agent) (not (r ?j))) (r ?i))", []),  # a common way to move
    ],
)
def test_an_atom_that_an_event_adds_and_deletes_warns(effects: str, expected: list[str]) -> None:
    """As in mA*."""
    messages = departures(f"(:event e :parameters (?i - agent) :effects {effects})")
    contradictions = [message for message in messages if "adds and deletes" in message]
    assert [message.partition(": ")[2] for message in contradictions] == [
        f"event 'e' both adds and deletes {text}: it is added" for text in expected
    ]
    assert all(message.startswith("d.epddl:4:") for message in contradictions)


# Requirements


def requirement_warnings(items: str, requirements: str, **parts: str) -> list[str]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        specification(f"(:requirements {requirements}) {items}", predicates="(:predicates (p) (q) (r ?i - agent))")
    return [
        str(warning.message).removeprefix("d.epddl: ")
        for warning in caught
        if warning.category is RequirementWarning and str(warning.message).startswith("d.epddl")
    ]


OBSERVED = public(":precondition {formula}", parameters="?i - agent")


@pytest.mark.parametrize(
    ("formula", "requirements", "missing"),
    [
        ("(p)", ":partial-observability", []),
        ("(p)", ":del", []),
        ("(not (p))", ":partial-observability", [":negative-preconditions"]),
        ("(not (p))", ":partial-observability :general-preconditions", []),
        ("(imply (p) (q))", ":partial-observability :negative-formulas", []),
        ("(or (p) (q))", ":partial-observability", [":disjunctive-preconditions"]),
        ("(or (p) (q))", ":partial-observability :negative-preconditions", []),
        ("(= A A)", ":partial-observability", [":equality"]),
        ("(exists (?j - agent) (r ?j))", ":partial-observability :quantified-formulas", []),
        ("(forall (?j - agent) (r ?j))", ":partial-observability", [":universal-preconditions"]),
        ("(exists (?j - agent | (/= ?j A)) (r ?j))", ":partial-observability :existential-preconditions",
         [":list-comprehensions", ":equality"]),
        ("(exists (?j - agent | (or (= ?j A) (= ?j B))) (r ?j))",
         ":partial-observability :existential-preconditions :equality", [":list-comprehensions",
         ":disjunctive-list-formulas"]),
        ("([A] (p))", ":partial-observability", [":modal-preconditions"]),
        ("([Kw. All] (p))", ":partial-observability :modal-formulas", [":knowing-whether", ":group-modalities"]),
        ("([C. (A B)] (p))", ":partial-observability :modal-preconditions", [":common-knowledge", ":group-modalities"]),
        ("([C. (A B)] (p))", ":del :finitary-S5-theories", []),
    ],
)  # fmt: skip
def test_missing_requirements(formula: str, requirements: str, missing: list[str]) -> None:
    found = requirement_warnings(OBSERVED.replace("{formula}", formula), requirements)
    wanted = [text for text in found if "used but not declared" in text]
    names = [entry.split(" (")[0] for text in wanted for entry in text.split(":requirements: ")[1].split(", ")]
    assert names == missing


def test_useless_requirements() -> None:
    items = OBSERVED.replace("{formula}", "(p)")
    found = requirement_warnings(items, ":partial-observability :pal :typing :general-goals :KD45-frames")
    assert found == ["declared in :requirements but not used: :typing, :general-goals"]


def test_the_warning_has_the_place_of_a_missing_requirement() -> None:
    (found,) = requirement_warnings(OBSERVED.replace("{formula}", "(not (p))"), ":partial-observability")
    assert found == "used but not declared in :requirements: :negative-preconditions (d.epddl:4:65)"


def test_requirements_of_all_files_are_expanded_and_sorted() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = specification("(:requirements :agent-groups :general-goals)")
    assert found.requirements == (
        ":agent-groups", ":disjunctive-goals", ":existential-goals", ":general-goals", ":lists", ":modal-goals",
        ":negative-goals", ":quantified-goals", ":universal-goals",
    )  # fmt: skip
