"""Ground tasks as JSON: the official layout, written and read."""

import copy
import json
import warnings
from collections.abc import Iterator
from dataclasses import replace
from functools import reduce
from operator import getitem
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given

from epigym.errors import EpigymError, ProblemWarning, TaskError
from epigym.language import ground_json, load, parse_mastar
from epigym.language.ground_json.formulas import FormulaReader, FormulaWriter
from epigym.reference import semantics as reference
from epigym.task.formula import (
    FALSE,
    TRUE,
    Formula,
    actually,
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
from epigym.task.structure import Lifted, Structure
from epigym.task.task import Action, Effect, EState, Event
from tests.helpers.epddl_texts import specification
from tests.helpers.equivalence import assert_read_back
from tests.helpers.marks import slow_but
from tests.helpers.strategies import AGENTS, estates, formulas
from tests.helpers.tasks import COIN, coin

pytestmark = pytest.mark.filterwarnings("ignore::epigym.errors.ProblemWarning")

P, Q, R = fluent("p"), fluent("q"), fluent("r")


def small() -> ground_json.GroundSpecification:
    """Agent A can sense p, and no other agent learns the result."""
    return specification(
        """(:event yes :parameters (?i - agent) :precondition (and (p) (ok ?i)))
           (:event no :precondition (not (p)))
           (:event set :effects (:and (when ([A] (p)) (q)) (not (r A)) (r B)))
           (:action look :parameters (?i - agent | (ok ?i)) :action-type (sensing (yes ?i) (no))
             :observability-conditions (:and (?i Full) (default Half)))
           (:action set :parameters () :action-type (private (set) (nil))
             :observability-conditions (:forall (?i - agent) (?i (if (q) Full else-if ([?i] (p)) Blind else Full))))""",
        facts="(ok A)",
        init="(:and (p) (:forall (?i - agent) (not (r ?i))) ([C. All] (and (not (q)) (not (r A)) (not (r B))))"
        " ([C. All] ([Kw. B] (p))))",
        goal="(and ([A] (q)) ([C. (A B)] ([Kw. A] (p))))",
    )


def formula(content: Any, *, plank_compat: bool = False, **constants: Formula) -> Formula:
    return FormulaReader(constants, plank_compat)({"formula": content})


def connective(name: str, *parts: Any) -> dict[str, Any]:
    return {"connective": name, "formulas": list(parts)}


def modal(name: str, agents: str, part: Any) -> dict[str, Any]:
    return {"modality-name": name, "modality-index": list(agents), "formula": part}


def test_the_layout_by_hand() -> None:
    content = ground_json.to_json(small())
    knows = connective("or", modal("box", "A", "p"), modal("box", "A", {"connective": "not", "formula": "p"}))
    assert content["planning-task-info"] == {
        "problem": "prob",
        "domain": "d",
        "libraries": ["lib"],
        "requirements": [],
        "agents-number": 2,
        "atoms-number": 6,
        "facts-number": 1,
        "actions-number": 2,
        "initial-worlds-number": 2,
        "goal-modal-depth": 2,
        "goal-size": 10,
    }
    assert content["language"] == {"atoms": ["p", "q", "r_A", "r_B", "ok_A", "ok_B"], "agents": ["A", "B"]}
    assert content["facts"] == ["ok_A"]
    assert content["initial-state"] == {
        "worlds": ["w0", "w1"],
        "relations": {"A": {"w0": ["w0", "w1"], "w1": ["w0", "w1"]}, "B": {"w0": ["w0"], "w1": ["w1"]}},
        "labels": {"w0": ["ok_A"], "w1": ["p", "ok_A"]},
        "designated": ["w1"],
    }
    assert list(content["actions"]) == ["look_A", "set"]
    assert content["actions"]["look_A"] == {
        "action-type": "sensing",
        "events": ["yes", "no"],
        "relations": {"Full": {"yes": ["yes"], "no": ["no"]}, "Half": {"yes": ["yes", "no"], "no": ["yes", "no"]}},
        "designated": ["yes", "no"],
        "preconditions": {"yes": {"formula": "p"}, "no": {"formula": {"connective": "not", "formula": "p"}}},
        "effects": {"yes": None, "no": None},
        "observability-conditions": {"A": {"Full": {"formula": "true"}}, "B": {"Half": {"formula": "true"}}},
    }
    assert content["actions"]["set"]["effects"]["set"] == {
        "q": {"formula": connective("or", modal("box", "A", "p"), "q")},
        "r_A": {"formula": "false"},
        "r_B": {"formula": "true"},
    }
    assert content["goal"] == {"formula": connective("and", modal("box", "A", "q"), modal("C.box", "AB", knows))}


def test_a_file_reads_back_as_the_task(tmp_path: Path) -> None:
    found = small()
    ground_json.dump(found, tmp_path / "task.json")
    assert [path.name for path in tmp_path.iterdir()] == ["task.json"]
    again = load(tmp_path / "task.json")
    assert again.fluents == ("p", "q", "r_A", "r_B")
    assert again.initial == found.task.initial
    assert again.goal == found.task.goal
    assert [action.name for action in again.actions] == ["look_A", "set"]
    assert again.actions[0] == found.task.actions[0]
    assert_read_back(found.task, again)


# Formulas


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("true", TRUE),
        ("false", FALSE),
        ("p", P),
        ("known", TRUE),
        (connective("and"), TRUE),
        (connective("or"), FALSE),
        (connective("imply", "p", "q"), or_(not_(P), Q)),
        (connective("or", "false", connective("and", "p", {"connective": "not", "formula": "false"})), P),
        (modal("box", "A", "p"), believes("A", P)),
        (modal("box", "AB", "p"), everybody("AB", P)),
        (modal("diamond", "A", "p"), considers_possible("A", P)),
        (modal("diamond", "AB", "p"), not_(everybody("AB", not_(P)))),
        (modal("Kw.box", "A", "p"), knows_whether("A", P)),
        (modal("Kw.box", "AB", "p"), and_(*(knows_whether(i, P) for i in "AB"))),
        (modal("Kw.diamond", "A", "p"), not_(knows_whether("A", P))),
        (modal("C.box", "AB", "p"), common("AB", P)),
        (modal("C.diamond", "AB", "p"), not_(common("AB", not_(P)))),
        *((modal(f"{kind}box", "", "p"), TRUE) for kind in ("", "C.", "Kw.")),
        *((modal(f"{kind}diamond", "", "p"), FALSE) for kind in ("", "C.", "Kw.")),
    ],
)
def test_reading_formulas(content: Any, expected: Formula) -> None:
    assert formula(content, known=TRUE) is expected


