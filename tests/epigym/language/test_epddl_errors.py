"""Errors in EPDDL: every message has file, line, column, the unexpected text and a fix."""

import contextlib
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from epigym.errors import EpigymError, LimitError, ParseError
from epigym.language import load
from epigym.language.epddl import expansion, ground_texts
from epigym.language.source import SourceText
from tests.helpers.epddl_texts import LIBRARY, ONE_WORLD, PUBLIC, domain_text, problem_text, task

pytestmark = pytest.mark.filterwarnings("ignore::epigym.errors.ProblemWarning")


def error_of(build: Callable[[], object], error: type[EpigymError] = ParseError) -> EpigymError:
    with pytest.raises(error) as caught:
        build()
    return caught.value


def action(parameters: str = "?i - agent", kind: str = "public (e)", observed: str = PUBLIC) -> str:
    return f"(:event e) (:action a :parameters ({parameters}) :action-type ({kind}) {observed})"


def event(text: str) -> str:
    return f"(:event e :parameters (?i - agent) {text})"


# Every wrong line is line 4 of the domain.
DOMAIN = [
    # words and grammar
    ("(:event 1e)", 9, "unexpected character '1'; names start with a letter or '_'"),
    ("(:event é)", 9, "unexpected character 'é'; names start with a letter or '_'"),
    ("(:event e.1)", 10, "unexpected character '.'; names consist of letters, digits, '_' and '-'"),
    ("(:constants c b.1)", 16, "unexpected character '.'; names consist of letters, digits, '_' and '-'"),
    ("(:event e'x)", 10, 'unexpected character "\'"'),
    ("(:event and)", 9, "found reserved word 'and', expected a name"),
    ("(:event All)", 9, "found reserved word 'All', expected a name"),
    ("(:metric)", 2, "found ':metric', expected :action or"),
    ("(:actoin a)", 2, "did you mean ':action'?"),
    ("(:event e :preconditions (p))", 11, "did you mean ':precondition'?"),
    ("(:event e :effects (p) :precondition (q))", 24, "found ':precondition', expected )"),
    ("(:event e :precondition ())", 26, "found ')', expected"),
    ("(:event e :precondition (and))", 29, "found ')', expected ("),
    ("(:event e :precondition (not (p) (q)))", 34, "found '(', expected )"),
    ("(:event e :precondition ([D. A] (p)))", 28, "unexpected character '.'"),
    ("(:event e :precondition (!= A B))", 26, "unexpected character '!'"),
    ("(:event e :precondition (K A (p)))", 30, "belief of agent i is written ([i] (f))"),
    ("(:event e :precondition (knows ?i (p)))", 35, "belief of agent i is written ([i] (f))"),
    ("(:event e :precondition ([K. A] (p)))", 28, "unexpected character '.'; belief of agent i is written ([i] (f))"),
    ("(:event e :precondition (Kw A (p)))", 31, "knowing whether is written ([Kw. i] (f))"),
    ("(:event e :precondition ([Kw A] (p)))", 30, "a dot follows Kw and C, as in ([Kw. i] (f))"),
    ("(:event e :precondition (C All (p)))", 28, "common knowledge is written ([C. All] (f))"),
    ("(:event e :precondition (implies (p) (q)))", 34, "for f -> g write (imply (f) (g))"),
    ("(:predicates open)", 14, "found 'open', expected (; a predicate stands in parentheses, as in (at ?i - agent)"),
    (action(observed=":observability-conditions (default (if (p) Fully))"), 109, "a default is one type; for cond"),
    ("(:event e :effects (when (q) (and (p))))", 31, "found reserved word 'and', expected"),
    ("(:event e :effects (and (p) (q)))", 21, "found reserved word 'and', expected"),
    ("(:action a :action-type (public (nil)))", 12, "found ':action-type', expected :parameters"),
    ("(:action a :parameters () :precondition (p))", 27, "found ':precondition', expected :action-type"),
    ("(:action a :parameters () :action-type (public))", 47, "found ')', expected ("),
    ("(:predicates)", 13, "found ')', expected ("),
    ("(:requirements typing)", 16, "found 'typing', expected"),
    ("(:requirements :typping)", 16, "unknown requirement ':typping': did you mean ':typing'?"),
    ("(:requirements :modal-list-formulas)", 16, "unknown requirement ':modal-list-formulas'"),
    # types
    ("(:types block - thing)", 17, "unknown type 'thing': expected one of 'agent', "),
    ("(:types block - agnet)", 17, "unknown type 'agnet': did you mean 'agent'?"),
    ("(:types small - big big)", 17, "type 'big' must be declared before its subtypes"),
    ("(:types a - b b - a)", 9, "types in a cycle, a - b - a: give one of them another parent"),
    ("(:types c - a a - b b - a)", 9, "types in a cycle, a - b - a: give one of them another parent"),
    ("(:types c - a a - a)", 13, "type 'a' must be declared before its subtypes"),
    ("(:types agent)", 9, "the type 'agent' is built in"),
    ("(:types t - world)", 13, "the type 'world' cannot have subtypes"),
    ("(:types t t)", 11, "type 't' is declared twice"),
    ("(:constants c - blok)", 17, "unknown type 'blok'"),
    ("(:constants c - event)", 17, "'c' must have a type below 'entity', 'event' is not"),
    ("(:constants c c)", 15, "'c' is declared twice"),
    ("(:constants c - agent-group)", 17, "'c' cannot be a group of agents: the problem declares groups in"),
    ("(:types team - agent-group) (:constants c - team)", 45, "'c' cannot be a group of agents"),
    ("(:predicates (s ?x - blok))", 22, "unknown type 'blok'"),
    ("(:predicates (s ?x - world))", 22, "variables of type 'world' cannot be used here"),
    ("(:predicates (s ?x ?x))", 20, "variable '?x' is already bound here"),
    ("(:predicates (p))", 15, "predicate 'p' is declared twice"),
    # terms and formulas
    ("(:event nil)", 9, "event 'nil' is declared twice"),
    (event(":precondition (z)"), 51, "unknown predicate 'z'"),
    (event(":precondition (r ?j)"), 53, "unknown variable '?j'"),
    (event(":precondition (r)"), 51, "'r' takes 1 argument, found 0"),
    (event(":precondition (p ?i)"), 51, "'p' takes 0 arguments, found 1"),
    (event(":precondition (exists (?agent - agent) (r ?agnet))"), 78, "variable '?agnet': did you mean '?agent'?"),
    (event(":precondition (r Z)"), 53, "unknown name 'Z'"),
    (event(":precondition (exists (?x - object) (r ?x))"), 75, "'?x' has type object, 'r' expects agent"),
    (event(":precondition (forall (?x) (r ?x))"), 66, "'?x' has type object, 'r' expects agent"),
    (event(":precondition (exists (?x - entity) (r ?x))"), 75, "'?x' has type entity, 'r' expects agent"),
    (event(":precondition (exists (?i - agent) (r ?i))"), 59, "variable '?i' is already bound here"),
    (event(":precondition (exists (?j - agent | (r ?j)) (p))"), 73, "only facts may occur in a '|' condition"),
    (event(":precondition (exists (?j - agent | ([?j] (ok ?j))) (p))"), 73, "must not contain modalities"),
    (event(":precondition ([C. ?i] (p))"), 55, "'C.' needs a group of agents; write [C. (?i)]"),
    (event(":precondition ([C. A] (p))"), 55, "'C.' needs a group of agents; write [C. (A)]"),
    (event(":precondition ([Z] (p))"), 52, "unknown name 'Z'"),
    (event(":precondition ([(A Z)] (p))"), 55, "unknown name 'Z'"),
    (event(":effects (r ?j)"), 48, "unknown variable '?j'"),
    (event(":effects (when (z) (p))"), 52, "unknown predicate 'z'"),
    (event(":effects (:forall (?j) (r ?j))"), 62, "'?j' has type object, 'r' expects agent"),
    # actions
    (action(kind="publik (e)"), 62, "unknown action type 'publik': did you mean 'public'?"),
    (action(kind="public (e) (e)"), 62, "action type 'public' has 1 event, found 2"),
    (action(kind="private (e)"), 62, "action type 'private' has 2 events, found 1"),
    (action(kind="public (f)"), 70, "unknown event 'f'"),
    (action(kind="public (e ?i)"), 70, "'e' takes 0 arguments, found 1"),
    (action(kind="private (nil) (e2)"), 77, "unknown event 'e2': did you mean 'e'?"),
    (action(observed=""), 21, "action 'a' needs :observability-conditions for type 'public'"),
    (action(observed=":observability-conditions (default Ful)"), 109, "unknown observability type 'Ful'"),
    (action(observed=":observability-conditions (Z Full)"), 101, "unknown name 'Z'"),
    (action("?x", observed=":observability-conditions (?x Full)"), 93, "'?x' has type object, an observability"),
    (action(observed=":observability-conditions (:and (default Full) (default Full))"), 122, "more than one default"),
    (action(observed=":observability-conditions (?i Full)"), 21, "does not say what agent 'B' observes"),
    (action(observed=":observability-conditions (:forall (?j) (?j (if (p) Full)))"), 21, "add (default TYPE)"),
    (action(observed=":observability-conditions ()"), 21, "action 'a_A' does not say what agent 'A' observes"),
    (action(kind="private (e) (nil)", observed=":observability-conditions (:and (A Full) (A Blind) (default Full))"),
     21, "action 'a_A' gives agent 'A' two observability conditions"),
    ("(:action a :parameters () :action-type (basic (nil))) (:action a :parameters () :action-type (basic (nil)))",
     64, "action 'a' is declared twice"),
    ("(:action a :parameters () :action-type (basic (nil)) :observability-conditions (default Full))",
     89, "unknown observability type 'Full'"),
    ("(:event e :effects (p)) (:action a :parameters () :action-type (private (nil) (e)) " + PUBLIC + ")",
     80, "event 'e' is not 'trivial-event', as 'private' demands"),
    # files and names
    ("(:action-type-libraries lib other)", 29, "the action-type library 'other' is missing: pass its file (libraries"),
    ("(:predicates (x ?i - agent) (x_A))", 30, "the atoms (x A) and (x_A) are both called 'x_A'; rename one of them"),
    ("(:action x :parameters (?i - agent) :action-type (basic (nil)))"
     "(:action x_A :parameters () :action-type (basic (nil)))", 73, "two ground actions are called 'x_A'"),
    ("(:constants A - agent)", None, "'A' is declared twice"),
    ("(:constants Full)", None, "the observability type 'Full' has the name of a declared object; rename it"),
    ("(:constants w)", None, "the world 'w' has the name of a declared object; rename it"),
]  # fmt: skip


