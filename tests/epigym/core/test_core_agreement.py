"""Compares the core with the reference on random tasks over all frames, and on random plans of published problems."""

import dataclasses
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from epigym.reference import semantics as reference
from epigym.space.space import StateSpace
from epigym.task.formula import TRUE, Formula, and_, believes, literal, or_
from epigym.task.task import Action, EState, Event, Task
from tests.helpers import strategies
from tests.helpers.benchmark_files import load_published_task, table
from tests.helpers.comparison import Comparison, random_plan
from tests.helpers.marks import slow_but

SEQUENCES_PER_DOMAIN = 100


@settings(max_examples=75)
@given(strategies.tasks(), st.lists(strategies.formulas(), max_size=3), st.data())
def test_random_tasks(task: Task, formulas: list[Formula], data: st.DataObject) -> None:
    both = Comparison(task, formulas)
    state: int | None = both.space.initial
    for _ in range(5):
        if state is None or not both.actions[state]:
            break
        targets = {action: both.step(state, action) for action in both.actions[state]}
        if None not in targets.values():
            transitions = both.space.expand([state])
            assert dict(zip(transitions.action.tolist(), transitions.target.tolist(), strict=True)) == targets
            assert transitions.action.tolist() == both.actions[state]
        state = targets[data.draw(st.sampled_from(both.actions[state]))]


@settings(max_examples=15)
@pytest.mark.parametrize("worlds", slow_but([33, 63, 64, 65, 66, 128, 129, 512, 513, 700], 33, 63, 64, 65, 129))
@given(
    strategies.tasks(max_worlds=1, max_actions=2),
    st.integers(0, 2**32),
    st.sampled_from(["any", "equivalences", "introspective"]),
)
def test_random_tasks_of_many_worlds(worlds: int, task: Task, seed: int, relations: str) -> None:
    rng = random.Random(seed)
    initial = strategies.random_estate(rng, worlds, task.fluents, task.agents, relations)
    formulas = [strategies.random_formula(rng, 3, task.fluents, task.agents) for _ in range(5)]
    both = Comparison(dataclasses.replace(task, initial=initial), formulas)
    for action in both.actions[both.space.initial]:
        both.step(both.space.initial, action)
    assert both.space.intern(strategies.renumber(initial, seed)) == both.space.initial


@settings(max_examples=15)
@pytest.mark.parametrize("worlds", [30, 65, 200])
@given(st.integers(0, 2**32), st.sampled_from(["equivalences", "introspective"]))
def test_agents_with_all_kinds_of_observation(worlds: int, seed: int, relations: str) -> None:
    rng = random.Random(seed)
    task = strategies.telling_task(rng)
    initial = strategies.random_estate(rng, worlds, task.fluents, task.agents, relations)
    initial = dataclasses.replace(initial, designated=initial.designated[:1])
    random_plan(Comparison(dataclasses.replace(task, initial=initial), []), 2, rng)


@pytest.mark.parametrize("worlds", [64, 65, 200])
@pytest.mark.parametrize("agents", [("a",), ("a", "b")])
def test_a_long_chain_distinguishes_worlds(worlds: int, agents: tuple[str, ...]) -> None:
    """Only the last world differs, so that each round of refinement distinguishes one more world."""
    directed = tuple(frozenset({min(w + 1, worlds - 1)}) for w in range(worlds))
    even = tuple(frozenset({w, min(w ^ 1, worlds - 1)}) for w in range(worlds))
    odd = tuple(frozenset({w, min(max(((w + 1) ^ 1) - 1, 0), worlds - 1)}) for w in range(worlds))
    valuations = (*[frozenset[str]()] * (worlds - 1), frozenset({"p"}))
    initial = EState(valuations, (directed,) if len(agents) == 1 else (even, odd), (0,))
    both = Comparison(Task("chain", ("p",), agents, (), initial, ()), [])
    assert both.space.world_counts([0]).tolist() == [worlds]
    assert both.space.intern(strategies.renumber(initial, 1)) == both.space.initial
    assert len(both.space) == 1


@settings(max_examples=300)
@given(strategies.estates(max_worlds=7, max_designated=3), st.integers(0, 99))
def test_interning_ignores_the_order_and_the_number_of_worlds(estate: EState, seed: int) -> None:
    task = Task("t", strategies.FLUENTS, strategies.AGENTS, (), estate, ())
    space = StateSpace(task)
    assert space.intern(strategies.renumber(estate, seed)) == space.initial
    assert space.intern(reference.contract(estate)) == space.initial
    assert space.intern(space.model(space.initial).state) == space.initial
    assert len(space) == 1