def test_formulas_by_hand() -> None:
    each = [considers_possible(agent, P) for agent in "AB"]
    assert formula(modal("diamond", "AB", "p"), plank_compat=True) is and_(*each)
    assert formula(modal("C.diamond", "AB", "p"), plank_compat=True) is not_(common("AB", not_(P)))
    assert [formula(modal(name, "", "p"), plank_compat=True) for name in ("diamond", "C.diamond")] == [TRUE, FALSE]
    assert FormulaWriter().size(and_(believes("A", P), not_(believes("A", P)))) == 6
    with pytest.raises(TaskError, match="EPDDL has no counterpart of actually"):
        FormulaWriter()(actually(P))


@given(formulas(with_actually=False))
def test_formulas_survive_writing_and_reading(original: Formula) -> None:
    content = json.loads(json.dumps(FormulaWriter()(original)))
    assert FormulaWriter()(FormulaReader({}, False)(content)) == content


@given(formulas())
def test_the_compact_layout_keeps_formulas(original: Formula) -> None:
    content = json.loads(json.dumps(FormulaWriter(compact=True)(original)))
    assert FormulaReader({}, False)(content) is original


def test_the_compact_layout_keeps_everybody_of_one_agent() -> None:
    for original in (everybody("A", P), believes("A", P), not_(everybody("A", Q))):
        assert FormulaReader({}, False)(FormulaWriter(compact=True)(original)) is original
    assert FormulaWriter()(everybody("A", P)) == {"formula": modal("box", "A", "p")}


# Effects


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (TRUE, [Effect("p", True)]),
        (FALSE, [Effect("p", False)]),
        (P, []),
        (or_(Q, P), [Effect("p", True, Q)]),
        (and_(P, not_(Q)), [Effect("p", False, Q)]),
        (and_(P, Q, R), [Effect("p", False, not_(and_(Q, R)))]),
        (or_(Q, and_(P, not_(R))), [Effect("p", True, Q), Effect("p", False, R)]),
        (Q, [Effect("p", True, Q), Effect("p", False)]),
        (not_(P), [Effect("p", True, not_(P)), Effect("p", False)]),
    ],
)
def test_effects_that_give_a_value(value: Formula, expected: list[Effect]) -> None:
    assert ground_json.make_effects("p", value) == expected


