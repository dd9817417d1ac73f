"""Limits hold whatever agents and heuristics do: who does not end by itself is ended."""

from __future__ import annotations

import itertools
import multiprocessing
import sys
import threading
from collections.abc import Callable, Generator
from dataclasses import replace
from pathlib import Path
from time import monotonic
from typing import Any

import psutil
import pytest

from epigym.errors import CheckpointError, EpigymError
from epigym.reference import semantics
from epigym.reference.semantics import Validation
from epigym.task.task import Task
from search.agents.limits import Limits
from search.agents.result import SearchResult, SearchStatus
from search.evaluation.batch import Batch
from search.evaluation.grid import cells_of
from search.evaluation.suites import named_problems
from search.exploring.searching import searched
from search.planning import planner
from search.planning.configuration import Configuration
from search.planning.planner import GRACE_MEMORY, find_plan
from search.processes.processes import GRACE_SECONDS, Job, supervise
from search.processes.watched import Told, may_be_copied
from tests.helpers import jobs
from tests.helpers.stuck import BLOCK
from tests.helpers.tasks import COIN, coin, done
from tests.tools import overruns

PLACES: dict[str, dict[str, Any]] = {
    "building": {"at": 0},
    "the first evaluation": {"at": 1},
    "a later evaluation": {"at": 2},
}


def stuck(started: Path, **more: Any) -> Configuration:
    return Configuration.of("hfs", {"_target_": "tests.helpers.stuck.Stuck", "started": str(started), **more})


def deaf(started: Path, **more: Any) -> Configuration:
    return Configuration.of({"_target_": "tests.helpers.stuck.Deaf", "started": str(started), **more})


def until_started(started: Path, search: Callable[[float], SearchResult]) -> SearchResult:
    """The result within a time limit that leaves time to come to where it is stuck."""
    for limit in (0.1 * 4**power for power in itertools.count()):
        result = search(limit)
        assert result.status is SearchStatus.TIME_LIMIT
        if started.exists() and started.read_text():
            break
    assert not psutil.pid_exists(int(started.read_text()))
    return result


def memory_and_blocks_beyond() -> tuple[int, int]:
    """Bytes that a copy of this process does not hold, and how many blocks are more, whoever takes them."""
    most = psutil.Process().memory_info().rss + BLOCK // 2
    return most, most // BLOCK + 1


@pytest.mark.parametrize("place", PLACES)
def test_a_heuristic_that_takes_too_long_is_ended(place: str, tmp_path: Path) -> None:
    configuration = stuck(tmp_path / "started", **PLACES[place])
    result = until_started(
        tmp_path / "started", lambda limit: find_plan(coin(), configuration, Limits(time_limit=limit))
    )
    assert (result.label, result.plan, result.actions) == ("hfs/Stuck", None, 3)
    assert result.message == "killed from outside at the time limit"
    assert result.distinct == (place == "a later evaluation")  # what was told before it was stuck


@pytest.mark.parametrize("place", PLACES)
def test_a_heuristic_that_takes_too_much_memory_is_ended(place: str, tmp_path: Path) -> None:
    most, blocks = memory_and_blocks_beyond()
    configuration = stuck(tmp_path / "started", fills=blocks, **PLACES[place])
    result = find_plan(coin(), configuration, Limits(time_limit=None, memory_limit=most))
    assert (result.status, result.plan) == (SearchStatus.MEMORY_LIMIT, None)
    assert result.peak_bytes >= most


def test_so_is_an_agent_that_looks_at_no_limits(tmp_path: Path) -> None:
    started = tmp_path / "started"
    until_started(started, lambda limit: find_plan(coin(), deaf(started), Limits(time_limit=limit)))
    most, blocks = memory_and_blocks_beyond()
    limits = Limits(time_limit=None, memory_limit=most)
    assert find_plan(coin(), deaf(started, fills=blocks), limits).status is SearchStatus.MEMORY_LIMIT


def test_the_best_plan_stays_when_the_search_for_shorter_ones_is_ended(tmp_path: Path) -> None:
    started, file = tmp_path / "started", tmp_path / "plan.json"
    for limit in (0.5 * 4**power for power in itertools.count()):
        limits = Limits(time_limit=limit)
        result = find_plan(coin(), stuck(started, at=4), limits, file, anytime=True)
        if started.exists():
            break
    assert (result.status, result.plan) == (SearchStatus.SOLVED, ("lift", "look", "shout"))
    assert (result.optimal, len(result.history), file.exists()) == (False, 1, True)
    assert not psutil.pid_exists(int(started.read_text()))


def test_cells_of_an_evaluation_are_ended_at_their_time_limit(tmp_path: Path) -> None:
    (tmp_path / "coin.txt").write_text(COIN)
    started = tmp_path / "started"

    def search(limit: float) -> SearchResult:
        problems = named_problems([str(tmp_path / "coin.txt")], "default")
        cells = cells_of(problems, [stuck(started)], Limits(time_limit=limit, memory_limit=1 << 33))
        batch = Batch(cells, tmp_path, parallel=1, wall_limit=1e6, memory_limit=1 << 33)
        [(_, result)] = batch.run([0])
        return result

    until_started(started, search)


def test_searches_of_the_page_are_ended_too(tmp_path: Path) -> None:
    started = tmp_path / "started"

    def search(limit: float) -> SearchResult:
        *_, result = searched(coin(), stuck(started), Limits(time_limit=limit), False)
        assert result is not None
        return result

    until_started(started, search)


