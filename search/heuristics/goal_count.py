"""`goal_count` and `split_goal_count`: count the unsatisfied subgoals."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from epigym.space.space import StateSpace
from epigym.task.formula import Formula, split_goal
from search.heuristics.heuristic import Heuristic


class GoalCount(Heuristic):
    """The number of unsatisfied subgoals (SUB of H-EFP); 0 for goals.

    Args:
        space: the state space of the e-states.
    """

    name = "goal_count"

    def __init__(self, space: StateSpace) -> None:
        self._truth = space.query(self._select_formulas(space.task.goal))

    def score(self, ids: NDArray[np.int32]) -> NDArray[np.float64]:
        """float64[k]: how many of the counted formulas do not hold in each of `ids` (int32[k])."""
        missing: NDArray[np.float64] = np.sum(~self._truth(ids), axis=1, dtype=np.float64)
        return missing

    def _select_formulas(self, goal: Iterable[Formula]) -> Iterable[Formula]:
        return goal


class SplitGoalCount(GoalCount):
    """The number of unsatisfied parts of the goal, after splitting each subgoal as far as belief allows."""

    name = "split_goal_count"

    def _select_formulas(self, goal: Iterable[Formula]) -> Iterable[Formula]:
        return split_goal(goal)
