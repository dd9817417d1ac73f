"""Scoring e-states with a trained regressor, many at a time."""

from __future__ import annotations

import os

import numpy as np
import torch
from numpy.typing import NDArray

from epigym.encoding import encoder
from epigym.space import StateSpace
from learn.checkpoints import Trained, load


class Scorer:
    """A trained regressor, ready to be bound to any state space.

    Args:
        checkpoint: a file that `learn.train` wrote.

    Raises:
        CheckpointError: when it cannot be read.
    """

    def __init__(self, checkpoint: str | os.PathLike[str]) -> None:
        """Read the checkpoint."""
        self.trained = load(checkpoint)

    def bind(self, space: StateSpace) -> BoundScorer:
        """The scorer of the e-states of one space.

        Raises:
            LimitError: when the task does not fit the encoding that the regressor was trained with.
        """
        return BoundScorer(self.trained, space)


class BoundScorer:
    """Scores the e-states of one space; made by `Scorer.bind`."""

    def __init__(self, trained: Trained, space: StateSpace) -> None:
        """Encode the goal."""
        self._trained = trained
        self._space = space
        self._encoder = encoder(space.task, **trained.encoding)

    def score(self, ids: NDArray[np.integer]) -> NDArray[np.float64]:
        """float64[k]: the predicted number of steps to a goal from each of `ids` (int32[k])."""
        batch = self._space.graphs(ids, self._encoder)
        graph = np.repeat(np.arange(len(ids)), np.diff(batch.node_ptr))
        with torch.inference_mode():
            output = self._trained.regressor(
                torch.from_numpy(batch.node_bits).float(),
                torch.from_numpy(batch.edge_index),
                torch.from_numpy(batch.edge_label)[:, None] / 255,
                torch.from_numpy(graph),
                torch.empty(len(ids)),
            )
            return self._trained.target.steps(output).double().numpy()