@pytest.mark.parametrize(("wrong", "column", "message"), DOMAIN, ids=[f"{entry[2][:40]}" for entry in DOMAIN])
def test_wrong_domains(wrong: str, column: int | None, message: str) -> None:
    error = error_of(lambda: task(wrong))
    assert isinstance(error, ParseError)
    assert message in error.message
    if column is not None:
        assert (error.file, error.line, error.column) == ("d.epddl", 4, column)
        assert str(error).endswith(f"\n  {wrong}\n  {' ' * (column - 1)}^")


PROBLEM = [
    ({"agents": "A B - block"}, 2, 16, "unknown type 'block'"),
    ({"agents": "A - object"}, 2, 14, "'A' must have a type below 'agent', 'object' is not"),
    ({"agents": "A A"}, 2, 12, "'A' is declared twice"),
    ({"declared": "(:objects o - agent)"}, 3, 15, "'o' must have a type below 'object', 'agent' is not"),
    ({"declared": "(:agent-groups (g (Z)))"}, 3, 20, "unknown name 'Z'"),
    ({"declared": "(:agent-groups (g - agent (A)))"}, 3, 21, "must have a type below 'agent-group'"),
    ({"declared": "(:agent-groups (A (A)))"}, 3, 17, "'A' is declared twice"),
    ({"declared": "(:facts-init)", "facts": "(ok A)"}, 4, 2, "a second :facts-init; write one"),
    ({"declared": "(:init ())"}, 5, 2, "a second :init; write one"),
    ({"facts": "(p)"}, 4, 15, "'p' is no :fact, so it belongs into :init"),
    ({"facts": "(ok ?i)"}, 4, 18, "unknown variable '?i'"),
    ({"facts": "(okk A)"}, 4, 15, "unknown predicate 'okk': did you mean 'ok'?"),
    ({"goal": "(z)"}, 6, 9, "unknown predicate 'z'"),
    ({"goal": "(and (p) (r Z))"}, 6, 20, "unknown name 'Z'"),
    ({"goal": "()"}, 6, 9, "found ')', expected"),
    # explicit models
    ({"init": ONE_WORLD.replace("(w) :rel", "(w w) :rel")}, 5, 19, "world 'w' is declared twice"),
    ({"init": ONE_WORLD.replace("B (w w)", "A ()")}, 5, 40, "a second relation of agent 'A', unlike the first"),
    ({"init": ONE_WORLD.replace("(w ())", "(w () w (p))")}, 5, 63, "a second label of world 'w', unlike the first"),
    ({"init": ONE_WORLD.replace("(w w) B", "(w v) B")}, 5, 37, "unknown name 'v'"),
    ({"init": ONE_WORLD.replace("(w w) B", "(w A) B")}, 5, 37, "'A' has type agent, a relation on worlds"),
    ({"init": ONE_WORLD.replace("B (w w)", "Z (w w)")}, 5, 40, "unknown name 'Z'"),
    ({"init": ONE_WORLD.replace("(w ())", "(v ())")}, 5, 58, "unknown world 'v'"),
    ({"init": ONE_WORLD.replace("(w ())", "(w (z))")}, 5, 61, "unknown predicate 'z'"),
    ({"init": ONE_WORLD.replace("(w ())", "(w (not (p)))")}, 5, 61, "found reserved word 'not', expected ) or"),
    ({"init": ONE_WORLD.replace("designated (w)", "designated (v)")}, 5, 77, "unknown world 'v'"),
    ({"init": ":worlds (w) :labels () :relations () :designated (w)"}, 5, 20, "found ':labels', expected :relations"),
    # theories
    ({"init": "([C. A] (p))"}, 5, 13, "'C.' needs a group of agents"),
    ({"init": "([C. (A B)] (p))"}, 5, 9, "the only group of a theory is All: write [C. All]"),
    ({"init": "([A] (p))"}, 5, 9, "a theory has formulas"),
    ({"init": "([C. All] ([A] ([B] (p))))"}, 5, 24, "a theory has formulas"),
    ({"init": "([C. All] (and (p) ([Kw. A] (p))))"}, 5, 28, "a theory has formulas"),
    ({"init": "([C. All] ([Kw. All] (p)))"}, 5, 19, "a theory has formulas"),
    ({"init": "(<C. All> (p))"}, 5, 9, "a theory has formulas"),
    ({"declared": "(:agent-groups (g (A B)))",
      "init": "(:and (p) (:forall (?g - agent-group) ([C. All] ([Kw. ?g] (p)))))"}, 5, 57, "a theory has formulas"),
    ({"declared": "(:agent-groups (g (A B)))", "init": "([C. All] ([g] (p)))"}, 5, 19, "a theory has formulas"),
    ({"init": "([C. All] (and (p) (not (p))))"}, 5, 2, "no world satisfies the common knowledge"),
    ({"init": "(:and ([C. All] (ok A)) (p))"}, 5, 2, "no world satisfies the common knowledge"),
    ({"init": "(:and ([C. All] (p)) (not (p)))"}, 5, 2, "no world of the theory satisfies the formulas outside"),
]  # fmt: skip


