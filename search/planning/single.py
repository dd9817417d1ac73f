"""One configuration on one task: the search in this process, and what became of one in a process of its own."""

from __future__ import annotations

from dataclasses import replace
from time import perf_counter

from epigym.space import StateSpace
from epigym.task import Task
from search.agents.limits import Limits, peak_bytes
from search.agents.result import SearchResult
from search.planning.configuration import Configuration
from search.planning.processes import Ending


def search_alone(task: Task, configuration: Configuration, limits: Limits | None = None) -> SearchResult:
    """Search for a plan of `task` in this process; nobody has re-executed the plan."""
    agent, (agent_name, heuristic_name) = configuration.make_agent(), configuration.names
    start = perf_counter()
    space = StateSpace(task)
    heuristic = configuration.make_heuristic(space)
    build_seconds = perf_counter() - start
    result = agent.search(space, heuristic, limits)
    return replace(
        result,
        agent=agent_name,
        heuristic=heuristic_name,
        build_seconds=build_seconds,
        peak_bytes=max(result.peak_bytes, peak_bytes()),
    )


def outcome(ending: Ending, configuration: Configuration, problem: str) -> SearchResult:
    """The result of a search that a process made, or one that says how the process failed."""
    agent, heuristic = configuration.names
    result = ending.value
    if not isinstance(result, SearchResult):
        assert ending.failure is not None
        result = SearchResult(
            status=ending.failure,
            agent=agent,
            problem=problem,
            search_seconds=ending.seconds,
            heuristic=heuristic,
            message=ending.message,
        )
    peak = max(result.peak_bytes, ending.peak_bytes)
    return replace(result, peak_bytes=peak, cpu_seconds=ending.cpu_seconds)
