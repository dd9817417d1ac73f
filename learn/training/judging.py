"""The searches of a verdict: with a network, with the same network before training, and with baselines."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

from epigym.io.progress import track
from epigym.space.space import StateSpace
from epigym.task.task import Task
from learn.models.gine.model import NetworkModel
from learn.models.model import Model
from learn.training.diagnosis import Diagnosis, correlate_along, is_constant, list_first
from learn.training.problems import measure_sizes
from learn.training.validation import find_states_along
from learn.training.verdict import NETWORK, PUBLISHED, UNTRAINED, Tier, Verdict
from search.agents import make_agent, run_agent
from search.agents.limits import Limits
from search.agents.result import SearchResult
from search.heuristics import HEURISTICS, Heuristic, make_heuristic

BASELINES: Final = {"hfs": ("h_add", "h_ff", "goal_count"), "hfs_star": ("bfs", "goal_count")}
"""By agent, the heuristics, or the agent without one, that stand beside a network."""

PUBLISHED_LIMIT: Final = 1_000
"""The least maximum number of expansions on published tests: bfs solves most of them with so many."""

Agent = Literal["hfs", "hfs_star"]


@dataclass(frozen=True, kw_only=True)
class Judge:
    """The networks and searches that are compared.

    Attributes:
        agent: of the searches.
        limit: maximum number of expansions on a problem; at least 1,000 on published tests.
        model: the kept network.
        untrained: the same network before training; None if that was kept.
        consistent_beliefs: whether e-states with inconsistent beliefs are excluded, see `StateSpace`.
    """

    agent: Agent
    limit: int
    model: NetworkModel
    untrained: NetworkModel | None
    consistent_beliefs: bool = False

    def judge(self, tiers: Mapping[str, Sequence[Task]]) -> Verdict:
        """Search the problems of some tiers, none of them empty.

        Raises:
            EpigymError: when a network does not fit a problem.
        """
        judged = tuple(self._judge_tier(name, tasks) for name, tasks in tiers.items())
        return Verdict(self.agent, self.model.base, judged)

    @property
    def inputs(self) -> str:
        """The kind of inputs that the network can know."""
        return "types" if self.model.types else "identifiers"

    @property
    def searches(self) -> list[str]:
        """The names of the searches: the network, itself before training, and the baselines but its base heuristic."""
        control = [] if self.untrained is None else [UNTRAINED]
        return [NETWORK, *control, *(name for name in BASELINES[self.agent] if name != self.model.base)]

    def _judge_tier(self, name: str, tasks: Sequence[Task]) -> Tier:
        limit = max(self.limit, PUBLISHED_LIMIT) if name == PUBLISHED else self.limit
        found = [self._judge_problem(task, limit) for task in track(tasks, f"comparing, {name}")]
        return Tier(
            name,
            limit=limit,
            domains=tuple(dict.fromkeys(task.domain for task in tasks if task.domain)),
            problems=tuple(map(describe_problem, tasks)),
            expanded={search: tuple(counts[search] for counts, _ in found) for search in self.searches},
            diagnosis=Diagnosis(self.inputs, *zip(*(values for _, values in found), strict=True)),
        )

    def _judge_problem(self, task: Task, limit: int) -> tuple[dict[str, int | None], tuple[bool, float | None, float]]:
        """The expansions of each search, and the entries of a `Diagnosis`."""
        found = {name: self._search(task, name, limit) for name in self.searches}
        plans = [one.plan for one in found.values() if one.plan is not None]
        counts = {name: None if one.plan is None else one.expanded for name, one in found.items()}
        return counts, self._diagnose(task, min(plans, key=len, default=None))

    def _search(self, task: Task, name: str, limit: int) -> SearchResult:
        space = self._open(task)
        model = {NETWORK: self.model, UNTRAINED: self.untrained}.get(name)
        heuristic: Heuristic | None = _Scored(space, model) if model is not None else None
        if name in HEURISTICS:
            heuristic = make_heuristic(name, space)
        limits = Limits(max_expanded=limit, time_limit=None, memory_limit=sys.maxsize)
        return run_agent(make_agent(self.agent if heuristic else name), space, heuristic, limits)

    def _diagnose(self, task: Task, plan: Sequence[str] | None) -> tuple[bool, float | None, float]:
        space = self._open(task)
        values, first = _Scored(space, self.model), list_first(space)
        highest = float(self.model.settings.get("max_distance", np.inf))
        along = None if plan is None else np.array(find_states_along(space, plan), np.int32)
        rank = None if along is None else correlate_along(values.score(along))
        return is_constant(values.score(first), highest), rank, values.rate_unknown(first)

    def _open(self, task: Task) -> StateSpace:
        return StateSpace(task, consistent_beliefs=self.consistent_beliefs, threads="auto")


class _Scored(Heuristic):
    """The values of a model."""

    def __init__(self, space: StateSpace, model: Model) -> None:
        self._scorer = model.make_scorer(space)

    def score(self, ids: NDArray[np.int32]) -> NDArray[np.float64]:
        return self._scorer.score(ids)

    def steps(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        return self._scorer.steps(scores)

    def rate_unknown(self, ids: NDArray[np.int32]) -> float:
        return 1 - self._scorer.rate_known(ids)


def describe_problem(task: Task) -> dict[str, Any]:
    """The name of a problem, and how many fluents, agents and initial worlds it has."""
    return {"name": task.name} | dict(zip(("fluents", "agents", "worlds"), measure_sizes(task).tolist(), strict=True))