@pytest.mark.parametrize(("parts", "line", "column", "message"), PROBLEM, ids=[str(case[0])[:60] for case in PROBLEM])
def test_wrong_problems(parts: dict[str, str], line: int, column: int, message: str) -> None:
    error = error_of(lambda: task(**parts))
    assert isinstance(error, ParseError)
    assert message in error.message
    assert (error.file, error.line, error.column) == ("p.epddl", line, column)


LIBRARIES = [
    ("(:action-type basic :events (?e) :observability-types (F) :relations () :designated (?e))", 15,
     "the action type 'basic' is built in; choose another name"),
    ("(:action-type t :events (?e ?e) :observability-types (F) :relations () :designated (?e))", 29,
     "event variable '?e' is declared twice"),
    ("(:action-type t :events (?e) :observability-types (F F) :relations () :designated (?e))", 54,
     "observability type 'F' is declared twice"),
    ("(:action-type t :events (?e) :observability-types (A) :relations () :designated (?e))", 52,
     "the observability type 'A' has the name of a declared agent; rename it"),
    ("(:action-type t :events (?e) :observability-types (F) :relations (G (?e ?e)) :designated (?e))", 67,
     "unknown observability type 'G'"),
    ("(:action-type t :events (?e) :observability-types (F) :relations (F (?e ?e) F ()) :designated (?e))", 77,
     "a second relation of observability type 'F', unlike the first"),
    ("(:action-type t :events (?e) :observability-types (F) :relations () :designated (?e)"
     " :conditions (?e (:propositional-event) ?e (:trivial-event)))", 125,
     "a second list of conditions of event variable '?e', unlike the first"),
    ("(:action-type t :events (?e) :observability-types (F) :relations (F (?e ?f)) :designated (?e))", 73,
     "unknown variable '?f'"),
    ("(:action-type t :events (?e) :observability-types (F) :relations (F (:forall (?e) (?e ?e))) :designated (?e))",
     79, "variable '?e' is already bound here"),
    ("(:action-type t :events (?e) :observability-types (F) :relations (F (:forall (?x - agent) (?x ?e)))"
     " :designated (?e))", 84, "variables of type 'agent' cannot be used here"),
    ("(:action-type t :events (?e) :observability-types (F) :relations () :designated (?f))", 82,
     "unknown event variable '?f'"),
    ("(:action-type t :events (?e) :observability-types (F) :relations () :designated (?e)"
     " :conditions (?e (:trivial)))", 103, "unknown event condition ':trivial'"),
    ("(:action-type t :events (?e) :observability-types (F) :relations () :designated ())", 82,
     "found ')', expected a variable"),
    ("(:action-type t :events (?e) :observability-types (F) :relations () :designated (?e))"
     "(:action-type t :events (?e) :observability-types (F) :relations () :designated (?e))", 100,
     "action type 't' is declared twice"),
    ("(:event e)", 2, "found ':event', expected"),
]  # fmt: skip


