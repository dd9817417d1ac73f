"""Plans shortened with a share of the search's work: shorter, valid, within the allowance, and only where asked."""

import random
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from epigym import StateSpace, Task, TaskError
from epigym.reference import semantics as reference
from search.agents import Agent, limits
from search.agents.agent import Steps
from search.agents.interleaved import Work
from search.agents.limits import Limits
from search.agents.result import Costs, SearchResult, SearchStatus
from search.agents.run import SearchRun
from search.planning import planner, shortening
from search.planning.configuration import Configuration
from search.planning.options import SearchOptions
from search.planning.planner import find_plan_here
from search.planning.shortening import MOST_SECONDS, SHARE, Allowance, replan_windows, shorten_plan, shorten_result
from search.planning.single_search import FinishedSearch, search_in_process
from search.policies.planner import plan as search_plan
from tests.helpers.graph_space import GRAPHS, Edges, GraphSpace, reaches, shortest
from tests.helpers.strategies import telling_task
from tests.helpers.tasks import coin

AMPLE = 1e9
# 0 to 5 by a; x leads from 1 to 4 by way of 8, which is off the plan; y leads to another goal, 7, in three actions.
WINDOWS: Edges = {
    0: [("a", 1), ("y", 6)],
    1: [("a", 2), ("x", 8)],
    2: [("a", 3)],
    3: [("a", 4)],
    4: [("a", 5)],
    6: [("y", 9)],
    8: [("x", 4)],
    9: [("y", 7)],
}


def allow(space: StateSpace, work: float, limits: Limits | None = None) -> Allowance:
    """An allowance of so much work."""
    allowance = Allowance(space, 0, limits or Limits())
    allowance.most = work
    return allowance


def test_a_window_is_planned_again_by_a_way_off_the_plan_or_to_another_goal() -> None:
    plan = ("a",) * 5
    assert shorten_plan(GraphSpace(WINDOWS, [5]), plan, allow(GraphSpace(WINDOWS, [5]), AMPLE)) == tuple("axxa")
    assert shorten_plan(GraphSpace(WINDOWS, [5, 7]), plan, allow(GraphSpace(WINDOWS, [5, 7]), AMPLE)) == tuple("yyy")


def test_the_work_ends_the_rounds_of_windows() -> None:
    """First the e-states of the plan, then those beside it, as far as they can lead to a shorter plan."""
    lengths, order = [], [0, 1, 2, 3, 6, 8, 9]
    for expansions in range(9):
        space = GraphSpace(WINDOWS, [5, 7])
        steps = [(0, target) for target in (1, 2, 3, 4, 5)]
        lengths.append(len(replan_windows(space, steps, allow(space, expansions * 50.0))))
        assert space.expanded == order[:expansions]
    assert lengths == [5, 5, 5, 5, 5, 5, 4, 3, 3]


@settings(max_examples=50)
@given(edges=GRAPHS, seed=st.integers(0, 99), work=st.sampled_from([0.0, 200.0, 2000.0, AMPLE]))
def test_shortened_plans_reach_a_goal_and_are_never_longer(edges: Edges, seed: int, work: float) -> None:
    goal = seed % len(edges)
    edges = {state: list(dict(pairs).items()) for state, pairs in edges.items()}  # actions are deterministic
    space = GraphSpace(edges, [goal])
    plan = walk(edges, goal, random.Random(seed))
    if plan is None:
        return
    found = shorten_plan(space, plan, allow(space, work))
    assert reaches(edges, [goal], found)
    assert len(found) <= len(plan)
    again = GraphSpace(edges, [goal])
    assert found == shorten_plan(again, plan, allow(again, work))
    if work == 0.0:
        assert found == plan
    if work == AMPLE:
        assert len(found) == shortest(edges, [goal])


def walk(edges: Edges, goal: int, rng: random.Random) -> tuple[str, ...] | None:
    """A random walk that ends at the goal for the first time, or None."""
    state, plan = 0, list[str]()
    while state != goal and len(plan) < 60 and edges[state]:
        name, state = rng.choice(edges[state])
        plan.append(name)
    return tuple(plan) if state == goal else None


class Wandering(Agent):
    """A random walk of at most 60 actions to a goal, which counts as a search of 20 expansions."""

    def search(self, run: SearchRun) -> Steps:
        yield
        space, rng, plan = run.space, random.Random(len(run.space.task.actions)), list[str]()
        state = space.initial
        while len(plan) < 60 and not space.is_goal([state])[0]:
            action = rng.choice(np.flatnonzero(space.applicable([state])[0]).tolist())
            state = space.successor(state, action)
            plan.append(space.task.actions[action].name)
        run.plan = lambda: tuple(plan)  # type: ignore[method-assign]
        run.expanded = 20
        return SearchStatus.SOLVED if space.is_goal([state])[0] else SearchStatus.EXPANSION_LIMIT


WANDERING = Configuration.of({"_target_": f"{__name__}.Wandering"})


def wander(task: Task) -> FinishedSearch | None:
    """The end of a walk to a goal after the first action, or None."""
    try:
        found = search_in_process(task, WANDERING)
    except (TaskError, IndexError):  # an observer that designated worlds disagree about; a dead end
        return None
    return found if found.result.plan else None


