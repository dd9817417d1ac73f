"""`gnn`: the distance that a trained regressor predicts."""

from __future__ import annotations

import os

import numpy as np
from numpy.typing import NDArray

from epigym.space import StateSpace
from learn.checkpoints import newest
from learn.scorer import Scorer


class Gnn:
    """Scores e-states with a regressor that `learn.train` made, all of one call in one batch.

    Args:
        space: where the e-states live.
        checkpoint: file of the regressor; None takes the newest run trained on the problem's family, which is
            the part of its name before the slash.
    """

    name = "gnn"

    def __init__(self, space: StateSpace, checkpoint: str | os.PathLike[str] | None = None) -> None:
        """Load the regressor and bind it to a space."""
        self.checkpoint = os.fspath(checkpoint or newest(space.task.name.partition("/")[0]))
        self._scorer = Scorer(self.checkpoint).bind(space)

    def score(self, ids: NDArray[np.int32]) -> NDArray[np.float64]:
        """float64[k]: the predicted number of steps to a goal from each of `ids` (int32[k])."""
        return self._scorer.score(ids)