@pytest.mark.parametrize(("wrong", "column", "message"), LIBRARIES, ids=[entry[2][:50] for entry in LIBRARIES])
def test_wrong_libraries(wrong: str, column: int, message: str) -> None:
    error = error_of(lambda: task(library=f"(define (action-type-library lib)\n{wrong}\n)"))
    assert isinstance(error, ParseError)
    assert message in error.message
    assert (error.file, error.line, error.column) == ("l.epddl", 2, column)


@pytest.mark.parametrize(
    ("problem", "domain", "library", "message"),
    [
        (problem_text().replace("(:goal (p))", ""), domain_text(""), LIBRARY, "the problem has no :goal; a goal that"),
        (problem_text().replace("(:init", "(:goal (p)) ;"), domain_text(""), LIBRARY, "the problem has no :init"),
        (problem_text().replace("(:agents A B)", ""), domain_text(""), LIBRARY, "no agent is declared"),
        (problem_text().replace("(:domain d)", "(:domain dd)"), domain_text(""), LIBRARY,
         "the problem is for domain 'dd', the domain file declares 'd'"),
        (problem_text().replace("prob)", "d)"), domain_text(""), LIBRARY, "the problem and the domain are both called"),
        (problem_text(), domain_text(""), LIBRARY.replace(" lib)", " d)"), "a library and the domain are both called"),
        (problem_text(), domain_text(""), LIBRARY.replace(" lib)", " prob)"), "a library and the problem are both"),
        (problem_text(), domain_text("")[:-1], LIBRARY, "the text ends too early, expected"),
        (problem_text(), "", LIBRARY, "d.epddl:1:1: the text is empty; a file in EPDDL begins with (define"),
        (problem_text(), problem_text(), LIBRARY, "found 'problem', expected domain"),
        (problem_text() + "x", domain_text(""), LIBRARY, "found 'x', expected the end of the text"),
    ],
)  # fmt: skip
def test_wrong_files(problem: str, domain: str, library: str, message: str) -> None:
    sources = (SourceText(f"{name}.epddl", text) for name, text in zip("pdl", (problem, domain, library), strict=True))
    error = error_of(lambda: ground_texts(next(sources), next(sources), sources))
    assert message in str(error)


