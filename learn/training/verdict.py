"""The verdict on a network: search with it and with baselines on new problems.

New problems are used neither for training nor for choosing the network.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isnan, nan
from typing import Any, Final, Literal

from rich.progress import track
from scipy.stats import binomtest

from epigym.space.space import StateSpace
from epigym.task.task import Task
from search.agents import make_agent, run_agent
from search.agents.limits import Limits
from search.agents.result import SearchStatus
from search.heuristics import HEURISTICS, Heuristic, make_heuristic

BASELINES: Final = {
    "hfs": {"h_add": "h_add alone", "h_ff": "h_ff alone", "goal_count": "the goal count"},
    "hfs_star": {"goal_count": "the goal count", "bfs": "bfs"},
}
"""By agent, the heuristics, or the agent without one, that are compared with a network, and their names in the text."""
LEVEL: Final = 0.05
"""Probability up to which a difference in solved problems counts."""
FEWER: Final = 0.9
"""Ratio of expansions up to which the difference counts."""
NETWORK: Final = "network"

Agent = Literal["hfs", "hfs_star"]
Expanded = tuple[int | None, ...]
"""Number of expansions on each problem; None if it is not solved."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """Searches with a network and with baselines on the same problems.

    The network is compared with the best baseline: the one that solves most, then expands fewest e-states.

    Attributes:
        where: the domains of the problems.
        network: its expansions.
        baselines: the expansions of each baseline by its name.
    """

    where: str
    network: Expanded
    baselines: Mapping[str, Expanded]

    @property
    def best(self) -> str:
        """Name of the best baseline."""

        def score(name: str) -> tuple[int, int]:
            solved = [count for count in self.baselines[name] if count is not None]
            return -len(solved), sum(solved)

        return min(self.baselines, key=score)

    @property
    def pairs(self) -> list[tuple[int | None, int | None]]:
        """The expansions of the network and of the best baseline on each problem."""
        return list(zip(self.network, self.baselines[self.best], strict=True))

    @property
    def counts(self) -> tuple[int, int]:
        """Numbers of problems that only the network solves, and only the best baseline."""
        unsolved = [(one is None, two is None) for one, two in self.pairs]
        return unsolved.count((False, True)), unsolved.count((True, False))

    @property
    def p(self) -> float:
        """The probability, were both equally good, of counts at least as uneven (exact two-sided sign test)."""
        more, fewer = self.counts
        return float(binomtest(more, more + fewer).pvalue) if more + fewer else 1.0

    @property
    def common(self) -> list[tuple[int, int]]:
        """The expansions of both on the problems that both solve."""
        return [(one, two) for one, two in self.pairs if one is not None and two is not None]

    @property
    def ratio(self) -> float:
        """Expansions of the network on these, divided by those of the best baseline; NaN if there are none."""
        total = sum(two for _, two in self.common)
        return sum(one for one, _ in self.common) / total if total else nan

    @property
    def is_gain(self) -> bool:
        """Whether the network solves significantly more, or no fewer with at least a tenth fewer expansions."""
        more, fewer = self.counts
        return more >= fewer and (self.p <= LEVEL or self.ratio <= FEWER)

    def describe(self) -> str:
        """The verdict in words."""
        best, (more, fewer) = self.best, self.counts
        solved = {name: sum(count is not None for count in found) for name, found in self.baselines.items()}
        others = ", ".join(f"{name} {count}" for name, count in solved.items())
        own = sum(count is not None for count in self.network)
        parts = [
            f"on {len(self.network)} new problems of {self.where} the network solves {own}, {others} "
            f"({more} more, {fewer} fewer than {best}; p = {self.p:.2g})"
        ]
        if self.common:
            times = f"{self.ratio:.2f} times as many e-states as {best}"
            parts.append(f"on the {len(self.common)} that both solve it expands {times}")
        return "; ".join(parts if self.is_gain else [f"no gain over {best}", *parts])

    def to_dict(self) -> dict[str, Any]:
        """Everything as JSON values."""
        more, fewer = self.counts
        return {
            "where": self.where,
            "network": list(self.network),
            "baselines": {name: list(found) for name, found in self.baselines.items()},
            "best": self.best,
            "more": more,
            "fewer": fewer,
            "p": self.p,
            "common": len(self.common),
            "ratio": None if isnan(self.ratio) else self.ratio,
            "is_gain": self.is_gain,
        }


def judge(
    where: str, tasks: Sequence[Task], agent: Agent, nodes: int, model: str, *, consistent_beliefs: bool = False
) -> Verdict:
    """Search each problem with a network and with the `BASELINES` of an agent.

    Args:
        where: the domains of the problems.
        tasks: the problems, at least one.
        agent: of the searches.
        nodes: maximum number of expansions on each problem.
        model: file of the network.
        consistent_beliefs: whether e-states with inconsistent beliefs are excluded, see `StateSpace`.

    Raises:
        EpigymError: when the model does not fit a problem.
    """
    found: dict[str, list[int | None]] = {name: [] for name in (NETWORK, *BASELINES[agent])}
    for task in track(tasks, "comparing", transient=True):
        for name, expanded in found.items():
            space = StateSpace(task, consistent_beliefs=consistent_beliefs, threads="auto")
            expanded.append(_count_expansions(space, agent, name, nodes, model))
    return Verdict(where, tuple(found[NETWORK]), {text: tuple(found[name]) for name, text in BASELINES[agent].items()})


def _count_expansions(space: StateSpace, agent: str, name: str, nodes: int, model: str) -> int | None:
    """The number of expansions until a plan is found; None if none is."""
    limits = Limits(max_expanded=nodes, time_limit=None, memory_limit=sys.maxsize)
    if name == NETWORK:
        heuristic: Heuristic | None = make_heuristic("learned", space, model=model)
    else:
        heuristic = make_heuristic(name, space) if name in HEURISTICS else None
    result = run_agent(make_agent(agent if heuristic else name), space, heuristic, limits)
    return result.expanded if result.status is SearchStatus.SOLVED else None
