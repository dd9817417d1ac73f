"""One configuration on one task: the search in this process, and what became of one in a process of its own."""

from __future__ import annotations

from dataclasses import asdict, replace
from time import perf_counter

from epigym.errors import EpigymError
from epigym.task.task import Task
from search.agents.limits import Limits, peak_bytes
from search.agents.result import SearchResult, SearchStatus
from search.agents.run import Counts
from search.planning.configuration import Configuration
from search.processes.processes import Ending
from search.processes.watched import NOBODY, Watcher


def search_alone(
    task: Task,
    configuration: Configuration,
    limits: Limits | None = None,
    forbid_collapse: bool = False,
    watcher: Watcher = NOBODY,
) -> SearchResult:
    """Search for a plan of `task` in this process; nobody has re-executed the plan.

    To build space and heuristic takes of the time limit. When a plan was found the watcher's clock stands still.
    """
    agent, (agent_name, heuristic_name) = configuration.make_agent(), configuration.names
    start = perf_counter()
    try:
        space = configuration.make_space(task, forbid_collapse=forbid_collapse)
        heuristic = configuration.make_heuristic(space)
    except MemoryError:
        return _failed(configuration, task.name, SearchStatus.MEMORY_LIMIT, "", forbid_collapse)
    build_seconds = perf_counter() - start
    tell = None if watcher is NOBODY else watcher.tell
    result = agent.search(space, heuristic, (limits or Limits()).after(build_seconds), tell)
    result = replace(
        result,
        agent=agent_name,
        heuristic=heuristic_name,
        build_seconds=build_seconds,
        peak_bytes=max(result.peak_bytes, peak_bytes()),
    )
    announce(result, watcher)  # now: to free the space may take seconds
    return result


def announce(result: SearchResult, watcher: Watcher) -> None:
    """Say that the search is over: what comes now, with a plan, takes nothing of the time limit."""
    if result.plan is None:
        watcher.tell(result)
    else:
        watcher.pause()


def search_or_fail(task: Task, configuration: Configuration, limits: Limits, forbid_collapse: bool) -> SearchResult:
    """The same; what fails is reported in place of being raised."""
    try:
        return search_alone(task, configuration, limits, forbid_collapse)
    except EpigymError as error:
        message = str(error).partition("\n")[0]
        return _failed(configuration, task.name, SearchStatus.ERROR, message, forbid_collapse)


def outcome(ending: Ending, configuration: Configuration, problem: str, forbid_collapse: bool = False) -> SearchResult:
    """The result of a search that a process made, or one that says how the process failed."""
    result = ending.value
    if not isinstance(result, SearchResult):
        assert ending.failure is not None
        failed = _failed(configuration, problem, ending.failure, ending.message, forbid_collapse)
        counts = result if isinstance(result, Counts) else Counts(0, 0, 0)
        result = replace(failed, search_seconds=ending.seconds, **asdict(counts))
    elif ending.failure and not result.status.is_decided:
        result = replace(result, status=ending.failure, message=ending.message)  # of a portfolio, part of its members
    peak = max(result.peak_bytes, ending.peak_bytes)
    return replace(result, peak_bytes=peak, cpu_seconds=ending.cpu_seconds)


def _failed(
    configuration: Configuration, problem: str, status: SearchStatus, message: str, forbid_collapse: bool
) -> SearchResult:
    agent, heuristic = configuration.names
    return SearchResult(
        status=status,
        agent=agent,
        problem=problem,
        heuristic=heuristic,
        forbid_collapse=forbid_collapse,
        message=message,
    )