def test_what_cannot_be_grounded() -> None:
    items = event("") + f" (:action a :parameters (?j - agent) :action-type (public (e ?j)) {PUBLIC})"
    assert len(task(items).actions) == 2
    error = error_of(lambda: task(items, plank_compat=True))
    assert "the toolkit crashes here: the action has no variable '?i' for event 'e'; drop plank_compat" in str(error)
    predicates = "(:predicates " + " ".join(f"(x{index})" for index in range(21)) + ")"
    error = error_of(lambda: task(init="()", goal="(true)", predicates=predicates), LimitError)
    assert re.match(
        r"p\.epddl:5:2: .* up to 2\^21 worlds, more than 1048576: nothing fixes x0, x1, .* x7, …;", str(error)
    )


RICH = """(:requirements :typing) (:types box - object big - box) (:constants K - agent c - big)
    (:event e :parameters (?i - agent ?b - box)
      :precondition (and (r ?i) (exists (?j - agent | (ok ?j)) ([?j] (in ?b))))
      :effects (:and (when (<Kw. ?i> (p)) (:forall (?x - (either big box) | (/= ?x ?b)) (not (in ?x)))) (iff (q) (p))))
    (:action a :parameters (?i - agent ?b - box | (and (ok ?i) (not (= ?b c))))
      :action-type (private (e ?i ?b) (nil))
      :observability-conditions (:and (?i (if ([C. (A K)] (p)) Full else-if (q) Blind)) (default Blind)))"""
