"""Ground tasks as JSON: the official layout, written and read."""

from __future__ import annotations

import json
from functools import reduce
from operator import getitem
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from epigym.errors import EpigymError, LimitError, MissingError, TaskError
from epigym.language import ground_json
from epigym.language.ground_json.formulas import FormulaReader, FormulaWriter
from epigym.reference import semantics as reference
from epigym.space.space import StateSpace
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
    not_,
    or_,
)
from epigym.task.task import Action, Effect, EState, Event, Task
from tests.helpers.epddl_texts import specification

pytestmark = pytest.mark.filterwarnings("ignore::epigym.errors.ProblemWarning")

P, Q, R = fluent("p"), fluent("q"), fluent("r")


def small() -> ground_json.GroundSpecification:
    """Agent A may look whether p; nobody else sees the result."""
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
        "relations": {
            "Full": {"yes": ["yes"], "no": ["no"]},
            "Half": {"yes": ["yes", "no"], "no": ["yes", "no"]},
        },
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
    again = ground_json.load(tmp_path / "task.json")
    assert again.fluents == ("p", "q", "r_A", "r_B")
    assert again.initial == found.task.initial
    assert again.goal == found.task.goal
    assert [action.name for action in again.actions] == ["look_A", "set"]
    assert again.actions[0] == found.task.actions[0]
    assert explored(again) == explored(found.task)


def explored(task: Task) -> list[tuple[object, list[bool]]]:
    """The e-states reachable in three steps with the actions applicable there."""
    states = [task.initial]
    found = []
    for _ in range(3):
        following = []
        for state in states:
            applicable = reference.applicable_actions(task, state)
            found.append((reference.canonical(state, task.fluents), list(applicable)))
            following += [
                reference.apply(task, state, action)
                for action, can in zip(task.actions, applicable, strict=True)
                if can
            ]
        states = following
    return found


def test_the_core_finds_the_same_state_space() -> None:
    found = small()
    again = ground_json.from_json(ground_json.to_json(found))
    assert transitions(again) == transitions(found.task)


def transitions(task: Task) -> list[tuple[int, int, int]]:
    space = StateSpace(task)
    frontier, found = [space.initial], []
    while frontier:
        table = space.expand(frontier)
        found += list(zip(table.source.tolist(), table.action.tolist(), table.target.tolist(), strict=True))
        frontier = table.target[table.is_new].tolist()
    return found


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
        (modal("Kw.box", "A", "p"), or_(believes("A", P), believes("A", not_(P)))),
        (modal("Kw.box", "AB", "p"), and_(*(or_(believes(i, P), believes(i, not_(P))) for i in "AB"))),
        (modal("Kw.diamond", "A", "p"), not_(or_(believes("A", P), believes("A", not_(P))))),
        (modal("C.box", "AB", "p"), common("AB", P)),
        (modal("C.diamond", "AB", "p"), not_(common("AB", not_(P)))),
    ],
)
def test_reading_formulas(content: Any, expected: Formula) -> None:
    assert formula(content, known=TRUE) is expected


def test_the_toolkits_group_diamonds() -> None:
    each = [considers_possible(agent, P) for agent in "AB"]
    assert formula(modal("diamond", "AB", "p"), plank_compat=True) is and_(*each)
    assert formula(modal("C.diamond", "AB", "p"), plank_compat=True) is not_(common("AB", not_(P)))


def formulas() -> st.SearchStrategy[Formula]:
    def extend(inner: st.SearchStrategy[Formula]) -> st.SearchStrategy[Formula]:
        agents = st.lists(st.sampled_from("ABC"), min_size=2, unique=True)
        return st.one_of(
            inner.map(not_),
            st.lists(inner, max_size=3).map(lambda parts: and_(*parts)),
            st.lists(inner, max_size=3).map(lambda parts: or_(*parts)),
            st.builds(believes, st.sampled_from("ABC"), inner),
            st.builds(everybody, agents, inner),
            st.builds(common, agents, inner),
        )

    return st.recursive(st.sampled_from([P, Q, TRUE, FALSE]), extend, max_leaves=10)


@given(formulas())
def test_formulas_survive_writing_and_reading(original: Formula) -> None:
    content = json.loads(json.dumps(FormulaWriter()(original)))
    assert FormulaReader({}, False)(content) is original


