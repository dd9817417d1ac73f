"""Repeated entries of lists that mean sets are refused or have no effect."""

import random
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from epigym import StateSpace, Task, TaskError
from epigym.encoding.encoder import make_encoder
from epigym.encoding.identifiers import Bitmask, Hash, Map
from epigym.encoding.relational import Relational
from epigym.errors import ProblemWarning
from epigym.features.counts import RelationalFeatures
from epigym.features.relaxation import Relaxation
from epigym.features.types import FeatureTypes
from epigym.language import parse_epddl, parse_mastar
from epigym.space.signature import signature
from epigym.task.formula import Formula, common, everybody, fluent
from epigym.task.symmetry import symmetries
from tests.fuzz.target import CORPUS
from tests.helpers.strategies import telling_task
from tests.helpers.tasks import coin

Conditions = tuple[tuple[Formula, str], ...]
TASKS = [coin(), *(telling_task(random.Random(seed)) for seed in (0, 1, 2))]
WAYS = (Map(), Hash(), Bitmask(goal_bits=32, width=128), Relational())


def _meaning(task: Task) -> list[Any]:
    """The results of all functions that read a task."""
    space = StateSpace(task)
    transitions = [space.expand([0])]
    transitions.append(space.expand(np.unique(transitions[0].target)))
    ids, types, relaxation = np.arange(min(len(space), 20)), FeatureTypes(task), Relaxation(space)
    landmarks = relaxation.landmarks(0)
    parts = [*transitions, RelationalFeatures(space, types.tables, 2, True)(ids)]
    parts += [relaxation(ids), relaxation.facts, landmarks, space.is_goal(ids), symmetries(task), signature(task)]
    parts += [make_encoder(space, way).graphs(ids) for way in WAYS]
    return [len(space), *map(repr, parts)]


def _with(task: Task, observe: Callable[[Conditions], Conditions]) -> Task:
    """A task with other observability conditions of its actions."""
    return replace(
        task,
        actions=tuple(
            replace(action, observability=tuple(map(observe, action.observability))) for action in task.actions
        ),
    )


@pytest.mark.parametrize("task", TASKS, ids=["coin", "first", "second", "third"])
def test_subgoals_effects_and_conditions_listed_twice_mean_what_they_mean_once(task: Task) -> None:
    assert replace(task, goal=task.goal * 2) == task
    for action in task.actions:
        assert all(replace(event, effects=event.effects * 2) == event for event in action.events)
    assert _meaning(_with(task, lambda pairs: tuple(pair for pair in pairs for _ in range(2)))) == _meaning(task)


def test_the_first_of_contradicting_observability_conditions_decides() -> None:
    def meaning(task: Task, *kinds: str) -> list[Any]:
        first = tuple((fluent(task.fluents[0]), kind) for kind in kinds)
        return _meaning(_with(task, lambda conditions: (*first, *conditions)))

    for task in TASKS[1:]:
        assert meaning(task, "sees", "misses") == meaning(task, "sees") != meaning(task, "misses")


def test_agents_of_a_group_are_a_set() -> None:
    for group in (everybody, common):
        assert group(["b", "a", "b"], fluent("p")) is group(["a", "b"], fluent("p"))


@pytest.mark.parametrize("kind", ["fluents", "agents", "actions"])
def test_repeated_declarations_are_refused(kind: str) -> None:
    task = coin()
    with pytest.raises(TaskError, match=f"^{kind[:-1]} '.*' is declared twice$"):
        replace(task, **{kind: getattr(task, kind) * 2})


MASTAR = [
    ("lift causes open;", "lift causes open, open; lift causes open;"),
    ("look determines tail;", "look determines tail, tail; look determines tail;"),
    ("shout announces tail;", "shout announces tail, tail; shout announces tail;"),
    ("executable look if open;", "executable look if open, open; executable look if open;"),
    ("a observes lift;", "a observes lift; a observes lift;"),
    ("b aware_of look;", "b aware_of look; b aware_of look;"),
    ("b observes shout if open;", "b observes shout if open; b observes shout if open | open;"),
    ("tail, -open;", "-open, tail, tail, -open; initially tail;"),
    ("C([a,b], -open)", "C([b,a,b], -open), C([a,b], -open, -open)"),
    ("initially C([a,b], -B(a, tail)", "initially C([a,b], -B(a, -tail), -B(a, tail)); initially C([a,b], -B(a, tail)"),
    ("goal B(b, tail);", "goal B(b, tail), B(b, tail); goal B(b, tail);"),
    ("fluent open, tail;", "fluent open, tail, open;"),
    ("agent a, b;", "agent a, b; agent b;"),
    ("action lift, look, shout;", "action lift, lift, look, shout;"),
]


@pytest.mark.parametrize(("once", "twice"), MASTAR, ids=[twice for _, twice in MASTAR])
def test_mastar(once: str, twice: str) -> None:
    text = (CORPUS / "mastar" / "coin.txt").read_text(encoding="utf-8")
    assert once in text
    if once.partition(" ")[0] in ("fluent", "agent", "action"):
        with pytest.warns(ProblemWarning, match="is already declared in line"):
            assert parse_mastar(text.replace(once, twice)) == parse_mastar(text)
    else:
        assert parse_mastar(text.replace(once, twice, 1)) == parse_mastar(text)


EPDDL = [
    (":partial-observability :lists", ":lists :partial-observability :lists"),
    ("(?x ?x))", "(:and (?x ?x) (?x ?x)))"),
    ("(?nil ?nil))", "(?nil ?nil) (?e ?nil))"),
    (":designated (?e)", ":designated (?e ?e)"),
    ("(:trivial-event)", "(:trivial-event :trivial-event)"),
    ("(:action-type-libraries kinds)", "(:action-type-libraries kinds kinds)"),
    ("(in ?i ?s) (when", "(in ?i ?s) (in ?i ?s) (when"),
    ("(/= ?r ?s))", "(/= ?r ?s) (next ?r ?s))"),
    ("(:and (?i Full)", "(:and (?i Full) (?i Full)"),
    ("(both (ann bob))", "(both (bob ann bob))"),
    ("(next hall attic)", "(next hall attic) (next hall attic)"),
    ("(v v))", "(v v) (w w))"),
    ("(v v)) bob", "(v v)) ann (:and (w w) (v v)) bob"),
    ("Blind (:and (?e ?nil) (?nil ?nil))", "Blind (:and (?e ?nil) (?nil ?nil)) Blind (:and (?e ?nil) (?nil ?nil))"),
    ("v (:and (in ann hall) (in bob attic))", 2 * "v (:and (in ann hall) (in bob attic)) "),
    ("(?nil (:trivial-event))", "(?nil (:trivial-event) ?nil (:trivial-event))"),
    ("(lit hall)) v", "(lit hall) (lit hall)) v"),
    (":designated (w)", ":designated (w w)"),
    ("[C. both]", "[C. (bob ann bob)]"),
    ("(:goal (and", "(:goal (and ([C. both] (in ann attic))"),
]


@pytest.mark.filterwarnings("ignore::epigym.errors.ProblemWarning")
@pytest.mark.parametrize(("once", "twice"), EPDDL, ids=[twice for _, twice in EPDDL])
def test_epddl(once: str, twice: str) -> None:
    text = (CORPUS / "epddl" / "rooms.epddl").read_text(encoding="utf-8")
    assert once in text
    assert parse_epddl(text.replace(once, twice, 1)) == parse_epddl(text)
