"""`hfs`, `hfs_star`, `wa_star` and `bfws`: best-first searches, one loop with a priority for each."""

from __future__ import annotations

import heapq
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from epigym.config.values import Amount, Count
from epigym.errors import EpigymError
from epigym.space.space import StateSpace
from search.agents.agent import Agent, Steps
from search.agents.novelty import Novelty, NoveltyByGoalCount, Progress
from search.agents.result import SearchStatus
from search.agents.run import SearchRun
from search.heuristics.heuristic import Heuristic, require_estimates

STEP = 1000.0  # scores are ordered in thousandths of a step

Priority = Callable[
    [NDArray[np.int32], NDArray[np.int64], NDArray[np.float64], NDArray[np.float64]], NDArray[np.float64]
]
"""From new e-states, int32[k], and the parents that they were reached from, int64[k], with their depths g and scores h,
float64[k] in thousandths of a step, to priorities, float64[k]. The initial e-state is the first, with parent -1."""


@dataclass(frozen=True, kw_only=True)
class BestFirst(Agent):
    """Expands the e-state with the lowest (priority, h); ties are broken by the order of discovery.

    Attributes:
        expansions_per_batch: the number of e-states expanded at a time, whose successors are scored in one batch; more
            than 1 changes the order of expansions.
        adds_depths: whether the priority adds depths to scores, which are then converted to steps.
    """

    is_informed = True
    adds_depths = False

    expansions_per_batch: Count = 1

    def search(self, run: SearchRun) -> Steps:
        """Search with one priority queue."""
        heuristic, priority = run.heuristic, self._make_priority(run.space)
        frontier: list[tuple[float, float, int, int, int]] = []  # priority, score, number, e-state, depth
        new, depth_of = run.root, {-1: -1}
        while True:
            if len(new):
                parents, actions = run.parent_pointers(new)
                depths = [depth_of[state] + 1 for state in parents.tolist()]
                scores = score_in_thousandths(heuristic, new, parents, actions)
                costs = np.rint(STEP * heuristic.steps(scores / STEP)) if self.adds_depths else scores
                priorities = priority(new, parents, STEP * np.array(depths), costs)
                ranks = zip(priorities.tolist(), scores.tolist(), run.number(new), strict=True)
                for rank, state, depth in zip(ranks, new.tolist(), depths, strict=True):
                    heapq.heappush(frontier, (*rank, state, depth))
            if not frontier:
                return SearchStatus.UNSOLVABLE
            popped = [heapq.heappop(frontier)[3:] for _ in range(min(self.expansions_per_batch, len(frontier)))]
            depth_of = dict(popped)
            new = yield from run.expand_in_turns(np.array(list(depth_of), dtype=np.int32))
            if run.goal is not None:
                return SearchStatus.SOLVED

    @abstractmethod
    def _make_priority(self, space: StateSpace) -> Priority:
        """The priority of a search in a space."""


class GreedyBestFirst(BestFirst):
    """Greedy best-first search (the paper's HFS): lowest h first."""

    name = "hfs"

    def _make_priority(self, space: StateSpace) -> Priority:
        return lambda ids, parents, depths, scores: scores


class HFSStar(BestFirst):
    """The paper's HFS* (section 4.1): lowest g + h first."""

    name = "hfs_star"
    adds_depths = True

    def _make_priority(self, space: StateSpace) -> Priority:
        return lambda ids, parents, depths, scores: depths + scores


@dataclass(frozen=True, kw_only=True)
class WeightedAStar(BestFirst):
    """Weighted A*: lowest g + weight * h first.

    Attributes:
        weight: the weight of h.
    """

    name = "wa_star"
    adds_depths = True

    weight: Amount

    def _make_priority(self, space: StateSpace) -> Priority:
        return lambda ids, parents, depths, scores: depths + self.weight * scores


@dataclass(frozen=True, kw_only=True)
class BestFirstWidth(BestFirst):
    """Best-first width search: e-states of novelty 1 first, then lowest h first.

    Attributes:
        by: the classes of e-states within which novelty counts: `score`, equal h; `progress`, equal (#g, #r), see
            `Progress`; `parts`, equal goal count over split subgoals, where lower counts come before lower h, see
            `NoveltyByGoalCount`.
    """

    name = "bfws"

    by: Literal["score", "progress", "parts"] = "score"

    def _make_priority(self, space: StateSpace) -> Priority:
        if self.by == "parts":
            novelty_by_count = NoveltyByGoalCount(space)
            return lambda ids, parents, depths, scores: novelty_by_count(ids)
        novelty = Novelty(space)
        if self.by == "score":
            return lambda ids, parents, depths, scores: novelty(ids, np.rint(scores / STEP).tolist())
        progress = Progress(space)
        return lambda ids, parents, depths, scores: novelty(ids, progress(ids, parents))


def score_in_thousandths(
    heuristic: Heuristic, ids: NDArray[np.int32], parents: NDArray[np.int64], actions: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Score e-states, int32[k], with their parent pointers, int64[k]; float64[k] in thousandths."""
    estimates = require_estimates(heuristic, len(ids), heuristic.evaluate(ids, parents, actions))
    return round_to_thousandths(heuristic.name, ids, estimates.scores)


def round_to_thousandths(name: str, ids: NDArray[np.int32], scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Round scores, float64[k], to thousandths, so that rounding errors within a batch do not change the order.

    Raises:
        EpigymError: when a score is not a number; names the heuristic `name` and the e-state.
    """
    rounded: NDArray[np.float64] = np.rint(scores * STEP)
    if np.count_nonzero(np.isnan(rounded)):
        raise EpigymError(f"heuristic {name!r} scored e-state {ids[np.isnan(rounded)][0]} as not a number")
    return rounded
