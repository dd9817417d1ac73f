"""After the first plan: shorter plans, each validated and written at once."""

import random
from collections.abc import Callable
from functools import partial
from io import StringIO
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rich.console import Console

from epigym import Reading, StateSpace, Task, TaskError, load_problem
from epigym.io.files import read_plan
from epigym.reference import semantics as reference
from epigym.reference.semantics import Validation
from search.agents import Agent, limits
from search.agents.agent import Steps
from search.agents.anytime import ShorterPlans
from search.agents.limits import Limits
from search.agents.result import Costs, SearchResult, SearchStatus
from search.agents.run import SearchRun
from search.heuristics.belief_relaxation import RelaxedPlan
from search.heuristics.goal_count import GoalCount
from search.heuristics.heuristic import Heuristic
from search.planning import improvement, planner
from search.planning.configuration import Configuration
from search.planning.options import SearchOptions
from search.planning.plan_files import make_unverified_path
from search.planning.planner import find_plan, find_plan_here
from search.planning.single_search import FinishedSearch
from search.processes.channel import ProgressChannel
from search.reports.display import format_duration, show_results
from tests.helpers.strategies import telling_task
from tests.helpers.tasks import coin, counter, hopeless, trivial

SHORTEST = ("lift", "look", "shout")
ANYTIME, SHORTENED = SearchOptions(anytime=True, shorten=False), SearchOptions(anytime=True)


class Wordy(Agent):
    """Returns a plan for the coin with redundant actions."""

    looks = 4

    def search(self, run: SearchRun) -> Steps:
        yield
        run.expanded, run.generated, run.distinct = 1000, 2000, 2
        run.plan = lambda: ("lift", *["look"] * self.looks, "shout")  # type: ignore[method-assign]
        return SearchStatus.SOLVED


WORDY = Configuration.of({"_target_": "tests.search.planning.test_anytime.Wordy"})


class Slow(ShorterPlans):
    """A search whose plans get shorter by one action; records its calls."""

    calls: list[tuple[float, int]]

    def next(self, weight: float, length: int) -> SearchStatus:
        self.calls.append((weight, length))
        if length == len(SHORTEST):
            return SearchStatus.UNSOLVABLE
        self.run.plan = lambda: ("lift", *["look"] * (length - 3), "shout")  # type: ignore[method-assign]
        return SearchStatus.SOLVED


@pytest.fixture
def slow(monkeypatch: pytest.MonkeyPatch) -> type[Slow]:
    """Search for shorter plans without action elimination."""
    Slow.calls = []
    monkeypatch.setattr(Wordy, "looks", 7)
    monkeypatch.setattr(improvement, "ShorterPlans", Slow)
    monkeypatch.setattr(improvement, "eliminate_actions", lambda space, plan, may_execute: plan)
    return Slow


def failing(kind: type[BaseException], *message: str) -> Callable[..., SearchStatus]:
    def fails(*_: object) -> SearchStatus:
        raise kind(*message)

    return fails


def test_weights_fall_and_plans_get_shorter(slow: type[Slow]) -> None:
    result = find_plan(coin(), WORDY, ANYTIME)
    assert slow.calls == [(5.0, 9), (3.0, 8), (2.0, 7), (1.0, 6), (1.0, 5), (1.0, 4), (1.0, 3)]
    assert (result.status, result.plan, result.optimal) == (SearchStatus.SOLVED, SHORTEST, True)
    lengths, seconds = zip(*result.history, strict=True)
    assert lengths == (9, 8, 7, 6, 5, 4, 3)
    assert seconds[0] > 0
    assert list(seconds) == sorted(seconds)
    assert result.costs.validation_seconds <= seconds[-1]


def test_redundant_actions_are_left_out_and_counts_are_those_of_both_searches() -> None:
    result = find_plan(coin(), WORDY, SHORTENED)
    assert (result.plan, result.optimal, result.heuristic) == (SHORTEST, True, None)
    assert [length for length, _ in result.history] == [6, 3]
    alone = ShorterPlans(space := StateSpace(coin()), RelaxedPlan(space), Limits().start())
    assert alone.next(5.0, 3) is SearchStatus.UNSOLVABLE
    assert (result.expanded, result.generated) == (1000 + alone.run.expanded, 2000 + alone.run.generated)
    assert result.distinct == max(2, alone.run.distinct)
    assert result.costs.build_seconds > 0
    once = find_plan(coin(), WORDY, SearchOptions(shorten=False))
    assert (once.plan_length, [length for length, _ in once.history], once.optimal) == (6, [6], False)


