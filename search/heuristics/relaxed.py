"""`c_pg`, `l_pg` and `s_pg`: scores read off planning graphs, as in H-EFP."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from epigym.space.space import StateSpace
from search.heuristics.heuristic import Heuristic
from search.heuristics.planning_graph import PlanningGraph


class _Relaxed(Heuristic):
    """A heuristic that reads its scores off planning graphs.

    Args:
        space: where the e-states live.
    """

    def __init__(self, space: StateSpace) -> None:
        self._graph = PlanningGraph(space.task)
        self._truth = space.query(self._graph.nodes)

    def _goal_levels(self, ids: NDArray[np.int32]) -> NDArray[np.float64]:
        """float64[k, g]: the level at which each subgoal is marked, infinite for never."""
        levels = self._graph.levels(self._truth(ids))[:, self._graph.goal]
        return np.where(levels < 0, np.inf, levels)


class GraphLength(_Relaxed):
    """`l_pg`: the number of levels until all subgoals are marked; infinite when they never are."""

    name = "l_pg"

    def score(self, ids: NDArray[np.int32]) -> NDArray[np.float64]:
        """float64[k]: the length of the planning graph from each of `ids` (int32[k])."""
        length: NDArray[np.float64] = self._goal_levels(ids).max(axis=1, initial=0.0)
        return length


class GoalLevels(_Relaxed):
    """`s_pg`: the levels at which the subgoals are first marked, summed; infinite when one never is."""

    name = "s_pg"

    def score(self, ids: NDArray[np.int32]) -> NDArray[np.float64]:
        """float64[k]: the sum of the subgoals' levels from each of `ids` (int32[k])."""
        total: NDArray[np.float64] = self._goal_levels(ids).sum(axis=1)
        return total


class EntailedLevels(_Relaxed):
    """`c_pg`: the share of the initial planning graph's levels that an e-state does not entail, in percent.

    One graph, from the initial e-state, gives every node its level; an e-state that entails what was hard
    to reach scores low.
    """

    name = "c_pg"

    def __init__(self, space: StateSpace) -> None:
        super().__init__(space)
        [levels] = self._graph.levels(self._truth(np.array([space.initial], dtype=np.int32)))
        weights = np.maximum(levels, 0).astype(np.float64)
        self._weights = weights / max(weights.sum(), 1.0)

    def score(self, ids: NDArray[np.int32]) -> NDArray[np.float64]:
        """float64[k]: 100 minus the share, in percent, of the levels that each of `ids` (int32[k]) entails."""
        scores: NDArray[np.float64] = 100.0 * (1.0 - self._truth(ids) @ self._weights)
        return scores
