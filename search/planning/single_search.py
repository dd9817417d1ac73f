"""One search: in this process, and its result from a separate process."""

from __future__ import annotations

from dataclasses import asdict, replace
from time import perf_counter
from typing import NamedTuple, TypeVar

from epigym.config.packages import count_import_seconds
from epigym.space.space import StateSpace
from epigym.task.task import Task
from search.agents import run_agent
from search.agents.limits import peak_bytes
from search.agents.result import SearchResult, SearchStatus, TaskSize
from search.heuristics.heuristic import Heuristic
from search.planning.configuration import Configuration
from search.planning.options import DEFAULTS, SearchOptions
from search.processes.channel import NO_CHANNEL, ProgressChannel
from search.processes.supervisor import JobResult

Result = TypeVar("Result", bound=SearchResult)


class FinishedSearch(NamedTuple):
    """A result, with the explored space and the heuristic; no space when memory ran out before the search."""

    result: SearchResult
    space: StateSpace | None = None
    heuristic: Heuristic | None = None


def search_in_process(
    task: Task, configuration: Configuration, options: SearchOptions = DEFAULTS, channel: ProgressChannel = NO_CHANNEL
) -> FinishedSearch:
    """Search for a plan of `task` in this process, without validating it.

    The time limit covers building the space and the heuristic. Once a plan is found, the process has no time limit.
    """
    agent, (agent_name, heuristic_name) = configuration.make_agent(), configuration.names
    start, imported = perf_counter(), count_import_seconds()
    try:
        space = configuration.make_space(task, consistent_beliefs=options.consistent_beliefs)
        heuristic = configuration.make_heuristic(space)
    except MemoryError:
        result = make_blank_result(configuration, task.name, options, SearchStatus.MEMORY_LIMIT)
        return FinishedSearch(replace(result, size=TaskSize.of(task)))
    spent, built = perf_counter() - start, count_import_seconds()
    on_progress = None if channel is NO_CHANNEL else channel.send
    result = run_agent(agent, space, heuristic, options.active_limits.after(spent), on_progress)
    result = replace(result, agent=agent_name, heuristic=heuristic_name)
    searched = count_import_seconds()  # components of `interleaved` make their heuristics during the search
    result = result.with_costs(
        import_seconds=searched - imported,
        build_seconds=spent - (built - imported),
        search_seconds=result.costs.search_seconds - (searched - built),
        peak_bytes=peak_bytes(),
    )
    if result.plan is None:
        channel.send(result)  # before the space is freed, which may take seconds
    else:
        channel.set_time_limit(None)  # validating the plan is not limited
    return FinishedSearch(result, space, heuristic)


def make_blank_result(
    configuration: Configuration, problem: str, options: SearchOptions, status: SearchStatus = SearchStatus.ERROR
) -> SearchResult:
    """The result of a search that has reported nothing."""
    agent, heuristic = configuration.names
    return SearchResult(status, agent, problem, heuristic=heuristic, consistent_beliefs=options.consistent_beliefs)


def complete_result(job_result: JobResult, blank: Result) -> Result:
    """The result of a search in a separate process; when that failed, the last one that it sent, or else `blank`.

    Such a result gets the counts and the time of the search after it.

    Args:
        job_result: the result of the process.
        blank: the result of a search that has reported nothing, see `make_blank_result`.
    """
    result: Result = job_result.value
    if not isinstance(result, SearchResult):
        assert job_result.failure is not None
        result = replace(blank, status=job_result.failure, message=job_result.message or blank.message)
        result = result.with_costs(search_seconds=job_result.seconds)
    if job_result.counts is not None:
        other_seconds = result.costs.total_seconds - result.costs.search_seconds
        result = replace(result, **asdict(job_result.counts))
        result = result.with_costs(search_seconds=job_result.seconds - other_seconds)
    return result.with_costs(
        peak_bytes=max(result.costs.peak_bytes, job_result.peak_bytes), cpu_seconds=job_result.cpu_seconds
    )
