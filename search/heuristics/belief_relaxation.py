"""`h_add` and `h_ff`: costs in the relaxation over belief literals, with its preferred actions."""

from __future__ import annotations

from abc import abstractmethod

import numpy as np
from numpy.typing import NDArray

from epigym.features.relaxation import Relaxation, Relaxed
from epigym.space.space import StateSpace
from search.heuristics.goal_count import SplitGoalCount
from search.heuristics.heuristic import Estimates, Heuristic


class _Relaxing(Heuristic):
    """Base of the heuristics of `epigym.features.relaxation`; infinite where the relaxation does not reach the goal.

    If it does not reach the goal from the initial e-state, it is uninformative for the problem: `split_goal_count`
    then replaces it, and no action is preferred.

    Args:
        space: the state space of the e-states.
    """

    prefers = True

    def __init__(self, space: StateSpace) -> None:
        self._relaxation = Relaxation(space)
        self.is_uninformative = self._relaxation.is_uninformative(space.initial)
        self.relaxation = None if self.is_uninformative else self._relaxation
        self._instead = SplitGoalCount(space) if self.is_uninformative else None

    def score(self, ids: NDArray[np.int32]) -> NDArray[np.float64]:
        """float64[k]: the cost of the goal from each of `ids` (int32[k])."""
        return self._scores(self._relaxation(ids)) if self._instead is None else self._instead.score(ids)

    def evaluate(self, ids: NDArray[np.int32], parents: NDArray[np.int64], actions: NDArray[np.int64]) -> Estimates:
        """Scores, and as preferred actions those of the relaxation, from one relaxation."""
        if self.relaxation is None:
            return super().evaluate(ids, parents, actions)
        relaxed = self.relaxation(ids)
        return Estimates(self._scores(relaxed), relaxed.preferred_ptr, relaxed.preferred)

    @staticmethod
    @abstractmethod
    def _scores(relaxed: Relaxed) -> NDArray[np.float64]:
        """float64[k]: the scores of a relaxation."""


class AdditiveCost(_Relaxing):
    """`h_add`: the sum of the subgoals' costs, as if they were independent."""

    name = "h_add"

    @staticmethod
    def _scores(relaxed: Relaxed) -> NDArray[np.float64]:
        return relaxed.h_add


class RelaxedPlan(_Relaxing):
    """`h_ff`: the number of actions of a relaxed plan."""

    name = "h_ff"

    @staticmethod
    def _scores(relaxed: Relaxed) -> NDArray[np.float64]:
        return relaxed.h_ff
