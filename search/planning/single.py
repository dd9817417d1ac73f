"""One configuration on one task: the search in this process, and what became of one in a process of its own."""

from __future__ import annotations

from dataclasses import asdict, replace
from time import perf_counter
from typing import NamedTuple, TypeVar

from epigym.space.space import StateSpace
from epigym.task.task import Task
from search.agents.limits import Limits, peak_bytes
from search.agents.result import SearchResult, SearchStatus
from search.agents.run import Counts
from search.heuristics.heuristic import Heuristic
from search.planning.configuration import Configuration
from search.processes.processes import Ending
from search.processes.watched import NOBODY, Watcher

Result = TypeVar("Result", bound=SearchResult)


class Searched(NamedTuple):
    """A result, with the space and the heuristic for a further search; None when memory ran out before the search."""

    result: SearchResult
    space: StateSpace | None = None
    heuristic: Heuristic | None = None


def search_alone(
    task: Task,
    configuration: Configuration,
    limits: Limits | None = None,
    consistent_beliefs: bool = False,
    watcher: Watcher = NOBODY,
) -> Searched:
    """Search for a plan of `task` in this process; nobody has re-executed the plan.

    To build space and heuristic takes of the time limit. When a plan was found the process has no time limit any more.
    """
    agent, (agent_name, heuristic_name) = configuration.make_agent(), configuration.names
    start = perf_counter()
    try:
        space = configuration.make_space(task, consistent_beliefs=consistent_beliefs)
        heuristic = configuration.make_heuristic(space)
    except MemoryError:
        return Searched(_failed(configuration, task.name, SearchStatus.MEMORY_LIMIT, "", consistent_beliefs))
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
    if result.plan is None:
        watcher.tell(result)  # now: to free the space may take seconds
    else:
        watcher.limit(None)  # no time limit holds for validating the plan
    return Searched(result, space, heuristic)


def outcome(
    ending: Ending, configuration: Configuration, problem: str, consistent_beliefs: bool = False
) -> SearchResult:
    """The result of a search that a process made, or one that says how the process failed."""
    return completed(ending, _failed(configuration, problem, SearchStatus.ERROR, "", consistent_beliefs))


def completed(ending: Ending, blank: Result) -> Result:
    """The same, where `blank` has what is known of a process that failed."""
    result: Result = ending.value
    if not isinstance(result, SearchResult):
        assert ending.failure is not None
        counts = result if isinstance(result, Counts) else Counts(0, 0, 0)
        result = replace(
            blank,
            status=ending.failure,
            message=ending.message or blank.message,
            search_seconds=ending.seconds,
            **asdict(counts),
        )
    peak = max(result.peak_bytes, ending.peak_bytes)
    return replace(result, peak_bytes=peak, cpu_seconds=ending.cpu_seconds)


def _failed(
    configuration: Configuration, problem: str, status: SearchStatus, message: str, consistent_beliefs: bool
) -> SearchResult:
    agent, heuristic = configuration.names
    return SearchResult(
        status=status,
        agent=agent,
        problem=problem,
        heuristic=heuristic,
        consistent_beliefs=consistent_beliefs,
        message=message,
    )
