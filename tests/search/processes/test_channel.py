"""Limits are enforced for all agents and heuristics: a search that does not end by itself is killed."""

import multiprocessing
import os
import sys
import threading
from collections.abc import Callable, Generator
from contextlib import closing
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import psutil
import pytest

from epigym import EpigymError, ModelError, Task
from epigym.language import Reading
from epigym.reference import semantics
from epigym.reference.semantics import Validation
from search.agents.limits import Limits
from search.agents.result import Costs, SearchResult, SearchStatus, TaskSize
from search.evaluation.batch import RecordBatch
from search.evaluation.grid import make_records
from search.evaluation.suites import list_problems
from search.exploring.background_search import search_in_background
from search.planning import planner
from search.planning.configuration import Configuration
from search.planning.options import SearchOptions
from search.planning.planner import find_plan, find_plan_here
from search.processes.channel import Message, may_be_copied
from search.processes.supervisor import Job, JobResult, watch
from tests.helpers import jobs
from tests.helpers.clocks import Clock, pass_once_written
from tests.helpers.stuck import BLOCK
from tests.helpers.tasks import COIN, coin, trivial

BFS = Configuration.of("bfs")
PLACES = {"building": 0, "first evaluation": 1, "later evaluation": 2}
PATIENT = SearchOptions(Limits(time_limit=1000.0))


def stuck(started: Path, **more: Any) -> Configuration:
    return Configuration.of("hfs", {"_target_": "tests.helpers.stuck.Stuck", "started": str(started), **more})


def deaf(started: Path, **more: Any) -> Configuration:
    return Configuration.of({"_target_": "tests.helpers.stuck.Deaf", "started": str(started), **more})


def failing(what: str) -> Configuration:
    return Configuration.of("hfs", {"_target_": "tests.helpers.stuck.Failing", "what": what})


def plan(configuration: Configuration, limits: Limits, folder: Path) -> SearchResult:
    return find_plan(coin(), configuration, SearchOptions(limits))


def evaluate(configuration: Configuration, limits: Limits, folder: Path) -> SearchResult:
    (folder / "coin.txt").write_text(COIN)
    problems = list_problems([str(folder / "coin.txt")], Reading())
    records = make_records(problems, [configuration], SearchOptions(replace(limits, memory_limit=1 << 33)))
    [(_, result)] = RecordBatch(records, folder, parallel=1, wall_limit=1e6, memory_limit=1 << 33).run([0])
    return result


def explore(configuration: Configuration, limits: Limits, folder: Path) -> SearchResult:
    *_, result = search_in_background(coin(), configuration, SearchOptions(limits))
    assert result is not None
    return result


Search = Callable[[Configuration, Limits, Path], SearchResult]


