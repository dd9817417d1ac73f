"""Policies found: existence and depth against fixpoints over all e-states, and problems with known answers."""

import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import ArrayLike, NDArray

from epigym.space.space import Outcomes, StateSpace
from epigym.task.formula import TRUE, fluent, not_
from epigym.task.task import Action, Effect, EState, Event, Task
from search.agents.limits import Limits
from search.agents.result import SearchStatus
from search.heuristics.belief_relaxation import RelaxedPlan
from search.policies.graph import AndOrGraph
from search.policies.policy_search import BudgetExceededError, PolicySearch
from tests.helpers.marks import slow_but
from tests.helpers.muddy_robots import muddy_robots
from tests.helpers.policy_tasks import scouts
from tests.oracles.policies import Options, all_options, excludes_strong, least_depths, strong_cyclic
from tests.tools.policies import compare


def search(task: Task, *, symmetry: bool = True, limits: Limits | None = None) -> PolicySearch:
    space = StateSpace(task, consistent_beliefs=True, symmetry=symmetry)
    return PolicySearch(space, RelaxedPlan(space), (limits or Limits()).start())


def dice(*, stuck: bool = False) -> Task:
    """A throw shows a six or not; `stuck`: any other number breaks the die."""
    broken = (Effect("broken", True),) if stuck else ()
    events = (Event("six", TRUE, (Effect("six", True),)), Event("other", TRUE, broken))
    sees = {"sees": (frozenset({0}), frozenset({1}))}
    throw = Action("throw", not_(fluent("broken")), events, (0, 1), sees, (((TRUE, "sees"),),))
    initial = EState((frozenset(),), ((frozenset({0}),),), (0,))
    return Task("dice", ("six", "broken"), ("ann",), (throw,), initial, (fluent("six"),))


@pytest.mark.parametrize("count", slow_but([100, 200], 100))
def test_existence_and_depth_on_random_tasks(count: int) -> None:
    met = sum((compare(seed) for seed in range(count)), Counter[str]())
    assert min(met["none"], met["solvable"]) > count // 10
    assert min(met["cyclic"], met["types"]) > count // 40


@pytest.mark.slow
def test_existence_and_depth_on_many_random_tasks() -> None:
    for seed in range(200, 2_000):
        compare(seed)


@pytest.mark.parametrize(("robots", "depth"), [(2, 4), (3, 7), (4, 10)])
def test_least_depth_of_muddy_robots(robots: int, depth: int) -> None:
    task = muddy_robots(robots)
    space = StateSpace(task, consistent_beliefs=True)
    options = all_options(space, 1_000, 100)
    assert least_depths(space, options)[space.initial] == depth
    found = search(task)
    assert found.find_strong()
    found.improve()
    policy = found.make_policy()
    assert (policy.depth, found.is_optimal) == (depth, True)
    assert policy.validate(consistent_beliefs=True).valid


def test_muddy_robots() -> None:
    found = search(muddy_robots(10))
    assert found.find_strong()
    assert found.counts().expanded < 5_000
    assert found.make_policy().depth == 28
    with pytest.raises(BudgetExceededError) as caught:
        search(muddy_robots(4), limits=Limits(max_expanded=5)).find_strong()
    assert caught.value.status is SearchStatus.EXPANSION_LIMIT


@pytest.mark.parametrize("most", range(7))
def test_a_limit_of_expansions_cuts_a_batch(most: int) -> None:
    found = search(scouts(noticed=True), limits=Limits(max_expanded=most))
    with pytest.raises(BudgetExceededError) as caught:
        found.find_strong()
    assert (caught.value.status, found.counts().expanded) == (SearchStatus.EXPANSION_LIMIT, most)


def test_a_limit_of_expansions_cuts_a_linear_plan() -> None:
    found = search(scouts(noticed=True), limits=Limits(max_expanded=3))
    with pytest.raises(BudgetExceededError):
        found.follow(["leave_scout1", "look_scout1", "return_scout1"])  # two e-states after the look
    assert found.counts().expanded == 3


def test_sensing_that_others_miss() -> None:
    noticed, missed = search(scouts(noticed=True)), search(scouts(noticed=False))
    assert noticed.find_strong()
    assert noticed.make_policy().depth == 4
    assert not missed.find_strong()
    assert not missed.find_strong_cyclic()
    assert missed.counts().distinct == 28
    space = StateSpace(scouts(noticed=False))
    found = PolicySearch(space, RelaxedPlan(space), Limits().start())
    assert found.find_strong()
    validation = found.make_policy().validate()
    assert validation.valid
    assert validation.inconsistent_agents == ("scout2", "ann", "bob")
    assert "believes everything after action" in found.make_policy().validate(True).reason


def test_cyclic_policies() -> None:
    found = search(dice())
    assert not found.find_strong()
    assert found.find_strong_cyclic()
    policy = found.make_policy()
    assert (policy.is_cyclic, policy.depth, policy.leaves) == (True, None, 1)
    assert policy.validate().valid
    assert not search(dice(stuck=True)).find_strong_cyclic()


