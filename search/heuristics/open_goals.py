"""`open_goals` and `divided_goals`: count what is missing of the goal."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from epigym.space.space import StateSpace
from epigym.task.formula import Formula, parts_of
from search.heuristics.heuristic import Heuristic


class OpenGoals(Heuristic):
    """Scores an e-state with its number of unsatisfied subgoals (SUB of H-EFP); goals score 0.

    Args:
        space: where the e-states live.
    """

    name = "open_goals"

    def __init__(self, space: StateSpace) -> None:
        self._truth = space.query(self._counted(space.task.goal))

    def score(self, ids: NDArray[np.int32]) -> NDArray[np.float64]:
        """float64[k]: how many of the formulas counted do not hold in each of `ids` (int32[k])."""
        missing: NDArray[np.float64] = np.sum(~self._truth(ids), axis=1, dtype=np.float64)
        return missing

    def _counted(self, goal: Iterable[Formula]) -> Iterable[Formula]:
        return goal


class DividedGoals(OpenGoals):
    """The same with the subgoals divided into parts as small as belief lets them be: never coarser, often finer."""

    name = "divided_goals"

    def _counted(self, goal: Iterable[Formula]) -> Iterable[Formula]:
        return parts_of(goal)
