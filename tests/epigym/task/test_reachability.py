"""What the delete relaxation of the designated worlds denies is never reached, and what it does deny."""

import random
from collections.abc import Iterable
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from epigym import StateSpace, TaskError
from epigym.reference.semantics import holds
from epigym.task.formula import FALSE, TRUE, Formula, and_, believes, fluent, literal, not_, or_
from epigym.task.reachability import may_reach_goal
from epigym.task.task import Action, Effect, EState, Event, Task
from tests.helpers import strategies

P, Q, R, S = map(fluent, "pqrs")
SMALL = 20  # worlds of an e-state that is expanded: any event model may triple them


def reached(task: Task, count: int) -> Iterable[EState]:
    """The first e-states of breadth-first search, which goes on from small ones only."""
    space, state = StateSpace(task), 0
    while state < min(len(space), count):
        estate = space.model(state).state
        yield estate
        try:
            space.expand([state] if len(estate.valuations) <= SMALL else [])
        except TaskError:  # designated worlds disagree
            return
        state += 1


def assert_never_denies(task: Task, count: int, formulas: Iterable[Formula]) -> None:
    """Whatever holds in a reached e-state may be reached, of the formulas and of conjunctions of literals."""
    for estate in reached(task, count):
        literals = [literal(name, value) for name in task.fluents for value in (True, False)]
        known = and_(*(part for part in literals if holds(estate, task.agents, part)))
        for goal in (known, *formulas):
            if holds(estate, task.agents, goal):
                assert may_reach_goal(replace(task, goal=(goal,)))


TASKS_AND_FORMULAS = given(strategies.tasks(), st.lists(strategies.formulas(2), min_size=3, max_size=3))


@settings(max_examples=100)
@TASKS_AND_FORMULAS
def test_what_is_reached_is_never_denied(task: Task, formulas: list[Formula]) -> None:
    assert_never_denies(task, 10, [*formulas, and_(*task.goal)])


@pytest.mark.slow
@settings(max_examples=200)
@TASKS_AND_FORMULAS
def test_what_is_reached_is_never_denied_in_more_tasks(task: Task, formulas: list[Formula]) -> None:
    assert_never_denies(task, 10, [*formulas, and_(*task.goal)])


@settings(max_examples=100)
@given(st.integers(0, 1 << 32))
def test_nor_in_tasks_as_people_write_them(seed: int) -> None:
    task = strategies.telling_task(random.Random(seed))
    assert_never_denies(task, 20, task.goal)


def make(effect: Effect, *, if_: Formula = TRUE, before: Formula = TRUE, designated: bool = True) -> Action:
    """An action of one event that matters, seen by the only agent."""
    events = (Event("matters", before, (effect,)), Event("other"))
    relations = {"full": (frozenset({0}), frozenset({1}))}
    return Action("act", if_, events, (0,) if designated else (1,), relations, (((TRUE, "full"),),))


ADD, DROP = Effect("q", True), Effect("p", False)


@pytest.mark.parametrize(
    ("action", "goal", "expected"),
    [
        (make(ADD), Q, True),
        (make(ADD), and_(P, Q), True),
        (make(ADD), R, False),
        (make(ADD), or_(R, Q), True),
        (make(ADD), and_(R, believes("a", R)), False),
        (make(ADD), believes("a", R), True),  # modal formulas count as true
        (make(ADD), not_(believes("a", P)), True),
        (make(ADD, if_=R), Q, False),
        (make(ADD, if_=or_(R, P)), Q, True),
        (make(ADD, if_=and_(R, P)), Q, False),
        (make(ADD, if_=not_(or_(P, R))), Q, False),
        (make(ADD, if_=believes("a", R)), Q, True),
        (make(ADD, before=R), Q, False),
        (make(ADD, before=FALSE), Q, False),
        (make(Effect("q", True, R)), Q, False),
        (make(Effect("q", True, P)), Q, True),
        (make(Effect("q", True, not_(P)), if_=P), Q, False),  # both at one world
        (make(ADD, designated=False), Q, False),
        (make(DROP), not_(P), True),
        (make(DROP), and_(P, not_(P)), True),  # nothing is ever made false
        (make(DROP, if_=Q), not_(P), False),
    ],
)
def test_what_is_denied(action: Action, goal: Formula, expected: bool) -> None:
    initial = EState((frozenset("p"), frozenset("pr")), ((frozenset({0, 1}),) * 2,), (0,))
    assert may_reach_goal(Task("t", ("p", "q", "r", "s"), ("a",), (action,), initial, (goal,))) is expected


def test_each_of_several_designated_worlds_counts() -> None:
    initial = EState((frozenset("p"), frozenset("r")), ((frozenset({0, 1}),) * 2,), (0, 1))
    for needed, expected in ((P, True), (R, True), (not_(P), True), (S, False), (and_(P, R), True)):
        action = make(Effect("q", True, needed))
        assert may_reach_goal(Task("t", ("p", "q", "r", "s"), ("a",), (action,), initial, (Q,))) is expected
