"""`onnx`: the distance that an exported regressor predicts, without PyTorch."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from epigym.space import StateSpace
from learn.model.onnx_scorer import OnnxScorer
from learn.model.runs import chosen


class Onnx:
    """Scores e-states with a regressor that `learn.export` wrote, all of one call in one batch.

    Args:
        space: where the e-states live.
        path: the file, in which `{domain}` stands for the problem's domain, the part of its name before the slash;
            None takes the one beside the checkpoint of the newest run trained on that domain.
        threads: of the processor; with more than one the rounding of the scores varies.
    """

    name = "onnx"

    def __init__(self, space: StateSpace, path: str | None = None, threads: int = 1) -> None:
        """Load the regressor and bind it to a space."""
        self.checkpoint = chosen(path, space.task.name, ".onnx")
        self._scorer = OnnxScorer(self.checkpoint, space, threads)

    def score(self, ids: NDArray[np.int32]) -> NDArray[np.float64]:
        """float64[k]: the predicted number of steps to a goal from each of `ids` (int32[k])."""
        return self._scorer.score(ids)