@pytest.mark.parametrize(
    ("end", "message"), [(MemoryError, ""), (TaskError, "no search for shorter plans beyond this: no")]
)
def test_an_error_keeps_the_best_plan(end: type[Exception], message: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ShorterPlans, "next", failing(end, "no"))
    result = find_plan(coin(), WORDY, SHORTENED)
    assert (result.status, result.plan, result.optimal) == (SearchStatus.SOLVED, SHORTEST, False)
    assert result.message == message


def test_limits_are_for_both_searches_together() -> None:
    greedy = Configuration.of("hfs", "goal_count")
    first, enough = find_plan(counter(), greedy), find_plan(counter(), greedy, ANYTIME)
    assert (first.optimal, enough.optimal) == (False, True)
    for nodes in range(first.expanded - 1, enough.expanded + 1):
        result = find_plan_here(counter(), greedy, SearchOptions(Limits(nodes), anytime=True))
        is_found = nodes >= first.expanded
        status = SearchStatus.SOLVED if is_found else SearchStatus.EXPANSION_LIMIT
        assert (result.status, result.expanded, bool(result.history)) == (status, nodes, is_found)
        assert result.optimal == (nodes == enough.expanded)


def test_the_time_limit_holds_while_shorter_plans_are_searched_and_not_while_one_is_executed(slow: type[Slow]) -> None:
    said: list[float | None] = []

    class Recorder(ProgressChannel):
        def set_time_limit(self, seconds: float | None) -> None:
            said.append(seconds)

    def validate(result: SearchResult) -> SearchResult:
        assert said[-1] is None
        return result

    plan = ("lift", "look", "look", "look", "shout")
    spent = Costs(
        load_seconds=9000.0, import_seconds=500.0, build_seconds=500.0, search_seconds=6000.0, validation_seconds=9000.0
    )
    first = SearchResult(SearchStatus.SOLVED, "wordy", "coin", plan, costs=spent)
    found = FinishedSearch(first, StateSpace(coin()))
    improvement.improve_plan(found, SearchOptions(Limits(time_limit=10_000.0)), validate, Recorder())
    assert [seconds is None for seconds in said] == [False, True, False, True, False]
    left = [seconds for seconds in said if seconds is not None]
    assert 3000.0 >= left[0] > left[1] > left[2]


def test_executing_plans_again_takes_nothing_from_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 0.0

    def validate(task: Task, plan: tuple[str, ...], *, consistent_beliefs: bool) -> Validation:
        nonlocal now
        now += 100.0
        return reference.validate(task, plan)

    monkeypatch.setattr(planner, "validate", validate)
    for module in (planner, limits):
        monkeypatch.setattr(module, "perf_counter", lambda: now)
    result = find_plan_here(coin(), WORDY, SearchOptions(Limits(time_limit=50.0), anytime=True, shorten=False))
    assert (result.optimal, result.history) == (True, ((6, 100.0), (3, 200.0)))
    assert (result.costs.search_seconds, result.costs.validation_seconds) == (0.0, 200.0)


