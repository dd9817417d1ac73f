"""The portfolio: several configurations on one problem in parallel processes; the first answer wins."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from time import perf_counter

import psutil

from epigym.task import Task
from search.agents.limits import Limits, memory_bytes
from search.agents.result import SearchResult
from search.planning.configuration import Configuration
from search.planning.processes import Job, supervise
from search.planning.single import outcome, search_alone

_GRACE_SECONDS = 30.0  # for a member to start and to notice its own time limit


def search_in_parallel(task: Task, configuration: Configuration, limits: Limits | None = None) -> SearchResult:
    """Search with all members of a portfolio, each in its own process; the first to decide stops the others.

    The result has the counts of the member that decided, and the reports of all members that had ended by
    then. A member that fails leaves the others running. Each gets an equal share of the memory that this process
    leaves.
    """
    limits = limits or Limits()
    start = perf_counter()
    members = configuration.members
    share = replace(limits, memory_limit=_free_bytes(limits) // len(members))
    jobs = [Job(number, search_alone, (task, member, share)) for number, member in enumerate(members)]
    wall_limit = None if limits.time_limit is None else limits.time_limit + _GRACE_SECONDS
    reports: list[SearchResult] = []
    running = supervise(jobs, parallel=len(jobs), wall_limit=wall_limit, preload=[search_alone.__module__])
    with closing(running) as endings:
        for ending in endings:
            reports.append(outcome(ending, members[ending.job.key], task.name))
            if reports[-1].status.is_decided:
                break
    return _combined(configuration, reports, perf_counter() - start)


def _combined(configuration: Configuration, reports: Sequence[SearchResult], seconds: float) -> SearchResult:
    """The report of the deciding member, else of the first that a limit ended, else of an error."""
    first = min(reports, key=lambda report: (not report.status.is_decided, not report.status.is_limit))
    agent, heuristic = configuration.names
    return replace(
        first,
        agent=agent,
        heuristic=heuristic,
        search_seconds=seconds,
        message=first.message or (f"decided by {first.label}" if first.status.is_decided else ""),
        members=tuple(reports),
    )


def _free_bytes(limits: Limits) -> int:
    """What the memory limit leaves to the members."""
    used = 0 if limits.memory_limit is None else psutil.Process().memory_info().rss
    return max(memory_bytes(limits.memory_limit) - used, 0)