def test_a_linear_plan_for_all_outcomes_is_a_policy() -> None:
    task = scouts(noticed=True)
    told = replace(task, goal=(fluent("out_scout1"),))
    space = StateSpace(told)
    found = PolicySearch(space, RelaxedPlan(space), Limits().start())
    found.follow(["leave_scout1"])
    assert found.is_solved
    assert found.make_policy().depth == 1
    assert found.counts().expanded == 1


class ExplicitSpace:
    """The part of `StateSpace` that policies use, for an explicit graph."""

    initial, generated, relaxed = 0, (0, 0), (0, 0)

    def __init__(self, options: Options, goals: set[int]) -> None:
        self.options, self.goals = options, goals

    def world_counts(self, ids: ArrayLike) -> NDArray[np.int32]:
        return np.ones(len(np.asarray(ids)), np.int32)

    def is_goal(self, ids: ArrayLike) -> NDArray[np.bool_]:
        return np.isin(ids, list(self.goals))

    def outcomes(self, ids: ArrayLike) -> Outcomes:
        rows = [
            (state, action, event, 0, target)
            for state in np.asarray(ids).tolist()
            for action, targets in self.options[state].items()
            for event, target in enumerate(sorted(targets))
        ]
        return Outcomes(*np.array(rows, np.int32).reshape(-1, 5).T, np.zeros(len(rows), np.bool_))


def test_a_policy_one_action_longer_than_need_be_is_improved() -> None:
    space: Any = ExplicitSpace({0: {0: {1}, 1: {4}}, 1: {0: {2}}, 2: {0: {3}}, 3: {}, 4: {0: {3}}}, {3})
    found = PolicySearch(space, None, Limits().start())  # type: ignore[arg-type]
    found.graph.expand([0, 1, 2])
    assert found.graph.depth[0] == 3
    found.improve()
    assert found.graph.depth[0] == 2


def sample_graph(rng: random.Random) -> ExplicitSpace:
    size = rng.randint(4, 40)
    span, goals = rng.choice([3, 6, size]), set(rng.sample(range(1, size), rng.randint(1, 2)))

    def target(state: int) -> int:
        near = min(max(state + rng.randint(-span, span), 0), size - 1)
        return near if rng.random() < 0.8 else rng.randrange(size)

    options = {
        state: {k: {target(state) for _ in range(rng.randint(1, 3))} for k in range(rng.randint(0, 4))}
        for state in range(size)
    }
    return ExplicitSpace(options, goals)


def test_any_graph_expanded_in_any_order_is_searched_to_the_end() -> None:
    """Random expansions replace replanning, which may give up at any point."""
    met = Counter[str]()
    for seed in range(600):
        rng = random.Random(seed)
        space: Any = sample_graph(rng)
        depth, has_cyclic = least_depths(space, space.options).get(0), 0 in strong_cyclic(space, space.options)
        for kind in ("strong", "cyclic"):
            found = PolicySearch(space, None, Limits().start())  # type: ignore[arg-type]

            def expand_some(
                graph: AndOrGraph = found.graph, goals: set[int] = space.goals, rng: random.Random = rng
            ) -> Iterator[None]:
                for _ in range(rng.randint(0, 60)):
                    yield
                    reached = (each for found in graph.options.values() for each in found.values())
                    graph.expand([rng.choice(sorted({0}.union(*reached) - goals))])
                if rng.random() < 0.5:
                    graph.find_dead()

            found.replan = expand_some  # type: ignore[method-assign]
            if kind == "cyclic":
                assert found.find_strong_cyclic() == has_cyclic, seed
            elif found.find_strong():
                found.improve()
            if kind == "strong":
                assert found.graph.depth.get(0) == depth, seed
        met["strong" if depth else "cyclic" if has_cyclic else "none"] += 1
    assert min(met.values()) > 50


class Onward:
    """A heuristic that prefers e-states of high numbers."""

    def score(self, ids: NDArray[np.int32]) -> NDArray[np.float64]:
        return -ids.astype(np.float64)


def test_early_proofs_end_the_search() -> None:
    """What ten e-states prove is found early, although replanning follows a path of a thousand e-states to the goal."""
    proofs, core, end = 0, 8, 1_000
    for seed in range(200):
        rng = random.Random(seed)
        options = {state: {0: {state + 1}} for state in range(core, end)} | {end: {}}
        for state in range(core):
            options[state] = {
                k: set(rng.choices(range(core + 1), k=rng.randint(1, 3))) for k in range(rng.randint(0, 3))
            }
        space: Any = ExplicitSpace(options, {end})
        if excludes_strong(space, 10):
            proofs += 1
            found = PolicySearch(space, Onward(), Limits(max_expanded=50).start())  # type: ignore[arg-type]
            assert not found.find_strong(), seed
    assert proofs > 50
