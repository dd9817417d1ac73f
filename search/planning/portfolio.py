"""The portfolio: several configurations on one problem; the first answer wins.

First each member has a moment of its own, one after the other in this process: most problems need no more, and to start
processes takes longer. Then those that had too little time search side by side, each in its own process.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import closing
from dataclasses import replace
from time import perf_counter

import psutil

from epigym.task import Task
from search.agents.limits import Limits, memory_bytes
from search.agents.result import SearchResult, SearchStatus
from search.heuristics.gnn import Gnn, good_checkpoints
from search.planning.configuration import Configuration
from search.planning.processes import Job, supervise
from search.planning.single import outcome, search_alone, search_or_fail

_GRACE_SECONDS = 30.0  # for a member to start and to notice its own time limit


def search_in_portfolio(
    task: Task, configuration: Configuration, limits: Limits | None = None, forbid_collapse: bool = False
) -> SearchResult:
    """Search with the members of a portfolio until one decides.

    The result has the counts of the member that decided, and the last report of every member. One that fails leaves the
    others running. All together may hold the memory of the limit: when they reach it, the one that holds most is
    stopped. A member whose regressor is to be the newest of the domain is left out where there is none.
    """
    start = perf_counter()
    members = [member for member in configuration.members if _has_model(member, task.domain)] or configuration.members
    reports: dict[int, SearchResult] = {}
    with closing(_reports(task, members, configuration.head_start, limits or Limits(), forbid_collapse)) as running:
        for number, report in running:
            reports[number] = report
            if report.status.is_decided:
                break
    return _combined(configuration, list(reports.values()), perf_counter() - start)


def _reports(
    task: Task, members: Sequence[Configuration], head_start: float, limits: Limits, forbid_collapse: bool
) -> Generator[tuple[int, SearchResult], None, None]:
    """What members report, by their place: most of them twice, first of their moment and then of their process."""
    start = perf_counter()
    waiting = dict(enumerate(members))
    for number, member in enumerate(members):
        if member.is_learned or not head_start:
            continue  # to load a regressor takes longer than a moment
        moment = limits.after(perf_counter() - start).at_most(head_start)
        report = search_or_fail(task, member, moment, forbid_collapse)
        if report.status is not SearchStatus.TIME_LIMIT:
            del waiting[number]
        yield number, report
    left = limits.after(perf_counter() - start)
    if left.time_limit == 0:
        return
    memory = _free_bytes(left)
    left = replace(left, memory_limit=memory)
    jobs = [Job(number, search_alone, (task, member, left, forbid_collapse)) for number, member in waiting.items()]
    running = supervise(
        jobs,
        parallel=len(jobs),
        wall_limit=None if left.time_limit is None else left.time_limit + _GRACE_SECONDS,
        shared_memory=memory,
        preload=[search_alone.__module__],
    )
    with closing(running) as endings:
        for ending in endings:
            yield ending.job.key, outcome(ending, members[ending.job.key], task.name, forbid_collapse)


def _has_model(member: Configuration, domain: str) -> bool:
    """Whether a member searches without a regressor, or with one that is named or there."""
    heuristic = member.heuristic or {}
    takes_newest = heuristic.get("name") == Gnn.name and heuristic["checkpoint"] is None
    return not takes_newest or bool(good_checkpoints(domain))


def decisive(configuration: Configuration, result: SearchResult) -> Configuration:
    """The member that decided `result`, of a portfolio; any other configuration itself."""
    names = next(((each.agent, each.heuristic) for each in result.members if each.status.is_decided), None)
    return next((member for member in configuration.members if member.names == names), configuration)


def _combined(configuration: Configuration, reports: Sequence[SearchResult], seconds: float) -> SearchResult:
    """The report of the deciding member, else of the first that a limit ended, else of an error."""
    first = min(reports, key=lambda report: (not report.status.is_decided, not report.status.is_limit))
    agent, heuristic = configuration.names
    return replace(
        first,
        agent=agent,
        heuristic=heuristic,
        build_seconds=0.0,  # part of the search
        search_seconds=seconds,
        message=first.message or (f"decided by {first.label}" if first.status.is_decided else ""),
        members=tuple(reports),
    )


def _free_bytes(limits: Limits) -> int:
    """What the memory limit leaves to the members."""
    used = 0 if limits.memory_limit is None else psutil.Process().memory_info().rss
    return max(memory_bytes(limits.memory_limit) - used, 0)