RICH_DOMAIN = domain_text(RICH, "(:predicates (p) (q) (r ?i - agent) (in ?b - box) (:fact ok ?i - agent))")
RICH_PROBLEM = {
    "declared": "(:objects b1 b2 - box) (:agent-groups (g (A K)))",
    "facts": "(ok A) (ok K)",
    "goal": "(and ([g] (p)) (imply (q) (<All> (r A))))",
}
THEORY = (
    "(:and (r A) ([C. All] (or (p) (q))) (:forall (?i - agent) ([C. All] ([Kw. ?i] (q)))) ([C. All] ([A] (in b1)))"
    " (forall (?b - box) (in ?b)))"
)
MODEL = (
    ":worlds (w v) :relations (A (:forall (?x ?y - world | (/= ?x v)) (?x ?y)) K (:and (w w) (v v)))"
    " :labels (w (:and (p) (:forall (?i - agent) (r ?i)))) :designated (w)"
)


def damage(words: list[str], data: st.DataObject, everything: list[str]) -> None:
    """Replace a word by another, mostly of its kind, so that the text often passes the grammar."""
    place = data.draw(st.integers(0, len(words) - 1))
    kinds = [word for word in everything if word[:1].isalpha() == words[place][:1].isalpha()]
    words[place] = data.draw(st.sampled_from(kinds))


@given(st.data())
def test_damaged_texts_are_read_or_refused_with_our_errors(data: st.DataObject) -> None:
    init = data.draw(st.sampled_from([THEORY, MODEL]))
    texts = [problem_text(init=init, **RICH_PROBLEM), RICH_DOMAIN, LIBRARY]
    words = [re.findall(r"[()\[\]<>|]|/=|=|[^\s()\[\]<>|=/]+", text) for text in texts]
    everything = sorted({word for text in words for word in text})
    read(words)
    for _ in range(data.draw(st.integers(1, 2))):
        damage(data.draw(st.sampled_from(words)), data, everything)
    with contextlib.suppress(EpigymError):
        read(words)


def read(words: list[list[str]]) -> None:
    problem, domain, library = (SourceText("x.epddl", " ".join(text)) for text in words)
    ground_texts(problem, domain, [library])


BY_TWO = "(:action a :parameters (?i ?j - agent) :action-type (basic (nil)))"


