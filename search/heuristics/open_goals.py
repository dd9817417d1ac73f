"""`open_goals`: count the subgoals that do not hold (SUB of H-EFP)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from epigym.space import Query, StateSpace


class OpenGoals:
    """Scores an e-state with its number of unsatisfied subgoals; goals score 0.

    Args:
        space: where the e-states live.
    """

    name = "open_goals"
    checkpoint = ""

    def __init__(self, space: StateSpace) -> None:
        """Bind to a space."""
        self._truth: Query = space.query(space.task.goal)

    def score(self, ids: NDArray[np.int32]) -> NDArray[np.float64]:
        """float64[k]: the number of unsatisfied subgoals of each of `ids` (int32[k])."""
        missing: NDArray[np.float64] = np.sum(~self._truth(ids), axis=1, dtype=np.float64)
        return missing