def test_sizes_count_the_tree() -> None:
    assert FormulaWriter().size(and_(believes("A", P), not_(believes("A", P)))) == 6


def test_actually_cannot_be_written() -> None:
    with pytest.raises(TaskError, match="EPDDL has no counterpart of actually"):
        FormulaWriter()(actually(P))


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
    assert ground_json.effects_of("p", value) == expected


@given(formulas())
def test_effects_give_exactly_the_value(value: Formula) -> None:
    event = Event("e", TRUE, tuple(ground_json.effects_of("p", value)))
    again = ground_json.values(event).get("p", P)
    worlds = [frozenset(name for name, bit in zip("pq", (w & 1, w & 2), strict=True) if bit) for w in range(4)]
    rows = tuple(tuple(frozenset([(w * (i + 2) + 1) % 4, w]) for w in range(4)) for i in range(3))
    evaluation = reference.Evaluation("ABC", EState(tuple(worlds), rows, (0,)))
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
    assert ground_json.exclusive(((P, "One"), (Q, "Two"), (R, "One"), (TRUE, "Three"))) == {
        "One": or_(P, and_(not_(P), not_(Q), R)),
        "Two": and_(not_(P), Q),
        "Three": and_(not_(P), not_(Q), not_(R)),
    }


# Tasks


def test_reading_a_task_by_hand() -> None:
    assert ground_json.from_json(content(a=action({"One": "true"}))) == Task(
        name="x",
        fluents=("p", "q", "r"),
        agents=("A",),
        actions=(
            Action(
                "a",
                TRUE,
                (
                    Event(
                        "e",
                        TRUE,
                        (
                            Effect("p", True, Q),
                            Effect("p", False),
                            Effect("q", True, P),
                            Effect("q", False),
                            Effect("r", False),
                        ),
                    ),
                ),
                (0,),
                {kind: (frozenset([0]),) for kind in ("One", "Two", "Three")},
                (((TRUE, "One"),),),
            ),
        ),
        initial=EState((frozenset("p"), frozenset("q")), ((frozenset(), frozenset([0])),), (1,)),
        goal=(P,),
        domain="d",
        instance="x",
    )


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
def test_what_is_listed_twice_is_refused_if_declared_and_one_if_mentioned(place: tuple[str, ...], message: str) -> None:
    original = content(a=action({"One": "true"})) | {"goal": {"formula": modal("box", "A", "p")}}
    doubled = json.loads(json.dumps(original))
    *folders, last = place
    part = reduce(getitem, folders, doubled)
    part[last] = [*part[last], part[last][0]]
    if message:
        with pytest.raises(EpigymError, match=f"task.json: not the layout of a ground EPDDL task: {message}"):
            ground_json.checked(doubled, "task.json")
    else:
        assert ground_json.checked(doubled, "task.json") == ground_json.from_json(original)


def test_the_toolkit_ignores_effects_of_basic_actions() -> None:
    basic = {**action({"One": "true"}), "action-type": "basic"}
    assert ground_json.from_json(content(a=basic)).actions[0].events[0].effects
    assert not ground_json.from_json(content(a=basic), plank_compat=True).actions[0].events[0].effects


def test_a_task_without_actions() -> None:
    assert ground_json.from_json(content()).actions == ()


def test_relations_too_large_to_list(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(ground_json, "MAX_PAIRS", 5)
    with pytest.raises(LimitError, match="all 6 pairs of the relations, more than 5"):
        ground_json.dump(small(), tmp_path / "task.json")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "task.json:1:2: not JSON"),
        ("[]", "not the layout of a ground EPDDL task"),
        ("{}", "missing or unknown 'actions'"),
        (json.dumps({**content(), "goal": {"formula": connective("xor", "p")}}), "missing or unknown 'xor'"),
        (json.dumps({**content(), "goal": {"formula": modal("D.box", "A", "p")}}), "missing or unknown 'D.box'"),
        (json.dumps({**content(), "goal": {"formula": "z"}}), "task.json: undeclared fluent 'z'"),
    ],
)
def test_wrong_files(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "task.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(EpigymError, match=message):
        ground_json.load(path)


def test_a_missing_file(tmp_path: Path) -> None:
    with pytest.raises(MissingError, match="No such file"):
        ground_json.load(tmp_path / "task.json")