def test_on_random_tasks_plans_are_valid_and_the_work_is_within_its_share() -> None:
    shorter = cut = 0
    for found in filter(None, (wander(telling_task(random.Random(seed))) for seed in range(80))):
        result, space = found.result, found.space
        assert space is not None
        assert result.plan is not None
        searched = Work(space).measure()
        allowance = Allowance(space, result.expanded, Limits())
        plan = shorten_plan(space, result.plan, allowance)
        assert reference.validate(space.task, plan).valid
        assert len(plan) <= len(result.plan)
        most = SHARE * (searched + 50.0 * result.expanded)
        worlds = int(space.world_counts(range(len(space))).max())
        one_expansion = 50.0 + len(space.task.actions) * (0.5 + 0.1 * worlds)
        assert Work(space).measure() - searched <= allowance.spent <= most + one_expansion
        shorter += len(plan) < len(result.plan)
        cut += allowance.spent >= most
    assert shorter > 10
    assert cut > 5


def shorten(limits: Limits, **changes: Any) -> SearchResult:
    """The result for the coin with 4 redundant actions, within limits of the search."""
    plan = ("lift", *["look"] * 5, "shout")
    first = SearchResult(SearchStatus.SOLVED, "wordy", "coin", plan, expanded=1000, message="decided by it")
    return shorten_result(FinishedSearch(replace(first, **changes), StateSpace(coin())), limits, 0.25)


def test_the_result_has_the_first_plan_in_its_history_and_the_time_in_its_costs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    clocks = iter([0.0, *[0.5] * 10_000])
    monkeypatch.setattr(limits, "perf_counter", lambda: next(clocks))
    result = shorten(Limits(time_limit=None))
    assert (result.plan, result.history, result.first_length) == (("lift", "look", "shout"), ((7, 0.25),), 7)
    assert (result.costs.shortening_seconds, result.costs.search_seconds) == (0.5, 0.0)
    assert (result.expanded, result.message) == (1000, "decided by it")


@pytest.mark.parametrize(
    ("time_limit", "spent", "seconds", "is_stopped"),
    [(None, 0.0, MOST_SECONDS, True), (None, 0.0, 0.99 * MOST_SECONDS, False), (600.0, 599.5, 0.11, True),
     (600.0, 599.5, 0.09, False), (600.0, 601.0, 0.0, True)],
)  # fmt: skip
def test_the_clock_stops_shortening_and_the_message_says_so(
    time_limit: float | None, spent: float, seconds: float, is_stopped: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    clocks = iter([0.0, *[seconds] * 10_000])
    monkeypatch.setattr(limits, "perf_counter", lambda: next(clocks))
    result = shorten(Limits(time_limit=time_limit), costs=Costs(import_seconds=9.5, search_seconds=spent - 9.5))
    note = f"; shortening stopped after {seconds:.1f} s (time_limit)" if is_stopped else ""
    assert (len(result.plan or ()), result.message) == (7 if is_stopped else 3, f"decided by it{note}")


def test_expansions_and_memory_stop_shortening() -> None:
    spent, left = shorten(Limits(max_expanded=1000)), shorten(Limits(max_expanded=1100))
    assert (len(spent.plan or ()), len(left.plan or ()), left.message) == (7, 3, spent.message)
    full = shorten(Limits(memory_limit=1))
    assert (len(full.plan or ()), full.history) == (7, ())
    assert full.message == "decided by it; shortening stopped after 0.0 s (memory_limit)"


@pytest.mark.parametrize("error", [MemoryError, TaskError])
def test_an_error_keeps_the_plan(error: type[Exception], monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise error("no")

    monkeypatch.setattr(StateSpace, "expand", fail)
    assert shorten(Limits()).plan == ("lift", "look", "shout")  # without redundant actions
    monkeypatch.setattr(StateSpace, "successors", fail)
    assert len(shorten(Limits()).plan or ()) == 7


@pytest.mark.parametrize("plan", [("shout", "lift", "look"), ("lift",), ("lift", "sing")])
def test_an_invalid_plan_is_not_repaired(plan: tuple[str, ...]) -> None:
    assert shorten(Limits(), plan=plan).plan == plan


class Wordy(Agent):
    """Returns a plan for the coin with redundant actions."""

    def search(self, run: SearchRun) -> Steps:
        yield
        run.expanded = 1000
        run.plan = lambda: ("lift", *["look"] * 5, "shout")  # type: ignore[method-assign]
        return SearchStatus.SOLVED


WORDY = {"_target_": f"{__name__}.Wordy"}


def test_it_is_on_unless_it_is_turned_off_and_one_plan_is_validated(monkeypatch: pytest.MonkeyPatch) -> None:
    validated: list[int] = []

    def validate(task: Task, plan: tuple[str, ...], *, consistent_beliefs: bool) -> reference.Validation:
        validated.append(len(plan))
        return reference.validate(task, plan)

    monkeypatch.setattr(planner, "validate", validate)
    for verify in ("bounded", "none"):
        on, off = (
            find_plan_here(coin(), Configuration.of(WORDY), SearchOptions(verify=verify, shorten=shorten))
            for shorten in (True, False)
        )
        assert (on.plan_length, on.first_length) == (3, 7)
        assert (off.plan_length, off.first_length, off.costs.shortening_seconds) == (7, 7, 0.0)
    assert validated == [3, 7]
    assert search_plan(coin(), WORDY).plan_length == 3
    assert search_plan(coin(), WORDY, shorten=False).plan_length == 7


def test_shortest_plans_stay_as_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise AssertionError("shortened")

    monkeypatch.setattr(shortening, "shorten_result", fail)
    result = find_plan_here(coin(), Configuration.of("bfs"), SearchOptions())
    assert (result.plan_length, result.optimal, result.costs.shortening_seconds) == (3, True, 0.0)
