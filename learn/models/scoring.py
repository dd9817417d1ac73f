"""Opening a trained or exported model to score e-states with."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from epigym.config.packages import extras
from epigym.features.relaxation import Relaxation
from epigym.space.space import StateSpace
from learn.models.base import Base, BaseHeuristic
from learn.models.calibration import Calibration

_CHUNK_WORLDS = 8192  # of e-states scored at once

Device = Literal["auto", "cpu", "cuda"]


class Scorer(Protocol):
    """A model, bound to the e-states of one space.

    Attributes:
        steps: from its values to steps.
    """

    steps: Calibration

    @property
    def relaxation(self) -> Relaxation | None:
        """The relaxation that the model corrects; None where it corrects none."""

    def score(self, ids: NDArray[np.integer]) -> NDArray[np.float64]:
        """float64[k]: the value of each of `ids` (int32[k])."""


class CorrectingScorer(ABC):
    """A network, bound to the e-states of one space, that corrects a base heuristic.

    Args:
        space: where the e-states live.
        base: the heuristic.
        steps: from values to steps.

    Attributes:
        chunk: e-states scored at once.
    """

    chunk: ClassVar[int] = 256

    def __init__(self, space: StateSpace, base: Base, steps: Calibration) -> None:
        self.steps = steps
        self._space = space
        self._base = BaseHeuristic(space, base)

    @property
    def relaxation(self) -> Relaxation | None:
        """The relaxation that the network corrects."""
        return self._base.relaxation

    def score(self, ids: NDArray[np.integer]) -> NDArray[np.float64]:
        """float64[k]: the value of each of `ids` (int32[k]): the base heuristic with its correction."""
        parts = map(self._correct, split_into_chunks(self._space, ids, self.chunk))
        return self._base.correct(ids, np.concatenate([np.empty(0), *parts]))

    @abstractmethod
    def _correct(self, ids: NDArray[np.integer]) -> NDArray[np.floating]:
        """float[k]: the corrections of one chunk, int32[k]."""


def split_into_chunks(space: StateSpace, ids: NDArray[np.integer], size: int) -> Iterator[NDArray[np.integer]]:
    """E-states, int32[k], at most `size` at a time, fewer where they have many worlds."""
    most = int(space.world_counts(ids).max(initial=1))
    size = max(1, min(size, _CHUNK_WORLDS // most))
    return (ids[start : start + size] for start in range(0, len(ids), size))


@extras()
def open_scorer(path: str | os.PathLike[str], space: StateSpace, threads: int = 1, device: Device = "auto") -> Scorer:
    """The network in a checkpoint of `learn.train`, or in a file of `learn.export` (`.onnx`, without PyTorch).

    Args:
        path: the file.
        space: where the e-states live.
        threads: of the processor; the batches are small, where one is fastest.
        device: `cpu`, `cuda`, or `auto`: a GPU for networks that only PyTorch evaluates, where there is one.

    Raises:
        CheckpointError: when it cannot be read.
        LimitError: when the task does not fit the encoding that the network was trained with.
        MissingError: when ONNX Runtime or PyTorch is not installed.
    """
    if Path(path).suffix == ".onnx":
        from learn.models.gine.onnx_scorer import OnnxScorer

        return OnnxScorer(path, space, threads)
    import torch  # takes seconds

    from learn.models.checkpoints import load
    from learn.models.gine.scorer import make_scorer

    torch.set_num_threads(threads)
    return make_scorer(load(path), space, device)