@pytest.mark.parametrize(
    ("task", "configuration", "length"),
    [(hopeless, "hfs/goal_count", None), (trivial, "hfs/goal_count", 0), (counter, "bfs", 4), (counter, "idfs", 4)],
)
def test_shortest_plans_stay(
    task: Callable[[], Task], configuration: str, length: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(improvement, "improve_plan", failing(AssertionError))
    result = find_plan(task(), Configuration.parse(configuration), ANYTIME)
    is_found = length is not None
    assert (result.plan_length, result.optimal, len(result.history)) == (length, is_found, int(is_found))


def test_it_goes_on_in_the_same_space_with_the_same_heuristic(monkeypatch: pytest.MonkeyPatch) -> None:
    """An uninformed search continues with `h_ff`."""
    asked: list[tuple[StateSpace, type[Heuristic]]] = []
    made: list[StateSpace] = []

    class Watched(ShorterPlans):
        def __init__(self, space: StateSpace, heuristic: Heuristic, *more: Any) -> None:
            asked.append((space, type(heuristic)))
            super().__init__(space, heuristic, *more)

    def make_space(configuration: Configuration, task: Task, *, consistent_beliefs: bool) -> StateSpace:
        made.append(StateSpace(task))
        return made[-1]

    monkeypatch.setattr(improvement, "ShorterPlans", Watched)
    monkeypatch.setattr(Configuration, "make_space", make_space)
    dfs: dict[str, Any] = {"name": "interleaved", "components": [{"agent": "dfs"}]}
    for agent, heuristic, kind in ((dfs, None, RelaxedPlan), ("hfs", "goal_count", GoalCount)):
        result = find_plan(coin(), Configuration.of(agent, heuristic), ANYTIME)
        assert (result.plan, result.optimal, asked.pop()) == (SHORTEST, True, (made.pop(), kind))
    assert not made


class Stopped(BaseException):
    """Stands for a signal."""


@pytest.mark.parametrize("stop", [1, 2, 7])
def test_only_verified_plans(stop: int, slow: type[Slow], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file, executed = tmp_path / "plan.json", list[int]()

    def validate(task: Task, plan: tuple[str, ...], *, consistent_beliefs: bool) -> Validation:
        executed.append(len(plan))
        if len(executed) == stop:
            raise Stopped
        return reference.validate(task, plan)

    monkeypatch.setattr(planner, "validate", validate)
    with pytest.raises(Stopped):
        find_plan(coin(), WORDY, ANYTIME, file)
    assert executed == list(range(9, 9 - stop, -1))
    # What was being executed is beside the file, and the one before is in it.
    assert len(read_plan(make_unverified_path(file))) == executed[-1]
    assert [len(read_plan(file))] == executed[-2:-1] if stop > 1 else not file.exists()


@pytest.mark.parametrize("is_kept", [True, False])
def test_an_interruption_names_the_best_plan(is_kept: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "plan.json" if is_kept else None
    monkeypatch.setattr(ShorterPlans, "next", failing(KeyboardInterrupt))
    kept = rf"is in {file}$" if is_kept else "is lost: name a file to keep it$"
    with pytest.raises(KeyboardInterrupt, match=f"^the best plan until now {kept}"):
        find_plan(coin(), WORDY, SHORTENED, file)
    assert file is None or read_plan(file) == list(SHORTEST)


def test_invalid_plans_leave_the_file(slow: type[Slow], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def validate(task: Task, plan: tuple[str, ...], *, consistent_beliefs: bool) -> Validation:
        return Validation(valid=len(plan) > 7, step=2, reason="step 2: no", inconsistent_agents=(str(len(plan)),))

    monkeypatch.setattr(planner, "validate", validate)
    file = tmp_path / "plan.json"
    result = find_plan(coin(), WORDY, ANYTIME, file)
    assert (result.status, result.optimal, result.inconsistent_agents) == (SearchStatus.ERROR, False, ("7",))
    assert result.message == f"Wordy returned a plan that is not valid (see {file}.unverified): step 2: no"
    assert [length for length, _ in result.history] == [9, 8]
    assert (len(read_plan(file)), len(read_plan(make_unverified_path(file)))) == (8, 7)
    assert slow.calls == [(5.0, 9), (3.0, 8)]


class Lost(Agent):
    """A random walk of at most 40 actions."""

    def search(self, run: SearchRun) -> Steps:
        yield
        space, rng = run.space, random.Random(len(run.space.task.actions))
        state, plan = space.initial, list[str]()
        while len(plan) < 40 and not space.is_goal([state])[0]:
            action = rng.choice(np.flatnonzero(space.applicable([state])[0]).tolist())
            state = space.successor(state, action)
            plan.append(space.task.actions[action].name)
        run.plan = lambda: tuple(plan)  # type: ignore[method-assign]
        return SearchStatus.SOLVED if space.is_goal([state])[0] else SearchStatus.EXPANSION_LIMIT


@pytest.mark.slow
def test_on_small_tasks_the_best_plan_is_as_short_as_breadth_first_search_finds_it() -> None:
    lost = Configuration.of({"_target_": "tests.search.planning.test_anytime.Lost"})
    optimal, removed, searched = 0, 0, 0
    for seed, shorten in product(range(150), (True, False)):
        task = telling_task(random.Random(seed))
        try:
            options = SearchOptions(Limits(max_expanded=300), anytime=True, shorten=shorten)
            result = find_plan_here(task, lost, options)
            best = find_plan_here(task, Configuration.of("bfs"), SearchOptions(Limits(max_expanded=300))).plan_length
        except (TaskError, IndexError):  # an observer that designated worlds disagree about; a dead end
            continue
        if result.plan is None or best is None:
            continue
        assert reference.validate(task, result.plan).valid
        lengths = [length for length, _ in result.history]
        assert lengths == sorted(set(lengths), reverse=True)
        assert lengths[-1] == len(result.plan) >= best
        assert not result.optimal or len(result.plan) == best
        optimal += result.optimal
        removed += shorten and len(lengths) > 1
        searched += not shorten and len(lengths) > 1
    assert optimal > 100
    assert removed > 15
    assert searched > 2


def test_shorter_plans_keep_beliefs_consistent_too() -> None:
    """With this reading, 3 actions suffice if beliefs may become inconsistent, else 5."""
    task = load_problem("coin_in_the_box/pl_5", Reading("update_model"))
    free = find_plan(task, Configuration.of("dfs"), ANYTIME)
    assert (free.plan_length, free.optimal, bool(free.inconsistent_agents)) == (3, True, True)
    result = find_plan(task, Configuration.of("dfs"), SearchOptions(anytime=True, consistent_beliefs=True))
    assert (result.plan_length, result.optimal, result.inconsistent_agents) == (5, True, ())
    assert result.history[0][0] > 5
    assert reference.validate(task, result.plan, consistent_beliefs=True).valid


def show(*results: SearchResult, width: int = 100) -> list[str]:
    console = Console(file=StringIO(), width=width)
    show_results(console, results)
    return console.file.getvalue().splitlines()


def test_results_are_shown() -> None:
    def rows(*results: SearchResult) -> dict[str, list[str]]:
        lines = [line.strip("│").split("│") for line in show(*results) if line.startswith("│")]
        return {name.strip(): [cell.strip() for cell in cells] for name, *cells in lines}

    solved = partial(SearchResult, SearchStatus.SOLVED, "dfs", "coin")
    better = solved(SHORTEST, optimal=True, history=((6, 0.25), (4, 0.5), (3, 2.0)))
    first = solved(("lift",) * 6, history=((6, 0.25),))
    none = SearchResult(SearchStatus.UNSOLVABLE, "bfs", "coin")
    found = rows(better, first, none)
    assert found["plan length"] == ["3", "6", "–"]
    assert found["shortest"] == ["proved", "not proved", "–"]
    assert found["first plan"] == ["6 after 250 ms", "6 after 250 ms", "–"]
    assert found["best plan"] == ["3 after 2 s", "6 after 250 ms", "–"]
    assert {"first plan", "best plan"}.isdisjoint(rows(first, none))


def test_names_and_messages_are_shown_as_they_are() -> None:
    marked, mark = partial(SearchResult, SearchStatus.SOLVED, "[red]", "[/x]"), "[/x] [red] :smile:"
    lines = show(marked((mark,), model=mark, message=mark, inconsistent_agents=("[red]", "[/x]")))
    note = "note: the plan relies on inconsistent beliefs of these agents at its end: [red], [/x]"
    title = "plan of [red] (1 action, re-executed by the reference):"
    assert lines[-5:] == [f"[red] uses the model {mark}", f"[red]: {mark}", note, title, f"   1. {mark}"]


def test_durations_have_no_exponents() -> None:
    durations = [999.4, 999.6, 1234.5, 0.9996, 0.0123, 2e-5]
    assert list(map(format_duration, durations)) == ["999 s", "1,000 s", "1,234 s", "1,000 ms", "12.3 ms", "20 µs"]


def test_results_side_by_side_fit_into_80_columns_and_say_whose_they_are() -> None:
    labels = [f"hfs_preferred/split_goal_count_{number}" for number in range(5)]
    lines = show(*(SearchResult(SearchStatus.UNSOLVABLE, label, "coin") for label in labels), width=80)
    assert max(map(len, lines)) <= 80
    block = lines[lines.index("status") + 1 :][:5]
    assert [line.split() for line in block] == [[label, "unsolvable"] for label in labels]
