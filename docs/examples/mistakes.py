"""A heuristic that counts the unsatisfied parts of the goal, and opposite beliefs more."""

import numpy as np
from numpy.typing import NDArray

from epigym import StateSpace
from epigym.task.formula import Op, considers_possible, not_, split_goal
from search.heuristics import Heuristic


class Mistakes(Heuristic):
    """Scores an e-state with the parts of the goal that do not hold.

    Args:
        space: the state space of the e-states.
        weight: the additional count of a belief when the agent believes the opposite.
    """

    name = "mistakes"

    def __init__(self, space: StateSpace, weight: float = 1.0) -> None:
        parts = split_goal(space.task.goal)
        beliefs = [part for part in parts if part.op is Op.BELIEVES]
        self._open = space.query([not_(part) for part in parts])
        self._opposite = space.query([not_(considers_possible(*part.agents, *part.children)) for part in beliefs])
        self._weight = weight

    def score(self, ids: NDArray[np.int32]) -> NDArray[np.float64]:
        """float64[k]: the score of each of `ids` (int32[k])."""
        return self._open(ids).sum(axis=1) + self._weight * self._opposite(ids).sum(axis=1)
