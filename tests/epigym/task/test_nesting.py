"""Formulas with as many levels as are supported pass through everything; with more they are refused everywhere."""

import json
import pickle
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

import pytest

from epigym import _core
from epigym.drawing.page import render_page
from epigym.encoding.encoder import make_encoder
from epigym.encoding.identifiers import Bitmask, Hash, Map
from epigym.encoding.relational import Relational
from epigym.errors import EpigymError, NestingError, ParseError
from epigym.features.counts import RelationalFeatures
from epigym.features.relaxation import Relaxation
from epigym.features.texts import texts
from epigym.features.types import FeatureTypes
from epigym.language import ground_json, load, parse_formula, parse_mastar, save
from epigym.reference.semantics import holds
from epigym.space.signature import signature
from epigym.space.space import StateSpace
from epigym.task.formula import (
    MAX_LEVELS,
    SPARE_LEVELS,
    Formula,
    Op,
    actually,
    and_,
    believes,
    common,
    considers_possible,
    everybody,
    fluent,
    literal,
    not_,
    or_,
    split_goal,
)
from epigym.task.reachability import may_reach_goal
from epigym.task.symmetry import symmetries
from epigym.task.task import Effect, Task
from tests.helpers import epddl_texts
from tests.helpers.marks import slow_but
from tests.helpers.tasks import coin

T = TypeVar("T")
TAIL, OPEN = fluent("tail"), fluent("open")