@given(formulas(), estates())
def test_effects_give_exactly_the_value(value: Formula, estate: EState) -> None:
    event = Event("e", TRUE, tuple(ground_json.make_effects("p", value)))
    again = ground_json.compute_values(event).get("p", P)
    evaluation = reference.Evaluation(AGENTS, estate)
    assert evaluation.truth(again) == evaluation.truth(value)


# Observability


def action(conditions: dict[str, Any]) -> dict[str, Any]:
    return {
        "action-type": "t",
        "events": ["e"],
        "relations": {kind: {"e": ["e"]} for kind in ("One", "Two", "Three")},
        "designated": ["e"],
        "preconditions": {"e": {"formula": "true"}},
        "effects": {"e": {"p": {"formula": "q"}, "q": {"formula": "p"}, "r": {"formula": "false"}}},
        "observability-conditions": {"A": {kind: {"formula": content} for kind, content in conditions.items()}},
    }


def content(**actions: Any) -> dict[str, Any]:
    return {
        "planning-task-info": {"domain": "d", "problem": "x"},
        "language": {"atoms": ["p", "q", "r", "always", "never"], "agents": ["A"]},
        "facts": [],
        "initial-state": {
            "worlds": ["v", "w"],
            "relations": {"A": {"w": ["v"]}},
            "labels": {"v": ["p", "always"], "w": ["q", "always"]},
            "designated": ["w"],
        },
        "actions": actions or None,
        "goal": {"formula": connective("and", "p", "always", {"connective": "not", "formula": "never"})},
    }


@pytest.mark.parametrize(
    ("conditions", "expected"),
    [
        ({"Two": "true"}, [(TRUE, "Two")]),
        ({"One": "p", "Two": {"connective": "not", "formula": "p"}}, [(P, "One"), (TRUE, "Two")]),
        (
            {
                "One": "p",
                "Two": connective("and", {"connective": "not", "formula": "p"}, "q"),
                "Three": connective(
                    "and", {"connective": "not", "formula": "p"}, {"connective": "not", "formula": "q"}
                ),
            },
            [(P, "One"), (Q, "Two"), (TRUE, "Three")],
        ),
        ({"Three": "p", "Two": "q"}, [(P, "Three"), (Q, "Two"), (TRUE, "One")]),
        ({"Three": "false"}, [(TRUE, "One")]),
    ],
)
def test_exclusive_conditions_become_a_chain(conditions: dict[str, Any], expected: list[tuple[Formula, str]]) -> None:
    (found,) = ground_json.from_json(content(a=action(conditions))).actions
    assert found.observability == (tuple(expected),)


def test_chains_become_exclusive_conditions() -> None:
    assert ground_json.make_exclusive(((P, "One"), (Q, "Two"), (R, "One"), (TRUE, "Three"))) == {
        "One": or_(P, and_(not_(P), not_(Q), R)),
        "Two": and_(not_(P), Q),
        "Three": and_(not_(P), not_(Q), not_(R)),
    }


# Tasks


def test_reading_a_task_by_hand() -> None:
    found = ground_json.from_json(content(a=action({"One": "true"})))
    assert (found.fluents, found.agents, found.goal) == (("p", "q", "r"), ("A",), (P,))
    assert (found.name, found.domain, found.instance) == ("x", "d", "x")
    assert found.initial == EState((frozenset("p"), frozenset("q")), ((frozenset(), frozenset([0])),), (1,))
    swapped = (Effect("p", True, Q), Effect("p", False), Effect("q", True, P), Effect("q", False), Effect("r", False))
    relations = {kind: (frozenset([0]),) for kind in ("One", "Two", "Three")}
    expected = Action("a", TRUE, (Event("e", TRUE, swapped),), (0,), relations, (((TRUE, "One"),),))
    assert found.actions == (expected,)


DOUBLED = [
    (("language", "agents"), "agents lists 'A' twice"),
    (("language", "atoms"), "atoms lists 'p' twice"),
    (("initial-state", "worlds"), "worlds lists 'v' twice"),
    (("actions", "a", "events"), "events of action 'a' lists 'e' twice"),
    (("initial-state", "designated"), ""),
    (("initial-state", "labels", "v"), ""),
    (("initial-state", "relations", "A", "w"), ""),
    (("actions", "a", "designated"), ""),
    (("actions", "a", "relations", "One", "e"), ""),
    (("goal", "formula", "modality-index"), ""),
]