@settings(max_examples=200)
@given(strategies.estates(max_worlds=4), strategies.estates(max_worlds=4))
def test_a_formula_distinguishes_different_ids(left: EState, right: EState) -> None:
    fluents, agents = strategies.FLUENTS, strategies.AGENTS
    goal = tuple(strategies.characteristic(estate, fluents, agents, rounds=8) for estate in (left, right))
    space = StateSpace(Task("t", fluents, agents, (), left, goal))
    other = space.intern(right)
    mine, its = space.query(goal)([space.initial, other])
    assert mine[0]
    assert its[1]
    assert (mine.tolist() != its.tolist()) == (other != space.initial)


@pytest.mark.slow
@pytest.mark.reference
@pytest.mark.parametrize("row", table("expected_mastar"), ids=lambda row: row["instance"])
def test_random_plans_of_published_problems(row: dict[str, str]) -> None:
    files = sum(other["domain"] == row["domain"] for other in table("expected_mastar"))
    rng = random.Random(row["instance"])
    task = load_published_task(row)
    formulas = [strategies.random_formula(rng, 3, task.fluents, task.agents) for _ in range(10)]
    both = Comparison(task, formulas)
    for _ in range(-(-SEQUENCES_PER_DOMAIN // files)):
        random_plan(both, 8, rng)


FLUENTS = ("p", "q", "r", "s")
LITERALS = st.builds(literal, st.sampled_from(FLUENTS), st.booleans())
OTHERS = st.builds(lambda a, b: or_(a, believes("i", b)), LITERALS, LITERALS)
CONJUNCTIONS: st.SearchStrategy[Formula] = st.recursive(
    LITERALS | OTHERS | st.just(TRUE),
    lambda parts: st.lists(parts, max_size=3).map(lambda some: and_(*some)),
    max_leaves=5,
)
VALUATIONS = st.sets(st.sampled_from(FLUENTS)).map(frozenset)


@st.composite
def actions(draw: st.DrawFn, name: str) -> Action:
    events = tuple(Event(f"e{k}", draw(CONJUNCTIONS)) for k in range(draw(st.integers(1, 3))))
    designated = tuple(sorted(draw(st.sets(st.integers(0, len(events) - 1), min_size=1))))
    identity = tuple(frozenset((event,)) for event in range(len(events)))
    return Action(name, draw(CONJUNCTIONS), events, designated, {"full": identity}, (((TRUE, "full"),),))


@st.composite
def tasks(draw: st.DrawFn) -> Task:
    valuations = tuple(draw(st.lists(VALUATIONS, min_size=1, max_size=4)))
    worlds = range(len(valuations))
    designated = tuple(sorted(draw(st.sets(st.sampled_from(worlds), min_size=1))))
    estate = EState(valuations, (tuple(frozenset(worlds) for _ in worlds),), designated)
    count = draw(st.integers(1, 12))
    return Task("t", FLUENTS, ("i",), tuple(draw(actions(f"a{k}")) for k in range(count)), estate, ())


@settings(max_examples=125)
@given(tasks())
def test_applicable_actions(task: Task) -> None:
    space = StateSpace(task)
    expected = reference.applicable_actions(task, task.initial)
    assert tuple(space.applicable([space.initial])[0]) == expected
    assert space.expand([space.initial]).action.tolist() == [k for k, holds in enumerate(expected) if holds]


def test_actions_without_conditions_are_found_among_others() -> None:
    conditions = [and_(literal("p", True), literal("q", False)), TRUE, literal("p", True), TRUE, literal("p", False)]
    identity = {"full": (frozenset((0,)),)}
    task = Task(
        "t", FLUENTS, ("i",),
        tuple(
            Action(f"a{k}", TRUE, (Event("e", condition),), (0,), identity, (((TRUE, "full"),),))
            for k, condition in enumerate(conditions)
        ),
        EState((frozenset(("p", "q")),), ((frozenset((0,)),),), (0,)), (),
    )  # fmt: skip
    assert StateSpace(task).applicable([0])[0].tolist() == [False, True, True, True, False]
