"""`gnn`: the distance that a trained regressor predicts."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from epigym.space import StateSpace
from learn.model.runs import chosen
from learn.model.scoring import open_scorer


class Gnn:
    """Scores e-states with a regressor that `learn.train` made, all of one call in one batch.

    Args:
        space: where the e-states live.
        checkpoint: file of the regressor, in which `{domain}` stands for the problem's domain, the part of its
            name before the slash; None takes the newest run trained on that domain.
        threads: of the processor that torch uses; the batches are small, where one is fastest.
    """

    name = "gnn"

    def __init__(self, space: StateSpace, checkpoint: str | None = None, threads: int = 1) -> None:
        """Load the regressor and bind it to a space."""
        self.checkpoint = chosen(checkpoint, space.task.name, ".ckpt")
        self._scorer = open_scorer(self.checkpoint, space, threads)

    def score(self, ids: NDArray[np.int32]) -> NDArray[np.float64]:
        """float64[k]: the predicted number of steps to a goal from each of `ids` (int32[k])."""
        return self._scorer.score(ids)
