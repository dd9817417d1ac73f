"""Limits are enforced for all agents and heuristics: a search that does not end by itself is killed."""

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
from search.planning.planner import find_plan
from search.processes.channel import Message, may_be_copied
from search.processes.supervisor import GRACE_SECONDS, Job, supervise
from tests.helpers import jobs
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


def until_started(search: Search, configuration: Configuration, folder: Path) -> SearchResult:
    """The result with the least of growing time limits within which the search reaches the place where it hangs."""
    started = folder / "started"
    for limit in (0.1 * 4**power for power in itertools.count()):
        result = search(configuration, Limits(time_limit=limit), folder)
        assert result.status is SearchStatus.TIME_LIMIT
        if started.exists() and started.read_text():
            break
    assert not psutil.pid_exists(int(started.read_text()))
    return result


def memory_and_blocks_beyond() -> tuple[int, int]:
    """A memory limit above that of a copy of this process, and a number of blocks that exceeds it."""
    most = psutil.Process().memory_info().rss + BLOCK // 2
    return most, most // BLOCK + 1


@pytest.mark.parametrize("place", PLACES)
def test_a_heuristic_that_takes_too_long_is_ended(place: str, tmp_path: Path) -> None:
    result = until_started(plan, stuck(tmp_path / "started", at=PLACES[place]), tmp_path)
    assert (result.label, result.plan, result.size.actions) == ("hfs/Stuck", None, 3)
    assert result.message == "killed from outside at the time limit"
    assert result.distinct == (place == "later evaluation")  # what was told before it was stuck


@pytest.mark.parametrize("search", [evaluate, explore])
def test_searches_of_evaluations_and_of_the_page_are_ended(search: Search, tmp_path: Path) -> None:
    until_started(search, stuck(tmp_path / "started"), tmp_path)


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.slow
def test_a_heuristic_that_takes_too_much_memory_is_ended(place: str, tmp_path: Path) -> None:
    most, blocks = memory_and_blocks_beyond()
    configuration = stuck(tmp_path / "started", fills=blocks, at=PLACES[place])
    result = plan(configuration, Limits(time_limit=None, memory_limit=most), tmp_path)
    assert (result.status, result.plan) == (SearchStatus.MEMORY_LIMIT, None)
    assert result.costs.peak_bytes >= most


def test_an_agent_that_ignores_limits_is_ended(tmp_path: Path) -> None:
    until_started(plan, deaf(tmp_path / "started"), tmp_path)
    most, blocks = memory_and_blocks_beyond()
    limits = Limits(time_limit=None, memory_limit=most)
    assert plan(deaf(tmp_path / "started", fills=blocks), limits, tmp_path).status is SearchStatus.MEMORY_LIMIT


def test_the_best_plan_stays_when_the_search_for_shorter_ones_is_ended(tmp_path: Path) -> None:
    started, file = tmp_path / "started", tmp_path / "plan.json"
    for limit in (0.5 * 4**power for power in itertools.count()):
        options = SearchOptions(Limits(time_limit=limit), anytime=True)
        result = find_plan(coin(), stuck(started, at=4), options, file)
        if started.exists():
            break
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


def test_a_job_may_change_its_time_limit(tmp_path: Path) -> None:
    started = tmp_path / "started"
    for limit in (0.1 * 2**power for power in itertools.count()):
        job = Job(0, jobs.send_and_wait, (2 * limit, str(started)), takes_channel=True, time_limit=limit)
        [ending] = supervise([job], parallel=1)
        assert ending.failure is SearchStatus.TIME_LIMIT
        if started.exists():
            break
    assert ending.value == "late"
    assert ending.seconds >= 3 * limit


def test_no_time_limit_ends_the_reference(monkeypatch: pytest.MonkeyPatch) -> None:
    """Plans are validated in the searching process, here beyond its time limit."""
    limit = 1.0

    def validate(task: Task, plan: tuple[str, ...], *, consistent_beliefs: bool) -> Validation:
        end = monotonic() + limit + 2 * GRACE_SECONDS
        while monotonic() < end:
            pass
        return semantics.validate(task, plan)

    monkeypatch.setattr(planner, "validate", validate)
    monkeypatch.setattr(planner, "may_be_copied", lambda: True)  # the process has this function then
    result = find_plan(coin(), BFS, SearchOptions(Limits(time_limit=limit)))
    assert result.status is SearchStatus.SOLVED
    assert result.costs.validation_seconds > limit


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
