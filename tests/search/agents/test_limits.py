"""Limits end a search with its counts; results are written to files and read back."""

import itertools
import json
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import psutil
import pytest
from numpy.typing import ArrayLike

from epigym.cli.codes import ExitCode
from epigym.errors import LimitError
from epigym.space.space import Transitions
from search.agents import limits, make_agent, run_agent
from search.agents.limits import Limits, memory_bytes, peak_bytes
from search.agents.result import Costs, SearchResult, SearchStatus, TaskSize
from search.agents.run import Counts, SearchRun
from tests.helpers.graph_space import GraphSpace, TableHeuristic

CHAIN = {state: [("a", state + 1), ("b", 0)] for state in range(300)}


@pytest.mark.parametrize("name", ["bfs", "hfs"])
@pytest.mark.parametrize(
    ("given", "status"),
    [(Limits(time_limit=0), SearchStatus.TIME_LIMIT), (Limits(memory_limit=1), SearchStatus.MEMORY_LIMIT)],
)
def test_limits_end_a_search_before_its_first_expansion(name: str, given: Limits, status: SearchStatus) -> None:
    result = run_agent(make_agent(name), GraphSpace(CHAIN, goals=[300]), TableHeuristic({}), given)
    assert (result.status, result.plan, result.expanded, result.distinct) == (status, None, 0, 1)


def test_a_goal_at_the_start_beats_every_limit() -> None:
    result = run_agent(make_agent("bfs"), GraphSpace(CHAIN, goals=[0]), limits=Limits(0, 0, 1))
    assert (result.status, result.plan, result.expanded, result.distinct) == (SearchStatus.SOLVED, (), 0, 1)


def test_running_out_of_memory_reports_the_counts() -> None:
    class Exhausted(GraphSpace):
        def expand(self, ids: ArrayLike, *, stop_at_goal: bool = False, threads: int = 1) -> Transitions:
            if len(self.expanded) == 7:
                raise MemoryError
            return super().expand(ids, stop_at_goal=stop_at_goal)

    result = run_agent(make_agent("bfs"), Exhausted(CHAIN, goals=[300]))
    assert (result.status, result.expanded, result.generated) == (SearchStatus.MEMORY_LIMIT, 7, 14)


def test_batches_last_a_tenth_of_a_second(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first e-state is expanded alone: its cost is unknown."""
    monkeypatch.setattr(limits, "perf_counter", lambda: 10.0)
    budget = Limits(max_expanded=1000).start()
    assert budget.batch_size(0) == 1
    for now, expanded, size in ((12.0, 1, 1), (12.0, 100, 5), (10.01, 1, 10), (10.01, 90, 900), (10.01, 500, 500)):
        monkeypatch.setattr(limits, "perf_counter", lambda now=now: now)
        assert budget.batch_size(expanded) == size


def test_the_clock_stands_still_in_a_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    times = iter([10.0, 11.0, 99.0])  # the start, and both ends of the pause
    monkeypatch.setattr(limits, "perf_counter", lambda: next(times))
    budget = Limits(time_limit=3.0).start()
    with budget.pause():
        pass
    monkeypatch.setattr(limits, "perf_counter", lambda: 100.0)
    assert (budget.seconds, budget.check(0)) == (2.0, None)
    monkeypatch.setattr(limits, "perf_counter", lambda: 101.0)
    assert budget.check(0) is SearchStatus.TIME_LIMIT


def test_a_search_reports_its_counts_ten_times_a_second(monkeypatch: pytest.MonkeyPatch) -> None:
    times = itertools.count(0.0, 0.03)
    monkeypatch.setattr(limits, "perf_counter", lambda: next(times))
    told: list[Counts] = []
    run = SearchRun(GraphSpace(CHAIN, goals=[300]), Limits().start(), on_progress=told.append)
    for state in range(9):
        run.expand(np.array([state], dtype=np.int32))
    assert told == [Counts(done, 2 * done, done + 1) for done in (0, 4, 8)]


@pytest.mark.parametrize(
    ("text", "count"),
    [(4096, 4096), ("4096 B", 4096), ("2KiB", 2048), ("1.5 GiB", 3 * 2**29), ("8g", 2**33), ("3MB", 3 * 2**20)],
)
def test_amounts_of_memory(text: int | str, count: int) -> None:
    assert memory_bytes(text) == count


@pytest.mark.parametrize(
    ("text", "reason"), [("8", "has no unit"), ("8.5", "has no unit"), ("lots", "is not an amount of memory")]
)
def test_an_amount_without_its_unit_is_refused(text: str, reason: str) -> None:
    with pytest.raises(LimitError, match=f"^'{text}' {reason}: write it as 8GiB$"):
        memory_bytes(text)


def test_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(psutil, "virtual_memory", lambda: SimpleNamespace(available=1000))
    assert memory_bytes(None) == 800
    size = peak_bytes() + (1 << 24)
    block = bytearray(b"x") * size
    del block
    assert peak_bytes() > size


SOLVED = SearchResult(
    SearchStatus.SOLVED,
    agent="hfs",
    problem="coin_in_the_box/pl_2",
    plan=("open_a", "peek_a"),
    expanded=2,
    heuristic="goal_count",
    inconsistent_agents=("b",),
    history=((4, 0.75), (2, 1.5)),
    consistent_beliefs=True,
    costs=Costs(0.0625, 2.0, 0.5, 0.25, 0.03125, 0.125, 3.0, 1 << 20),
    size=TaskSize(3, 2, 1),
)
UNSOLVED = replace(
    SOLVED, status=SearchStatus.TIME_LIMIT, agent="bfs", plan=None, heuristic=None, inconsistent_agents=()
)


@pytest.mark.parametrize(("result", "label", "length"), [(SOLVED, "hfs/goal_count", 2), (UNSOLVED, "bfs", None)])
def test_round_trip(result: SearchResult, label: str, length: int | None) -> None:
    data = json.loads(json.dumps(result.to_dict()))
    assert SearchResult.from_dict(data) == result
    assert (data["status"], data["plan_length"], result.label) == (str(result.status), length, label)
    assert (data["costs"]["peak_bytes"], data["size"]["fluents"]) == (1 << 20, 2)


def test_a_plan_that_is_not_valid_has_no_length() -> None:
    assert replace(SOLVED, status=SearchStatus.ERROR).plan_length is None
    assert SOLVED.costs.total_seconds == 2.96875


@pytest.mark.parametrize(("status", "code"), list(zip(SearchStatus, (0, 11, 12, 12, 12, 70), strict=True)), ids=str)
def test_the_verdict_says_which_question_was_answered_and_the_exit_code_how(status: SearchStatus, code: int) -> None:
    assert int(ExitCode.of(status)) == code
    assert replace(SOLVED, status=status, consistent_beliefs=False).verdict == str(status)
    question = " (with consistent beliefs)" if code in (0, 11) else ""
    assert replace(SOLVED, status=status).verdict == f"{status}{question}"
