"""`hfs`, `hfs_star`, `wa_star` and `bfws`: best-first search, one loop with an order for each."""

from __future__ import annotations

import heapq
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Literal

import numpy as np
from numpy.typing import NDArray

from epigym.config.values import AtLeast, Count
from epigym.errors import EpigymError
from epigym.space.space import StateSpace
from search.agents.agent import Agent, Steps
from search.agents.novelty import NovelParts, Novelty, Progress
from search.agents.result import SearchStatus
from search.agents.run import SearchRun
from search.heuristics.heuristic import Heuristic

STEP = 1000.0  # scores are ordered in thousandths of a step

Order = Callable[[NDArray[np.int32], NDArray[np.int64], NDArray[np.float64], NDArray[np.float64]], NDArray[np.float64]]
"""From new e-states, int32[k], and the parents that they were reached from, int64[k], with their depths g and scores h,
float64[k] in thousandths of a step, to priorities, float64[k]. The initial e-state is the first, with parent -1."""


@dataclass(frozen=True)
class BestFirst(Agent):
    """Expands the e-state with the lowest (order, h); ties are broken by the order of discovery.

    Attributes:
        order: the order of a search in the space given.
        name: as in the registry.
        expansions_per_batch: nodes popped and expanded in one round, their successors scored in one batch;
            more than 1 is another search, with another order of expansions.
        adds_depths: whether the order adds depths to scores, which then have to be steps.
    """

    is_informed = True

    order: Callable[[StateSpace], Order]
    name: str
    expansions_per_batch: int = 1
    adds_depths: bool = False

    def start(self, run: SearchRun, heuristic: Heuristic | None) -> Steps:
        """Start the search."""
        assert heuristic is not None
        order = self.order(run.space)
        frontier: list[tuple[float, float, int, int, int]] = []  # priority, score, number, e-state, depth
        fresh, depth_of = run.root, {-1: -1}
        while True:
            if len(fresh):
                parents, actions = run.parent_pointers(fresh)
                depths = [depth_of[state] + 1 for state in parents.tolist()]
                scores = score_in_thousandths(heuristic, fresh, parents, actions)
                costs = np.rint(STEP * heuristic.steps(scores / STEP)) if self.adds_depths else scores
                priorities = order(fresh, parents, STEP * np.array(depths), costs)
                ranks = zip(priorities.tolist(), scores.tolist(), run.numbers(fresh), strict=True)
                for rank, state, depth in zip(ranks, fresh.tolist(), depths, strict=True):
                    heapq.heappush(frontier, (*rank, state, depth))
            if not frontier:
                return SearchStatus.UNSOLVABLE
            most = yield
            count = min(self.expansions_per_batch, most, len(frontier))
            popped = [heapq.heappop(frontier)[3:] for _ in range(count)]
            fresh, depth_of = run.expand(np.array([state for state, _ in popped], dtype=np.int32)), dict(popped)
            if run.goal is not None:
                return SearchStatus.SOLVED


def hfs(expansions_per_batch: Count = 1) -> BestFirst:
    """Greedy best-first search: lowest h first."""
    return BestFirst(_greedy, "hfs", expansions_per_batch)


def hfs_star(expansions_per_batch: Count = 1) -> BestFirst:
    """The paper's HFS* (section 4.1): lowest g + h first."""
    return BestFirst(partial(_weighted, 1.0), "hfs_star", expansions_per_batch, adds_depths=True)


def wa_star(weight: Annotated[float, AtLeast(0)], expansions_per_batch: Count = 1) -> BestFirst:
    """Weighted A*: lowest g + weight * h first."""
    return BestFirst(partial(_weighted, weight), "wa_star", expansions_per_batch, adds_depths=True)


def bfws(by: Literal["score", "progress", "parts"] = "score", expansions_per_batch: Count = 1) -> BestFirst:
    """Best-first width search: what shows something new first, and lowest h first among that and among the rest.

    New among the e-states of the same h; by `progress`, among those of the same (#g, #r), see `Progress`; by `parts`,
    among those with as many open parts of the goal, and fewest of these come before lowest h, see `NovelParts`.
    """
    return BestFirst(partial(_novel_first, by), "bfws", expansions_per_batch)


def _greedy(space: StateSpace) -> Order:
    return lambda ids, parents, depths, scores: scores


def _weighted(weight: float, space: StateSpace) -> Order:
    return lambda ids, parents, depths, scores: depths + weight * scores


def _novel_first(by: str, space: StateSpace) -> Order:
    if by == "parts":
        novel_parts = NovelParts(space)
        return lambda ids, parents, depths, scores: novel_parts(ids)
    novelty = Novelty(space)
    if by == "score":
        return lambda ids, parents, depths, scores: novelty(ids, np.rint(scores / STEP).tolist())
    progress = Progress(space)
    return lambda ids, parents, depths, scores: novelty(ids, progress(ids, parents))


def score_in_thousandths(
    heuristic: Heuristic, ids: NDArray[np.int32], parents: NDArray[np.int64], actions: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Scores of e-states, reached as `SearchRun.parent_pointers` says, in thousandths."""
    return round_to_thousandths(heuristic.name, ids, heuristic.evaluate(ids, parents, actions).scores)


def round_to_thousandths(name: str, ids: NDArray[np.int32], scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Scores of e-states rounded to thousandths, so that the rounding noise of a batch cannot change the order."""
    rounded: NDArray[np.float64] = np.rint(scores * STEP)
    if np.isnan(rounded).any():
        raise EpigymError(f"heuristic {name!r} scored e-state {ids[np.isnan(rounded)][0]} as not a number")
    return rounded