@pytest.mark.parametrize(
    ("what", "error", "message"),
    [("value", ValueError, "three"), ("unportable", EpigymError, "UnportableError: 1 and 2")],
)
def test_what_goes_wrong_is_raised_as_without_limits(what: str, error: type[Exception], message: str) -> None:
    heuristic = {"_target_": "tests.helpers.stuck.Failing", "what": what}
    with pytest.raises(error) as caught:
        find_plan(coin(), Configuration.of("hfs", heuristic), Limits(time_limit=100.0))
    assert str(caught.value) == message
    assert "in __init__" in caught.value.__notes__[0]  # where it happened


def test_a_checkpoint_that_is_missing_is_an_error_with_limits_too() -> None:
    with pytest.raises(CheckpointError, match=r"there is no checkpoint gone\.ckpt"):
        find_plan(coin(), Configuration.of("hfs", {"name": "gnn", "checkpoint": "gone.ckpt"}), Limits(time_limit=100.0))


@pytest.mark.parametrize("limits", [None, Limits(time_limit=100.0)])
def test_a_heuristic_that_cannot_get_memory_ends_at_the_memory_limit(limits: Limits | None) -> None:
    configuration = Configuration.of("hfs", {"_target_": "tests.helpers.stuck.Failing", "what": "memory"})
    assert find_plan(coin(), configuration, limits).status is SearchStatus.MEMORY_LIMIT


def test_without_limits_there_is_no_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(planner, "watch")
    assert find_plan(coin(), Configuration.of("bfs")).status is SearchStatus.SOLVED
    with pytest.raises(NameError):
        find_plan(coin(), Configuration.of("bfs"), Limits())


@pytest.mark.parametrize("kept", [True, False])
def test_an_interruption_says_where_the_best_plan_is(
    kept: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = SearchResult(SearchStatus.SOLVED, "bfs", "coin", plan=("lift",)) if kept else None

    def interrupted(*_: Any, **__: Any) -> Generator[Told, None, None]:
        yield Told(plan)
        raise KeyboardInterrupt

    monkeypatch.setattr(planner, "watch", interrupted)
    with pytest.raises(KeyboardInterrupt) as caught:
        find_plan(coin(), Configuration.of("bfs"), Limits(), tmp_path / "plan.json", anytime=True)
    assert str(caught.value) == (f"the best plan until now is in {tmp_path / 'plan.json'}" if kept else "")


def test_who_ends_by_himself_is_not_ended(tmp_path: Path) -> None:
    """A goal at the start beats every limit; a result is what the search says it is."""
    assert GRACE_SECONDS > 0
    assert GRACE_MEMORY > 1
    limited = find_plan(coin(), Configuration.of("bfs"), Limits(1, 1000.0))
    assert replace(limited, search_seconds=0, build_seconds=0, peak_bytes=0, cpu_seconds=0) == replace(
        find_plan(coin(), Configuration.of("bfs"), None), status=SearchStatus.EXPANSION_LIMIT, plan=None,
        expanded=1, generated=1, distinct=2, history=(), optimal=False, search_seconds=0, build_seconds=0,
        peak_bytes=0, cpu_seconds=0, validation_seconds=0,
    )  # fmt: skip
    assert find_plan(done(), Configuration.of("bfs"), Limits(time_limit=1000.0, memory_limit=1 << 36)).plan == ()


def test_a_job_may_change_its_time_limit(tmp_path: Path) -> None:
    started = tmp_path / "started"
    for limit in (0.1 * 2**power for power in itertools.count()):
        job = Job(0, jobs.tell_and_wait, (2 * limit, str(started)), tells=True, time_limit=limit)
        [ending] = supervise([job], parallel=1)
        assert ending.failure is SearchStatus.TIME_LIMIT
        if started.exists():
            break
    assert ending.value == "late"
    assert ending.seconds >= 3 * limit


def test_no_time_limit_ends_the_reference(monkeypatch: pytest.MonkeyPatch) -> None:
    """Plans are re-executed in the process that searches, here for longer than it would live past its time limit."""
    limit = 2.0

    def validate(task: Task, plan: tuple[str, ...], *, consistent_beliefs: bool) -> Validation:
        end = monotonic() + limit + 2 * GRACE_SECONDS
        while monotonic() < end:
            pass
        return semantics.validate(task, plan)

    monkeypatch.setattr(planner, "validate", validate)
    monkeypatch.setattr(planner, "may_be_copied", lambda: True)  # the process has this function then
    result = find_plan(coin(), Configuration.of("bfs"), Limits(time_limit=limit))
    assert result.status is SearchStatus.SOLVED
    assert result.validation_seconds > limit


@pytest.mark.reference
def test_every_agent_keeps_its_limits_with_every_heuristic(tmp_path: Path, pytestconfig: pytest.Config) -> None:
    """On a machine that does nothing else: half an hour, as `python -m tests.tools.overruns`."""
    if not pytestconfig.getoption("full"):
        pytest.skip("takes half an hour, see --full")
    checkpoint = tmp_path / "untrained.ckpt"
    [_] = supervise([Job(0, overruns.untrained, (str(checkpoint),))], parallel=1)
    chosen = list(overruns.configurations(str(checkpoint)))
    rows = list(overruns.measure(overruns.large_problem(overruns.PROBLEM), chosen, 5.0, "100MiB"))
    assert [row for row in rows if not row.is_within] == []
    assert len(rows) == 2 * len(chosen)


def copying() -> list[bool]:
    """Whether this process may be copied alone, with another thread, and with torch."""
    sys.modules.pop("torch", None)
    alone = may_be_copied()
    over = threading.Event()
    thread = threading.Thread(target=over.wait)
    thread.start()
    with_a_thread = may_be_copied()
    over.set()
    thread.join()
    sys.modules["torch"] = threading
    return [alone, with_a_thread, may_be_copied()]


def test_a_process_with_threads_is_not_copied() -> None:
    with multiprocessing.get_context("spawn").Pool(1) as fresh:  # other tests may leave threads in this process
        assert fresh.apply(copying) == [True, False, False]
