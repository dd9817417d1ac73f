"""The outcomes of actions: the core and the reference agree, and together they are what a linear plan reaches."""

import random
from collections import Counter, deque
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from epigym.errors import InconsistentBeliefsError, TaskError
from epigym.reference import semantics as reference
from epigym.space.space import Outcomes, StateSpace
from epigym.task.formula import TRUE, Formula, believes, fluent, not_, or_
from epigym.task.task import Action, EState, Event, Task
from tests.helpers.marks import slow_but
from tests.helpers.strategies import random_estate, sensing_task, tasks

SEES, MISSES = (frozenset({0}), frozenset({1}), frozenset({2})), (frozenset({2}),) * 3
ALL = frozenset({0, 1})


def look(*conditions: tuple[Formula, str], agents: int = 2) -> Action:
    """Find out whether p holds: the first agent looks, the others by the conditions."""
    watching = tuple((*conditions, (TRUE, "misses")) for _ in range(agents - 1))
    events = (Event("yes", fluent("p")), Event("no", not_(fluent("p"))), Event("nothing"))
    relations = {"sees": SEES, "misses": MISSES}
    return Action("look", TRUE, events, (0, 1), relations, (((TRUE, "sees"),), *watching))


def ignorant(action: Action, worlds: tuple[str, ...] = ("p", ""), agents: tuple[str, ...] = ("a", "b")) -> Task:
    """Nobody knows which of some worlds is actual."""
    every = frozenset(range(len(worlds)))
    initial = EState(
        tuple(frozenset(world) for world in worlds), ((every,) * len(every),) * len(agents), tuple(sorted(every))
    )
    goal = (or_(believes("a", fluent("p")), believes("a", not_(fluent("p")))),)
    return Task("looking", ("p", "q"), agents, (action,), initial, goal)


def rows(found: Outcomes) -> list[tuple[int, int, int, int, int]]:
    return list(zip(*(column.tolist() for column in found[:5]), strict=True))


def assert_agreement(task: Task, consistent_beliefs: bool, most: int = 12) -> Counter[str]:
    """Compare the outcomes of some e-states with those of the reference; returns what was met."""
    met = Counter[str]()
    try:
        space = StateSpace(task, consistent_beliefs=consistent_beliefs)
    except InconsistentBeliefsError:
        return met
    queue, seen = deque([space.initial]), {space.initial}
    for _ in range(most):
        if not queue:
            break
        state = queue.popleft()
        estate = space.model(state).state
        expected: list[tuple[int, int, int, int, reference.CanonicalForm]] = []
        for number, action in enumerate(task.actions):
            if not reference.applicable(task, estate, action):
                with pytest.raises(TaskError, match="not applicable"):
                    reference.outcomes(task, estate, action)
                continue
            outcomes = reference.outcomes(task, estate, action)
            if consistent_beliefs and any(any(reference.find_inconsistent_beliefs(one.estate)) for one in outcomes):
                met["left out"] += 1
                continue
            met["several"] += len(outcomes) > 1
            met["assignments"] += any(one.assignment > 0 for one in outcomes)
            for one in outcomes:
                form = reference.canonical(one.estate, task.fluents)
                expected.append((state, number, one.event, one.assignment, form))
        before = len(space)
        found = space.outcomes([state])
        forms = [reference.canonical(space.model(target).state, task.fluents) for target in found.target.tolist()]
        assert [(*row[:4], form) for row, form in zip(rows(found), forms, strict=True)] == expected
        new = sorted(set(found.target[found.is_new].tolist()))
        assert new == list(range(before, len(space)))
        assert found.is_new.sum() == len(new)
        again = space.outcomes([state])
        assert rows(again) == rows(found)
        assert not again.is_new.any()
        for target in found.target.tolist():
            if target not in seen:
                seen.add(target)
                queue.append(target)
    return met


@settings(max_examples=60)
@given(tasks(max_designated=3), st.booleans())
def test_core_and_reference_agree_on_any_task(task: Task, consistent_beliefs: bool) -> None:
    assert_agreement(task, consistent_beliefs, 4)


@pytest.mark.slow
@given(tasks(max_designated=3), st.booleans())
def test_core_and_reference_agree_on_more_tasks(task: Task, consistent_beliefs: bool) -> None:
    assert_agreement(task, consistent_beliefs, 4)


@pytest.mark.parametrize("count", slow_but([40, 80], 40))
def test_core_and_reference_agree_on_sensing(count: int) -> None:
    met = Counter[str]()
    for seed in range(count):
        task = sensing_task(random.Random(seed))
        met += assert_agreement(task, consistent_beliefs=bool(seed % 2))
    assert met["several"] > count
    assert met["left out"] > count // 20


