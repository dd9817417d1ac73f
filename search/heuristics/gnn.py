"""`gnn`: the distance that a trained regressor predicts."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from epigym.space import StateSpace
from learn.model.runs import chosen
from learn.model.scoring import open_scorer
from search.heuristics.heuristic import Heuristic
from search.heuristics.registry import Count


class Gnn(Heuristic):
    """Scores e-states with a regressor, all of one call in one batch.

    Args:
        space: where the e-states live.
        checkpoint: a file of `learn.train`, or one of `learn.export` (`.onnx`, without PyTorch), in which `{domain}`
            stands for the task's domain; None takes the newest good run trained on that domain.
        threads: of the processor; the batches are small, where one is fastest.

    Raises:
        MissingError: when there is no such file or run.
        CheckpointError: when the file cannot be read.
        LimitError: when the task does not fit the encoding that the regressor was trained with.
    """

    name = "gnn"

    def __init__(self, space: StateSpace, checkpoint: str | None = None, threads: Count = 1) -> None:
        self.checkpoint = chosen(checkpoint, space.task.domain)
        self._scorer = open_scorer(self.checkpoint, threads).bind(space)

    def score(self, ids: NDArray[np.int32]) -> NDArray[np.float64]:
        """float64[k]: the predicted number of steps to a goal from each of `ids` (int32[k])."""
        return self._scorer.score(ids)