# Each puts one more operator, or two, around a formula.
STEPS: dict[str, Callable[[int, Formula], Formula]] = {
    "beliefs": lambda k, inner: believes("ab"[k % 2], not_(inner)),
    "junctions": lambda k, inner: (and_ if k % 2 else or_)(
        not_(inner), literal(("tail", "open")[k // 2 % 2], k % 3 > 0)
    ),
    "mixed": lambda k, inner: (believes("a", not_(inner)), or_(considers_possible("b", inner), TAIL))[k % 2],
    "groups": lambda k, inner: everybody("ab", or_(inner, (TAIL, OPEN)[k % 2])),
    "doubts": lambda k, inner: not_(everybody("ab", not_(and_(inner, (TAIL, OPEN)[k % 2])))),
    "common": lambda k, inner: (common("ab", inner), not_(common("a", inner)))[k % 2],
    "actually": lambda k, inner: (actually(not_(inner)), believes("a", inner))[k % 2],
}
# The relaxation takes time that is exponential in the depth of beliefs of these.
UNRELAXED = frozenset({"groups", "doubts"})


def deepest(step: Callable[[int, Formula], Formula]) -> Formula:
    """The formula with the most levels of a task that a step makes, over and over."""
    formula, k = TAIL, 0
    while (larger := step(k, formula)).levels <= MAX_LEVELS:
        formula, k = larger, k + 1
    assert formula.levels > MAX_LEVELS - 3
    return formula


def below(frames: int, call: Callable[[], T]) -> T:
    """What a call returns when it is made as deep in other calls as those of commands and tests are."""
    return call() if frames == 0 else below(frames - 1, call)


def with_goal(*goal: Formula) -> Task:
    return replace(coin(), goal=goal)


def everywhere(formula: Formula) -> Task:
    """A task with the formula in every place where formulas are."""
    task = coin()
    actions = tuple(
        replace(
            action,
            applicability=formula if number == 0 else action.applicability,
            events=tuple(
                replace(
                    event,
                    precondition=formula if number == 1 else event.precondition,
                    effects=tuple(Effect(effect.fluent, effect.value, formula) for effect in event.effects),
                )
                for event in action.events
            ),
            observability=tuple(
                ((formula, next(iter(action.relations))), *conditions) for conditions in action.observability
            ),
        )
        for number, action in enumerate(task.actions)
    )
    return replace(task, actions=actions, goal=(formula, not_(formula)))


@pytest.mark.parametrize("name", STEPS)
def test_a_formula_with_all_levels(name: str) -> None:
    formula = deepest(STEPS[name])

    def check() -> None:
        assert pickle.loads(pickle.dumps(formula)) is formula
        assert formula.map_fluents(fluent) is formula
        for one in (formula, not_(formula)):
            normal = one.negation_normal_form()
            assert normal.levels <= MAX_LEVELS
            assert normal.negation_normal_form() is normal
            assert all(part.levels <= MAX_LEVELS for part in split_goal([one]))
        if name != "actually":
            assert parse_formula(str(formula), fluents=("tail", "open"), agents=("a", "b")) is formula

    below(150, check)


@pytest.mark.parametrize("name", slow_but(STEPS, *sorted(STEPS)[::2]))
@pytest.mark.parametrize("make", [with_goal, everywhere])
def test_a_task_with_all_levels(name: str, make: Callable[[Formula], Task], tmp_path: Path) -> None:
    task = make(deepest(STEPS[name]))

    def check() -> None:
        assert pickle.loads(pickle.dumps(task)) == task
        space = StateSpace(task, symmetry=True)
        space.expand([0])
        answers = space.query(task.goal)([0])[0].tolist()
        assert answers == [holds(task.initial, task.agents, subgoal) for subgoal in task.goal]
        for encoding in (Map(), Hash(), Bitmask(goal_bits=32, width=128), Relational()):
            make_encoder(space, encoding).graphs([0])
        types = FeatureTypes(task)
        RelationalFeatures(space, types.tables, 2, True)([0])
        texts(space, types, 2, True, [0])
        signature(task)
        may_reach_goal(task)
        symmetries(task)
        render_page(space, [])
        for form in ("compact", "json")[: 1 + (name != "actually")]:
            save(task, tmp_path / "task.json", form)
            try:
                assert len(load(tmp_path / "task.json").actions) == len(task.actions)
            except NestingError:  # files state the values that effects give, which have more levels than conditions
                assert make is everywhere

    below(150, check)


@pytest.mark.parametrize("name", sorted(STEPS.keys() - UNRELAXED))
def test_a_goal_with_all_levels_is_relaxed(name: str) -> None:
    relaxation = Relaxation(StateSpace(with_goal(deepest(STEPS[name]))))

    def check() -> None:
        relaxation([0])
        relaxation.landmarks(0)
        assert len(relaxation.facts) > 0

    below(150, check)


def test_levels_by_hand() -> None:
    by_hand = {TAIL: 0, not_(TAIL): 0, or_(TAIL, OPEN): 1, believes("a", TAIL): 1, actually(TAIL): 1}
    assert all(formula.levels == levels for formula, levels in by_hand.items())
    assert everybody("ab", TAIL).levels == 2
    assert believes("a", not_(and_(TAIL, common("ab", OPEN)))).levels == 3
    grown = [TAIL]
    with pytest.raises(NestingError):
        grown.extend(Formula(Op.NOT, children=(grown[-1],)) for _ in range(100_000))


@pytest.mark.parametrize("name", STEPS)
def test_constructors_refuse_more_levels(name: str) -> None:
    grown = [TAIL]
    with pytest.raises(NestingError, match=r"^formulas are nested too deeply, at most 100 levels") as caught:
        grown.extend(STEPS[name](k, grown[-1]) for k in range(100_000))
    assert MAX_LEVELS < grown[-1].levels <= MAX_LEVELS + SPARE_LEVELS
    assert "\n" not in str(caught.value)
    with pytest.raises(NestingError):
        with_goal(grown[-1])


@pytest.mark.parametrize("op", [Op.NOT, Op.AND, Op.OR, Op.BELIEVES, Op.EVERYBODY, Op.COMMON, Op.ACTUALLY])
def test_the_core_refuses_more_levels(op: Op) -> None:
    """As lists, which do not pass through `Formula`."""
    count = 200_000
    agents = count if Op.BELIEVES <= op <= Op.COMMON else 0
    lists = (
        [Op.TRUE, *[op] * count],
        [0] * (count + 1),
        [0, *range(count + 1)],
        list(range(count)),
        [0, *(range(count + 1) if agents else [0] * (count + 1))],
        [0] * agents,
    )
    space = StateSpace(coin())
    with pytest.raises(ValueError, match=r"more than 110 levels|do not fit"):
        _core.Query(space.core, lists, [count])
    assert _core.MAX_LEVELS == MAX_LEVELS + SPARE_LEVELS


TEXTS = {
    "beliefs": ("B(a, ", "tail", ")"),
    "denied beliefs": ("-B(a, ", "tail", ")"),
    "groups": ("E([a,b], -tail | ", "tail", ")"),
    "junctions": ("(tail | (open, ", "tail", "))"),
}


@pytest.mark.parametrize("name", TEXTS)
@pytest.mark.parametrize("times", slow_but([101, 1200], 101))
def test_mastar_names_the_place_of_more_levels(name: str, times: int) -> None:
    start, inner, end = TEXTS[name]
    text = start * times + inner + end * times
    with pytest.raises(ParseError, match=r"^<formula>:1:\d+: formulas are nested too deeply"):
        parse_formula(text, fluents=("tail", "open"), agents=("a", "b"))
    for place in ("goal {};", "executable act if {};", "act causes tail if {};", "a observes act if {};"):
        problem = "fluent tail, open; agent a, b; action act; initially tail, open; goal tail;" + place.format(text)
        with pytest.raises(ParseError, match=r"^<string>:1:\d+: formulas are nested too deeply"):
            parse_mastar(problem)


@pytest.mark.parametrize(("start", "end"), [("(", ")"), ("-", ""), ("-(", ")")])
def test_mastar_reads_any_number_of_brackets_and_negations(start: str, end: str) -> None:
    text = start * 1200 + "tail" + end * 1200
    assert parse_formula(text, fluents=("tail",), agents=()) is TAIL


EPDDL = {
    "beliefs": ("([A] ", "(p)", ")"),
    "denied beliefs": ("(not ([A] ", "(p)", "))"),
    "junctions": ("(and (p) (or (q) ", "(p)", "))"),
    "implications": ("(imply (p) ", "(q)", ")"),
    "quantifiers": ("(forall (?i - agent | (ok ?i)) ", "(q)", ")"),
    "whether": ("([Kw. A] ", "(p)", ")"),
}


@pytest.mark.parametrize("name", EPDDL)
@pytest.mark.parametrize("times", [300, 1200])
@pytest.mark.filterwarnings("ignore")
def test_epddl_names_the_place_of_more_levels(name: str, times: int) -> None:
    start, inner, end = EPDDL[name]
    text = start * times + inner + end * times
    with pytest.raises(ParseError, match=r"^p.epddl:6:\d+: formulas are nested too deeply"):
        epddl_texts.task(goal=text)
    event = f"(:event e :precondition {text} :effects (p))"
    with pytest.raises(ParseError, match=r"^d.epddl:4:\d+: formulas are nested too deeply"):
        epddl_texts.task(event)


@pytest.mark.filterwarnings("ignore")
def test_epddl_names_the_files_where_ground_formulas_have_more_levels() -> None:
    """Knowing whether is a conjunction of disjunctions of beliefs, so that 50 of them have 100 levels."""

    def goal(times: int) -> str:
        return "([Kw. A] " * times + "(p)" + ")" * times

    assert epddl_texts.task(goal=goal(MAX_LEVELS // 2)).goal[0].levels == MAX_LEVELS
    with pytest.raises(NestingError, match=r"^p\.epddl with d\.epddl: formulas are nested too deeply"):
        epddl_texts.task(goal=goal(MAX_LEVELS // 2 + 1))


JSON = {
    "modality": ('{"modality-name": "box", "modality-index": ["a"], "formula": ', "}"),
    "conjunction": ('{"connective": "or", "formulas": ["open", {"connective": "and", "formulas": ["tail", ', "]}]}"),
    "negation": ('{"connective": "not", "formula": ', "}"),
}


@pytest.mark.parametrize("times", [120, 2000, 10_000])
@pytest.mark.parametrize("kind", JSON)
def test_ground_json_with_more_levels(kind: str, times: int, tmp_path: Path) -> None:
    start, end = JSON[kind]
    content = json.dumps(ground_json.to_json(ground_json.make_specification(coin())) | {"goal": {"formula": "GOAL"}})
    path = tmp_path / "task.json"
    path.write_text(content.replace('"GOAL"', start * times + '"tail"' + end * times))
    if kind == "negation" and times < 300:
        assert load(path).goal == (TAIL,)
    else:
        with pytest.raises(EpigymError, match=rf"^{re.escape(str(path))}: .*nested too deeply"):
            load(path)