@pytest.mark.parametrize(("place", "message"), DOUBLED, ids=["-".join(place) for place, _ in DOUBLED])
def test_repeated_names_are_refused_in_declarations_only(place: tuple[str, ...], message: str) -> None:
    original = content(a=action({"One": "true"})) | {"goal": {"formula": modal("box", "A", "p")}}
    doubled = json.loads(json.dumps(original))
    *folders, last = place
    part = reduce(getitem, folders, doubled)
    part[last] = [*part[last], part[last][0]]
    if message:
        with pytest.raises(EpigymError, match=f"task.json: not the layout of a ground EPDDL task: {message}"):
            ground_json.read_task(doubled, "task.json")
    else:
        assert ground_json.read_task(doubled, "task.json") == ground_json.from_json(original)


@pytest.mark.parametrize(
    ("place", "name", "message"),
    [
        (("initial-state", "relations"), "B", "unknown agent 'B': expected one of 'A'"),
        (("initial-state", "relations", "A"), "u", "unknown world 'u': expected one of 'v', 'w'"),
        (("initial-state", "labels"), "u", "unknown world 'u': expected one of 'v', 'w'"),
        (("actions", "a", "relations", "One"), "f", "unknown event 'f': expected one of 'e'"),
        (("actions", "a", "preconditions"), "f", "unknown event 'f': expected one of 'e'"),
        (("actions", "a", "effects"), "f", "unknown event 'f': expected one of 'e'"),
        (("actions", "a", "observability-conditions"), "B", "unknown agent 'B': expected one of 'A'"),
    ],
)
def test_unknown_names_are_refused_as_keys(place: tuple[str, ...], name: str, message: str) -> None:
    wrong = copy.deepcopy(content(a=action({"One": "true"})))
    part = reduce(getitem, place, wrong)
    part[name] = next(iter(part.values()))
    with pytest.raises(EpigymError) as caught:
        ground_json.read_task(wrong, "task.json")
    keys = "".join(f"['{key}']" for key in place)
    assert str(caught.value) == f"task.json: not the layout of a ground EPDDL task: {keys}: {message}"


def test_unknown_agents_are_refused_in_the_compact_layout() -> None:
    wrong = ground_json.to_json(ground_json.make_specification(coin()), compact=True)
    wrong["initial-state"]["rows"]["z"] = wrong["initial-state"]["rows"]["a"]
    with pytest.raises(EpigymError, match=r"\['initial-state'\]\['rows'\]: unknown agent 'z'"):
        ground_json.read_task(wrong, "task.json")


def test_an_agent_without_a_relation_is_a_warning() -> None:
    right = content()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ground_json.read_task(right, "task.json")
    right["language"]["agents"] = ["A", "B"]
    with pytest.warns(ProblemWarning, match=r"^task\.json: no relation for B: inconsistent beliefs at all worlds$"):
        found = ground_json.read_task(right, "task.json")
    assert found.initial.successors[1] == (frozenset(), frozenset())


def test_an_e_state_without_worlds_is_refused() -> None:
    wrong = content()
    wrong["initial-state"] = {"worlds": [], "relations": {}, "labels": {}, "designated": []}
    with pytest.raises(EpigymError, match=r"task\.json: .*: worlds is empty: an e-state has at least one world"):
        ground_json.read_task(wrong, "task.json")


def test_the_toolkit_ignores_effects_of_basic_actions() -> None:
    basic = {**action({"One": "true"}), "action-type": "basic"}
    assert ground_json.from_json(content(a=basic)).actions[0].events[0].effects
    assert not ground_json.from_json(content(a=basic), plank_compat=True).actions[0].events[0].effects


@pytest.mark.parametrize(
    ("goal", "message"),
    [
        (connective("xor", "p"), "missing or unknown 'xor'"),
        (modal("D.box", "A", "p"), "missing or unknown 'D.box'"),
        ("z", "undeclared fluent 'z'"),
    ],
)
def test_wrong_goals(goal: Any, message: str) -> None:
    with pytest.raises(EpigymError, match=rf"^task\.json: .*{message}"):
        ground_json.read_task(content() | {"goal": {"formula": goal}}, "task.json")


