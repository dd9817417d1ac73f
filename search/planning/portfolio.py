"""The portfolio: several configurations on one problem; the first answer wins.

First each member has a moment of its own, one after the other, in a copy of this process: most problems need no more.
Then those that had too little time search side by side, each in a process that has nothing of this one.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import closing
from dataclasses import replace
from time import perf_counter

from epigym.task.task import Task
from search.agents.limits import Limits, memory_bytes
from search.agents.result import SearchResult, SearchStatus
from search.heuristics.gnn import Gnn, good_checkpoints
from search.planning.configuration import Configuration
from search.planning.single import announce, outcome, search_alone, search_or_fail
from search.processes.processes import Job, supervise
from search.processes.watched import NOBODY, Watcher, may_be_copied

_GRACE_SECONDS = 0.1  # for a member to notice its own time limit


def search_in_portfolio(
    task: Task,
    configuration: Configuration,
    limits: Limits | None = None,
    forbid_collapse: bool = False,
    watcher: Watcher = NOBODY,
) -> SearchResult:
    """Search with the members of a portfolio until one decides.

    The result has the counts of the member that decided, and the last report of every member. One that fails leaves the
    others running. All together, this process included, may hold the memory of the limit: when they reach it, the one
    that holds most is stopped; what they held together is what the result says. A member whose regressor is to be the
    newest of the domain is left out where there is none.
    """
    start = perf_counter()
    members = [member for member in configuration.members if _has_model(member, task.domain)] or configuration.members
    reports: dict[int, SearchResult] = {}
    peak = 0
    with closing(_reports(task, members, configuration.head_start, limits or Limits(), forbid_collapse)) as running:
        for number, report, together in running:
            reports[number], peak = report, max(peak, report.peak_bytes, together)
            if report.status.is_decided:
                break
            watcher.tell(_combined(configuration, list(reports.values()), perf_counter() - start, peak))
    result = _combined(configuration, list(reports.values()), perf_counter() - start, peak)
    announce(result, watcher)
    return result


def _reports(
    task: Task, members: Sequence[Configuration], head_start: float, limits: Limits, forbid_collapse: bool
) -> Generator[tuple[int, SearchResult, int], None, None]:
    """What members report, most of them twice, first of their moment and then of their process.

    Their place, the report, and the bytes that all processes held together.
    """
    start = perf_counter()
    limits = replace(limits, memory_limit=memory_bytes(limits.memory_limit))
    waiting = dict(enumerate(members))
    for number, member in enumerate(members):
        if member.is_learned or not head_start:
            continue  # to load a regressor takes longer than a moment
        moment = limits.after(perf_counter() - start).at_most(head_start)
        report, together = _moment(task, member, moment, forbid_collapse)
        if report.status is not SearchStatus.TIME_LIMIT:
            del waiting[number]
        yield number, report, together
    left = limits.after(perf_counter() - start)
    if left.time_limit == 0:
        return
    jobs = [_job(number, task, member, left, forbid_collapse) for number, member in waiting.items()]
    shared = memory_bytes(left.memory_limit)
    running = supervise(jobs, parallel=len(jobs), shared_memory=shared, preload=[search_alone.__module__])
    with closing(running) as endings:
        for ending in endings:
            report = outcome(ending, members[ending.job.key], task.name, forbid_collapse)
            yield ending.job.key, report, ending.together_bytes


def _moment(task: Task, member: Configuration, limits: Limits, forbid_collapse: bool) -> tuple[SearchResult, int]:
    """What a member reports of its moment, and the bytes that were held."""
    if not may_be_copied():
        return search_or_fail(task, member, limits, forbid_collapse), 0
    memory = memory_bytes(limits.memory_limit)
    job = _job(0, task, member, limits, forbid_collapse)
    [ending] = supervise([job], parallel=1, shared_memory=memory, copies=True)
    return outcome(ending, member, task.name, forbid_collapse), ending.together_bytes


def _job(number: int, task: Task, member: Configuration, limits: Limits, forbid_collapse: bool) -> Job:
    late = None if limits.time_limit is None else limits.time_limit + _GRACE_SECONDS
    return Job(number, search_alone, (task, member, limits, forbid_collapse), tells=True, time_limit=late)


def _has_model(member: Configuration, domain: str) -> bool:
    """Whether a member searches without a regressor, or with one that is named or there."""
    heuristic = member.heuristic or {}
    takes_newest = heuristic.get("name") == Gnn.name and heuristic["checkpoint"] is None
    return not takes_newest or bool(good_checkpoints(domain))


def decisive(configuration: Configuration, result: SearchResult) -> Configuration:
    """The member that decided `result`, of a portfolio; any other configuration itself."""
    names = next(((each.agent, each.heuristic) for each in result.members if each.status.is_decided), None)
    return next((member for member in configuration.members if member.names == names), configuration)


def _combined(configuration: Configuration, reports: Sequence[SearchResult], seconds: float, peak: int) -> SearchResult:
    """The report of the deciding member, else of the first that a limit ended, else of an error."""
    first = min(reports, key=lambda report: (not report.status.is_decided, not report.status.is_limit))
    agent, heuristic = configuration.names
    return replace(
        first,
        agent=agent,
        heuristic=heuristic,
        build_seconds=0.0,  # part of the search
        search_seconds=seconds,
        peak_bytes=peak,
        message=first.message or (f"decided by {first.label}" if first.status.is_decided else ""),
        members=tuple(reports),
    )