@pytest.mark.parametrize(
    ("items", "agents", "what"),
    [
        (BY_TWO, "A B C", "4:10: action 'a'"),
        ("", "A B C D E F G H", "2:23: predicate 'r'"),
        (event(":precondition (forall (?j ?k - agent) (r ?j))"), "A B C", "4:51: quantifier 'forall'"),
        (event(":precondition (exists (?x - agent | (exists (?j ?k - agent) (false))) (p))"), "A B C",
         "4:73: quantifier 'exists'"),
        (event(":precondition (forall (?j - agent) (exists (?k - agent) (r ?k)))"), "A B C",
         "4:72: quantifier 'exists'"),
        (event(":effects (:forall (?j ?k - agent) (r ?j))"), "A B C", "4:46: list ':forall'"),
    ],
)  # fmt: skip
def test_too_many_instances(monkeypatch: pytest.MonkeyPatch, items: str, agents: str, what: str) -> None:
    """A short text can have more instances than fit into memory, also where quantifiers are nested."""
    monkeypatch.setattr(expansion, "MAX_INSTANCES", 7)
    monkeypatch.setattr(expansion, "MAX_EXPANDED", 7)
    init = ONE_WORLD.replace("B (w w)", "")
    if items.startswith("(:event"):
        items += f" (:action e :parameters (?i - agent) :action-type (public (e ?i)) {PUBLIC})"
    error = error_of(lambda: task(items, agents=agents, init=init), LimitError)
    assert str(error) == f"d.epddl:{what} has more than 7 instances: give its variables narrower types"


def test_pairs_of_worlds_are_not_limited_as_instances(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(expansion, "MAX_EXPANDED", 7)
    init = ":worlds (w v u) :relations (A (:forall (?x ?y - world) (?x ?y)) B ()) :labels () :designated (w)"
    assert task(init=init).initial.successors[0] == (frozenset(range(3)),) * 3


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "spec.json:1:2: not JSON"),
        ("[" * 100_000, "nested too deeply"),
        ('{"domain": "d", "domain": "e"}', "spec.json: an object has the key 'domain' twice"),
        ('{"planning-task-info": {}}', "not the layout of a ground EPDDL task: missing or unknown 'actions'"),
        ("[1]", "the keys domain, problem, action-type-libraries, found list"),
        ('["lift"]', "spec.json is a plan, not a problem: give it as plan="),
        ('{"nodes": []}', "spec.json is a policy, not a problem: give it as policy="),
        ('{"action": "lift", "branches": []}', "spec.json is a policy, not a problem: give it as policy="),
        (" ", "spec.json is empty: expected a problem: a specification or a ground EPDDL task"),
        ("hello", "spec.json:1:1: not JSON: Expecting value; expected a problem: a specification or"),
        ('{"domain": "d", "problem": "p"}', "found domain, problem"),
        ('{"domain": "d", "problem": "p", "action-type-libraries": [], "x": 1}', "found domain, problem, action-type"),
        ('{"dom\\nain": "d", "problem": "p"}', r"found 'dom\nain', problem"),
        ('{"domain": "d", "problem": "p", "action-type-libraries": "l"}', "must be a list of paths"),
        ('{"domain": 1, "problem": "p", "action-type-libraries": []}', "expected a path, found 1"),
        ('{"domain": "d", "problem": "p", "action-type-libraries": []}', "there is no such file as 'p'"),
    ],
)
def test_wrong_specification_files(tmp_path: Path, text: str, message: str) -> None:
    spec = tmp_path / "spec.json"
    spec.write_text(text, encoding="utf-8")
    assert message in str(error_of(lambda: load(spec), EpigymError))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "1:1: the text is empty; a file in EPDDL begins with (define (problem …)"),
        ("; a comment", "the text ends too early, expected (; a file in EPDDL begins with"),
        ("hello world", "1:1: found 'hello', expected (; a file in EPDDL begins with"),
        ("<html>", "1:1: found '<', expected (; a file in EPDDL begins with"),
        ("(define (problem b.1) (:domain d))", "1:19: unexpected character '.'; names consist of letters, digits"),
    ],
)
def test_a_text_that_is_no_epddl_is_answered_with_its_beginning(text: str, message: str) -> None:
    assert message in str(error_of(lambda: ground_texts(SourceText("p.epddl", text), None))).splitlines()[0]