def search_until_late(
    search: Search, configuration: Configuration, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> SearchResult:
    """The result of a search whose time limit passes once it has reached the place where it hangs."""
    started = folder / "started"
    pass_once_written(started, 2000.0, monkeypatch)
    result = search(configuration, Limits(time_limit=1000.0), folder)
    assert result.status is SearchStatus.TIME_LIMIT
    assert not psutil.pid_exists(int(started.read_text()))
    return result


def memory_and_blocks_beyond() -> tuple[int, int]:
    """A memory limit above that of a copy of this process, and a number of blocks that exceeds it."""
    most = psutil.Process().memory_info().rss + BLOCK // 2
    return most, most // BLOCK + 1


@pytest.mark.parametrize("place", PLACES)
def test_a_heuristic_that_takes_too_long_is_ended(place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    result = search_until_late(plan, stuck(tmp_path / "started", at=PLACES[place]), tmp_path, monkeypatch)
    assert (result.label, result.plan, result.size.actions) == ("hfs/Stuck", None, 3)
    assert result.message == "killed from outside at the time limit"
    assert result.distinct == (place == "later evaluation")  # what was told before it was stuck


@pytest.mark.parametrize("search", [evaluate, explore])
def test_searches_of_evaluations_and_of_the_page_are_ended(
    search: Search, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    search_until_late(search, stuck(tmp_path / "started"), tmp_path, monkeypatch)


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.slow
def test_a_heuristic_that_takes_too_much_memory_is_ended(place: str, tmp_path: Path) -> None:
    most, blocks = memory_and_blocks_beyond()
    configuration = stuck(tmp_path / "started", fills=blocks, at=PLACES[place])
    result = plan(configuration, Limits(time_limit=None, memory_limit=most), tmp_path)
    assert (result.status, result.plan) == (SearchStatus.MEMORY_LIMIT, None)
    assert result.costs.peak_bytes >= most


def test_an_agent_that_ignores_limits_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    search_until_late(plan, deaf(tmp_path / "started"), tmp_path, monkeypatch)
    most, blocks = memory_and_blocks_beyond()
    limits = Limits(time_limit=None, memory_limit=most)
    assert plan(deaf(tmp_path / "started", fills=blocks), limits, tmp_path).status is SearchStatus.MEMORY_LIMIT


def test_the_best_plan_stays_when_the_search_for_shorter_ones_is_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started, file = tmp_path / "started", tmp_path / "plan.json"
    pass_once_written(started, 2000.0, monkeypatch)
    result = find_plan(coin(), stuck(started, at=4), replace(PATIENT, anytime=True), file)
    assert (result.status, result.plan) == (SearchStatus.SOLVED, ("lift", "look", "shout"))
    assert (result.optimal, len(result.history), file.exists()) == (False, 1, True)
    assert not psutil.pid_exists(int(started.read_text()))


@pytest.mark.parametrize(
    ("configuration", "error", "message", "place"),
    [
        (failing("value"), ValueError, "three", "in __init__"),
        (failing("unportable"), EpigymError, "UnportableError: 1 and 2", "in __init__"),
        (
            Configuration.of("hfs", {"name": "learned", "model": "gone"}),
            ModelError,
            "there is no model gone",
            "in _read_bytes",
        ),
    ],
)
def test_errors_of_a_process(configuration: Configuration, error: type[Exception], message: str, place: str) -> None:
    with pytest.raises(error) as caught:
        find_plan(coin(), configuration, PATIENT)
    assert str(caught.value).startswith(message)
    assert place in caught.value.__notes__[0]  # where it happened


@pytest.mark.parametrize("options", [SearchOptions(), PATIENT])
def test_a_heuristic_that_cannot_get_memory_ends_at_the_memory_limit(options: SearchOptions) -> None:
    result = find_plan(coin(), failing("memory"), options)
    assert (result.status, result.size) == (SearchStatus.MEMORY_LIMIT, TaskSize.of(coin()))


def test_without_limits_there_is_no_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(planner, "watch")
    assert find_plan(coin(), BFS).status is SearchStatus.SOLVED
    with pytest.raises(NameError):
        find_plan(coin(), BFS, PATIENT)


@pytest.mark.parametrize("kept", [True, False])
def test_an_interruption_names_the_best_plan(kept: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plan = SearchResult(SearchStatus.SOLVED, "bfs", "coin", plan=("lift",)) if kept else None

    def interrupt(*_: Any, **__: Any) -> Generator[Message, None, None]:
        yield Message(plan)
        raise KeyboardInterrupt

    monkeypatch.setattr(planner, "watch", interrupt)
    with pytest.raises(KeyboardInterrupt) as caught:
        find_plan(coin(), BFS, PATIENT, tmp_path / "plan.json")
    assert str(caught.value) == (f"the best plan until now is in {tmp_path / 'plan.json'}" if kept else "")


def test_a_search_that_ends_by_itself_is_not_killed() -> None:
    """A goal at the start takes precedence over limits; the status of a result is that of its search."""
    limited = find_plan(coin(), BFS, SearchOptions(Limits(1, 1000.0)))
    assert replace(limited, costs=Costs()) == SearchResult(
        SearchStatus.EXPANSION_LIMIT, "bfs", coin().name, None, 1, 1, 2, size=TaskSize.of(coin())
    )
    assert find_plan(trivial(), BFS, SearchOptions(Limits(0, 1000.0, 1 << 36))).plan == ()


def test_a_job_may_change_its_time_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Between a message and the None after it, the supervisor checks the limits."""
    clock, pipe = Clock(monkeypatch), tmp_path / "pipe"
    os.mkfifo(pipe)
    job = Job(0, jobs.change_time_limit, (str(pipe), 3000.0), takes_channel=True, time_limit=1000.0)
    with closing(watch([job], parallel=1)) as received:
        assert next(filter(None, received)) == Message("unlimited")
        clock.ahead = 2000.0
        assert next(received) is None
        pipe.write_text("go on")
        assert next(filter(None, received)) == Message("limited")
        assert next(received) is None
        clock.ahead = 4000.0
        *_, ending = received
    assert isinstance(ending, JobResult)
    assert (ending.failure, ending.value) == (SearchStatus.TIME_LIMIT, "limited")
    assert ending.seconds >= 4000.0


def test_no_time_limit_ends_the_reference(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Plans are validated in the searching process, here beyond its time limit."""
    clock, started, pipe = Clock(monkeypatch), tmp_path / "started", tmp_path / "pipe"
    os.mkfifo(pipe)

    def validate(task: Task, plan: tuple[str, ...], *, consistent_beliefs: bool) -> Validation:
        started.touch()
        pipe.read_text()
        return semantics.validate(task, plan)

    monkeypatch.setattr(planner, "validate", validate)
    monkeypatch.setattr(planner, "may_be_copied", lambda: True)  # the process has this function then
    with closing(planner.watch_search(partial(find_plan_here, coin(), BFS), PATIENT)) as received:
        while not started.exists():
            next(received)
        for ahead in (0.0, 0.0, 2000.0):  # messages are received between two None, and limits checked
            clock.ahead = ahead
            assert next(each for each in received if not isinstance(each, Message)) is None
        pipe.write_text("go on")
        *_, ending = received
    assert isinstance(ending, JobResult)
    assert (ending.failure, ending.value.status) == (None, SearchStatus.SOLVED)


def copying() -> list[bool]:
    """Whether this process may be forked: alone, with another thread, and with torch."""
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
