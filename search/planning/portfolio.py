"""`portfolio`: several configurations on one problem in parallel processes; the first answer wins."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Any

import psutil

from epigym.space import StateSpace
from epigym.task import Task
from search.agents.agent import Agent
from search.agents.limits import Limits, memory_bytes
from search.agents.result import SearchResult
from search.heuristics.heuristic import Heuristic
from search.planning.processes import Ending, Job, supervise

_GRACE_SECONDS = 30.0  # for a member to start and to notice its own time limit


@dataclass(frozen=True)
class Portfolio(Agent):
    """Runs its members in parallel, each in its own process; the first to decide the problem stops the others.

    The result has the counts of the member that decided, and the reports of all members that had ended by
    then. A member that fails leaves the others running. Each gets an equal share of the memory that this process
    leaves.

    Attributes:
        members: an `agent` and, for informed agents, a `heuristic` each: names, or mappings of name and settings.
    """

    name = "portfolio"
    is_informed = False

    members: Sequence[Mapping[str, Any]]

    def search(
        self, space: StateSpace, heuristic: Heuristic | None = None, limits: Limits | None = None
    ) -> SearchResult:
        """Search with all members; see `Agent.search`. The members build their own spaces from the space's task."""
        limits = limits or Limits()
        start = perf_counter()
        share = replace(limits, memory_limit=_free_bytes(limits) // max(len(self.members), 1))
        jobs = [Job(index, _search, (space.task, dict(member), share)) for index, member in enumerate(self.members)]
        wall_limit = None if limits.time_limit is None else limits.time_limit + _GRACE_SECONDS
        reports: list[SearchResult] = []
        running = supervise(jobs, parallel=len(jobs), wall_limit=wall_limit, preload=["search.planning.planner"])
        with closing(running) as endings:
            for ending in endings:
                reports.append(self._report(space, ending))
                if reports[-1].status.is_decided:
                    break
        return self._combine(space, reports, perf_counter() - start)

    def _report(self, space: StateSpace, ending: Ending) -> SearchResult:
        """The result of a member, or one that says how its process failed."""
        if isinstance(ending.value, SearchResult):
            return ending.value
        assert ending.failure is not None
        member = self.members[ending.job.key]
        return SearchResult(
            status=ending.failure,
            agent=str(member["agent"]),
            problem=space.task.name,
            plan=None,
            expanded=0,
            generated=0,
            distinct=1,
            search_seconds=ending.seconds,
            peak_bytes=ending.peak_bytes,
            message=ending.message,
        )

    def _combine(self, space: StateSpace, reports: Sequence[SearchResult], seconds: float) -> SearchResult:
        """The report of the deciding member, else of the first that a limit ended, else of an error."""
        first = min(reports, key=lambda report: (not report.status.is_decided, not report.status.is_limit))
        return replace(
            first,
            agent=self.name,
            heuristic=None,
            search_seconds=seconds,
            message=first.message or f"decided by {first.label}" if first.status.is_decided else first.message,
            members=tuple(reports),
        )


def _free_bytes(limits: Limits) -> int:
    """What the memory limit leaves to the members."""
    used = 0 if limits.memory_limit is None else psutil.Process().memory_info().rss
    return max(memory_bytes(limits.memory_limit) - used, 0)


def _search(task: Task, member: Mapping[str, Any], limits: Limits) -> SearchResult:
    """Search as one member, in its own process."""
    from search.planning.configuration import Configuration  # these two know this module
    from search.planning.planner import search

    return search(task, Configuration.of(**member), limits)