@pytest.mark.parametrize(
    "place",
    [
        ("goal",),
        ("actions", "a", "applicability"),
        ("actions", "a", "preconditions", "e"),
        ("actions", "a", "effects", "e", "p"),
        ("actions", "a", "observability-conditions", "A", "One"),
    ],
    ids="-".join,
)
@pytest.mark.parametrize("junk", ["true", {"formulas": ["p"]}], ids=str)
def test_a_formula_of_another_form_is_refused_with_its_keys(place: tuple[str, ...], junk: Any) -> None:
    wrong = content(a=action({"One": "true"}))
    *folders, last = place
    reduce(getitem, folders, wrong)[last] = junk
    keys = "".join(f"['{key}']" for key in place)
    with pytest.raises(EpigymError) as caught:
        ground_json.read_task(wrong, "task.json")
    message = f'{keys}: expected {{"formula": ...}}, found {junk!r}'
    assert str(caught.value) == f"task.json: not the layout of a ground EPDDL task: {message}"


# Parts of wrong types

JUNK = [None, True, -1, 99, 1.5, "", "x", [], {}, [[]], [0], ["x"], [None], {"x": {}}, {"x": ["x"]}]


def places(content: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The keys that lead to each part of some JSON."""
    pairs = content.items() if isinstance(content, dict) else enumerate(content) if isinstance(content, list) else ()
    for key, part in pairs:
        yield (*at, key)
        yield from places(part, (*at, key))


@pytest.mark.parametrize("compact", slow_but([False, True], True))
def test_parts_of_wrong_types_are_refused(compact: bool) -> None:
    task = replace(
        parse_mastar(COIN.replace("a observes look;", "a observes look if open;")),
        structure=Structure(
            fluents=(Lifted("open"), Lifted("tail")),
            actions=(Lifted("lift"), Lifted("look", ("a",)), Lifted("shout")),
            types={"a": ("agent",)},
            facts=(Lifted("near", ("a",)),),
            actors=(None, "a", None),
        ),
    )
    right = ground_json.to_json(ground_json.make_specification(task), compact=compact)
    refused: list[tuple[Any, ...]] = []
    for *way, last in places(right):
        for junk in [*JUNK, ...]:
            wrong = copy.deepcopy(right)
            parent = wrong
            for key in way:
                parent = parent[key]
            if junk is ...:
                del parent[last]
            else:
                parent[last] = junk
            try:
                ground_json.read_task(wrong, "task.json", plank_compat=compact)
            except EpigymError as error:
                refused.append((str(error), *way, last, junk))
    assert len(refused) > 100
    for message, *place in refused:
        assert message.startswith("task.json: "), place
        assert "\n" not in message, place


@pytest.mark.parametrize("old", ["tail", "a", "w0", "look", "the problem", "the domain"])
@pytest.mark.parametrize("ending", ["\n", "\r", "\x85", "\u2028"])
def test_names_that_do_not_fit_on_a_line(old: str, ending: str) -> None:
    """Names of fluents, agents, worlds, actions, the problem and its domain."""
    task = replace(coin(), instance="the problem", domain="the domain")
    content = json.dumps(ground_json.to_json(ground_json.make_specification(task)))
    wrong = json.loads(content.replace(json.dumps(old), json.dumps(old + ending)))
    with pytest.raises(EpigymError, match="a name with a line break does not fit into messages") as caught:
        ground_json.read_task(wrong, "task.json")
    assert len(str(caught.value).splitlines()) == 1


DIGITS = "9" * 5000


@pytest.mark.parametrize("junk", [DIGITS, f"-{DIGITS}", f'{{"a": {DIGITS}}}'])
def test_a_number_of_too_many_digits(tmp_path: Path, junk: str) -> None:
    path = tmp_path / "task.json"
    path.write_text(junk)
    with pytest.raises(EpigymError, match=r"task.json: .*digits") as caught:
        load(path)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("half", ["\\ud800", "\\udfff"])
def test_half_of_a_surrogate_pair(tmp_path: Path, half: str) -> None:
    path = tmp_path / "task.json"
    path.write_text(json.dumps(ground_json.to_json(ground_json.make_specification(coin()))).replace("tail", f"t{half}"))
    with pytest.raises(EpigymError, match=r"task.json: .*surrogate"):
        load(path)
    path.write_text(path.read_text().replace(half, "\\ud83d\\ude00"))
    assert "t😀" in load(path).fluents