@pytest.mark.parametrize("worlds", [40, 64, 65, 200])
def test_core_and_reference_agree_on_large_e_states(worlds: int) -> None:
    rng = random.Random(worlds)
    task = ignorant(look((believes("b", fluent("q")), "sees"), (fluent("q"), "sees")))
    many = replace(
        random_estate(rng, worlds, task.fluents, task.agents, "equivalences"), designated=tuple(range(0, worlds, 2))
    )
    first, second = (fluent("q"), "sees"), (believes("a", fluent("q")), "other")
    action = task.actions[0]
    split = replace(
        action,
        name="split",
        relations={**action.relations, "other": ((ALL | {2},) * 3)},
        observability=(((TRUE, "sees"),), (first, second, (TRUE, "misses"))),
    )
    met = assert_agreement(replace(task, initial=many, actions=(action, split)), consistent_beliefs=False, most=3)
    assert met["assignments"]


@given(tasks(max_designated=3))
def test_outcomes_together_are_what_a_linear_plan_reaches(task: Task) -> None:
    """Glued together, they satisfy at some designated world exactly what the linear successor does."""
    space = StateSpace(task)
    try:
        linear = space.expand([0])
    except TaskError:  # designated worlds disagree
        return
    found = space.outcomes([0])
    assert sorted(set(found.action.tolist())) == linear.action.tolist()
    for action, target in zip(linear.action.tolist(), linear.target.tolist(), strict=True):
        parts = [space.model(one).state for one in found.target[found.action == action].tolist()]
        assert space.intern(united(parts)) == target


def united(parts: list[EState]) -> EState:
    """The disjoint union of e-states."""
    starts = np.cumsum([0, *(len(part.valuations) for part in parts)]).tolist()
    pairs = list(zip(starts, parts, strict=False))
    agents = range(len(parts[0].successors))
    return EState(
        tuple(valuation for part in parts for valuation in part.valuations),
        tuple(
            tuple(frozenset(start + w for w in row) for start, part in pairs for row in part.successors[agent])
            for agent in agents
        ),
        tuple(start + world for start, part in pairs for world in part.designated),
    )


def test_sensing_comes_to_one_outcome_for_each_result() -> None:
    space = StateSpace(ignorant(look()))
    assert rows(space.outcomes([0, 0])) == [(0, 0, 0, 0, 1), (0, 0, 1, 0, 2)] * 2
    known = space.query([believes("a", fluent("p")), believes("a", not_(fluent("p"))), believes("b", fluent("p"))])
    assert known([0, 1, 2]).tolist() == [[False, False, False], [True, False, False], [False, True, False]]
    assert rows(space.outcomes([1])) == [(1, 0, 0, 0, 1)], "what is known already changes nothing"


def test_designated_worlds_that_disagree_on_an_observer_make_outcomes() -> None:
    task = ignorant(look((fluent("q"), "sees")), ("p", "pq", "q"))
    space = StateSpace(task)
    with pytest.raises(TaskError, match=r"disagree .*'b': in a policy \(policy=strong\) each type is an outcome"):
        space.expand([0])
    # Types are numbered as the conditions name them: sees, misses.
    assert rows(space.outcomes([0])) == [(0, 0, 0, 0, 1), (0, 0, 0, 1, 2), (0, 0, 1, 0, 3)]
    types = [one.types for one in reference.outcomes(task, task.initial, task.actions[0])]
    assert types == [("sees", "sees"), ("sees", "misses"), ("sees", "sees")]
    assert space.query([believes("b", fluent("p"))])([1, 2]).tolist() == [[True], [False]]


def test_what_outcomes_leave_out() -> None:
    task = ignorant(look((TRUE, "sees")))
    believing = replace(task.initial, successors=((ALL, ALL), (frozenset({0}), frozenset({0}))))
    task = replace(task, initial=believing)
    assert len(rows(StateSpace(task).outcomes([0]))) == 2
    assert rows(StateSpace(task, consistent_beliefs=True).outcomes([0])) == []
    task = ignorant(look(), ("p", "q", "pq", ""))
    first = task.actions[0]
    twin = replace(first, name="look_b", observability=first.observability[::-1])
    space = StateSpace(replace(task, actions=(first, twin), goal=(fluent("p"),)), symmetry=True)
    assert set(space.outcomes([0]).action.tolist()) == set(space.expand([0]).action.tolist()) == {0}


def test_memory_and_computed_successors_are_counted_once() -> None:
    space = StateSpace(ignorant(look()))
    before = space.nbytes
    space.outcomes([0])
    after = space.nbytes
    assert space.generated == (2, 4)
    assert after > before
    space.outcomes([0])
    assert space.generated == (2, 4)
    assert space.nbytes == after
