"""What a heuristic is."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class Evaluation(NamedTuple):
    """What a heuristic says of k e-states.

    Attributes:
        scores: float64[k], as `Heuristic.score` gives them.
        preferred_ptr: int64[k + 1], where the preferred actions of each e-state start.
        preferred: int32[p], actions that lead towards the goal, as far as the heuristic can tell.
    """

    scores: NDArray[np.float64]
    preferred_ptr: NDArray[np.int64]
    preferred: NDArray[np.int32]


class Heuristic(ABC):
    """Estimates how far e-states are from a goal; made for one state space, which is its first argument.

    Agents call `evaluate`, once for every e-state that they meet, and for its parent before it. What depends on the
    e-state alone and prefers nothing needs to say only how to `score`.

    Attributes:
        name: in messages and, where nothing else is said, in tables.
        checkpoint: the file a learned heuristic was read from, empty for any other.
        prefers: whether it also prefers actions.
    """

    name: str = "own"
    checkpoint: str = ""
    prefers: bool = False

    @abstractmethod
    def score(self, ids: NDArray[np.int32]) -> NDArray[np.float64]:
        """float64[k]: a score for each of the e-states `ids` (int32[k]), in steps where the heuristic knows steps.

        The lower the better; infinity puts an e-state last.
        """

    def evaluate(self, ids: NDArray[np.int32], parents: NDArray[np.int64], actions: NDArray[np.int64]) -> Evaluation:
        """Scores and preferred actions of e-states; without preferences none.

        Args:
            ids: int32[k], the e-states.
            parents: int64[k], the e-state from which the agent reached each of them first; -1 for the initial one.
            actions: int64[k], the action by which it did; -1 for the initial e-state.
        """
        return Evaluation(self.score(ids), np.zeros(len(ids) + 1, dtype=np.int64), np.empty(0, dtype=np.int32))
