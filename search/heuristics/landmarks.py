"""`landmarks`: counts the landmarks of the relaxation that a path still has to reach, or to reach again."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from epigym.features.relaxation import Relaxation
from epigym.space.growing import GrowingTable
from epigym.space.space import StateSpace
from search.heuristics.heuristic import Estimates, Heuristic

Bools = NDArray[np.bool_]


class LandmarkCount(Heuristic):
    """Scores an e-state with its number of required landmarks of the initial e-state; goals score 0, and only they.

    A landmark is a formula that every relaxed plan makes true. It is *accepted* once it has held on the path to the
    e-state. It is *required* until it is accepted, and again while it does not hold and is a part of the goal or needed
    by the first achievers of a landmark that is not accepted. The preferred actions are those of the relaxation, which
    do better than actions that add landmarks. If the relaxation is uninformative for the problem, the landmarks are the
    parts of the goal and no action is preferred.

    Source: Richter, Westphal, "The LAMA Planner" (JAIR 39, 2010), with greedy-necessary orders only; these do not
    affect acceptance, as the landmarks before have held.

    Args:
        space: the state space of the e-states.
    """

    name = "landmarks"
    prefers = True

    def __init__(self, space: StateSpace) -> None:
        self._space = space
        self._relaxation = Relaxation(space)
        self.is_uninformative = self._relaxation.is_uninformative(space.initial)
        landmarks = self._relaxation.landmarks(space.initial)
        self._is_goal = landmarks.is_goal
        self._before = landmarks.before.astype(np.float32)
        self._truth = space.query(landmarks.formulas)
        self._accepted = GrowingTable((len(self._is_goal) + 7) // 8, np.uint8)  # a row of bits for each e-state

    def score(self, ids: NDArray[np.int32]) -> NDArray[np.float64]:
        """float64[k]: the number of landmarks required in each of `ids` (int32[k]) as the start of a path."""
        truth = self._truth(ids)
        return self._scores(ids, self._find_required(truth, truth))

    def evaluate(self, ids: NDArray[np.int32], parents: NDArray[np.int64], actions: NDArray[np.int64]) -> Estimates:
        """The numbers of landmarks required at the end of the paths to e-states, and the preferred actions."""
        if self.is_uninformative:
            return super().evaluate(ids, parents, actions)
        truth = self._truth(ids)
        required = self._find_required(truth, self._accept(ids, parents, truth))
        relaxed = self._relaxation(ids)
        return Estimates(self._scores(ids, required), relaxed.preferred_ptr, relaxed.preferred)

    def _accept(self, ids: NDArray[np.int32], parents: NDArray[np.int64], truth: Bools) -> Bools:
        """Accept the parents' landmarks and those that hold: bool[k, n]; stores them for the successors."""
        missing = max(int(ids.max(initial=-1)) + 1 - len(self._accepted), 0)
        self._accepted.append(np.zeros((missing, self._accepted.rows.shape[1]), dtype=np.uint8))
        rows = self._accepted.rows
        bits = np.packbits(truth, axis=1) | np.where(parents[:, None] < 0, 0, rows[parents])
        rows[ids] = bits
        return np.unpackbits(bits, axis=1, count=truth.shape[1]).view(np.bool_)

    def _find_required(self, truth: Bools, accepted: Bools) -> Bools:
        again = self._is_goal | (~accepted @ self._before.T > 0)
        required: Bools = ~accepted | (~truth & again)
        return required

    def _scores(self, ids: NDArray[np.int32], required: Bools) -> NDArray[np.float64]:
        return np.where(self._space.is_goal(ids), 0.0, np.maximum(required.sum(axis=1), 1.0))
