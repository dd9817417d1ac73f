"""Opening a trained or exported regressor to score e-states with."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from epigym.space import StateSpace


class Scorer(Protocol):
    """A regressor, bound to the e-states of one space."""

    def score(self, ids: NDArray[np.integer]) -> NDArray[np.float64]:
        """float64[k]: the predicted number of steps to a goal from each of `ids` (int32[k])."""


def open_scorer(path: str | os.PathLike[str], space: StateSpace, threads: int = 1) -> Scorer:
    """The regressor in a checkpoint of `learn.train`, or in a file of `learn.export` (`.onnx`, without PyTorch).

    Args:
        path: the file.
        space: where the e-states live.
        threads: of the processor; the batches are small, where one is fastest.

    Raises:
        CheckpointError: when it cannot be read.
        LimitError: when the task does not fit the encoding that the regressor was trained with.
        EpigymError: when ONNX Runtime is missing.
    """
    if Path(path).suffix == ".onnx":
        from learn.model.onnx_scorer import OnnxScorer

        return OnnxScorer(path, space, threads)
    import torch  # takes seconds

    from learn.model import checkpoints, scorer

    torch.set_num_threads(threads)
    return scorer.RegressorScorer(checkpoints.load(path), space)
