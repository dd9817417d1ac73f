"""Scorers: trained models bound to a state space."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import ClassVar, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from epigym.features.relaxation import Relaxation
from epigym.space.space import StateSpace
from learn.models.base import Base, BaseHeuristic
from learn.models.calibration import Calibration

_CHUNK_WORLDS = 8192  # maximum number of worlds scored at once

Device = Literal["auto", "cpu", "cuda"]


class Scorer(Protocol):
    """A model bound to a state space.

    Attributes:
        steps: calibration of its values to steps.
    """

    steps: Calibration

    @property
    def relaxation(self) -> Relaxation | None:
        """The relaxation that the model corrects, if any."""

    def score(self, ids: NDArray[np.int32]) -> NDArray[np.float64]:
        """float64[k]: the value of each of `ids` (int32[k])."""

    def rate_known(self, ids: NDArray[np.int32]) -> float:
        """The share of the distinct types in `ids` (int32[k]) that the model knows; 1 if it has no types."""


class CorrectingScorer(ABC):
    """A network that corrects a base heuristic, bound to a state space.

    Args:
        space: the state space.
        base: the base heuristic.
        steps: calibration of values to steps.

    Attributes:
        chunk: maximum number of e-states scored at once.
    """

    chunk: ClassVar[int] = 256

    def __init__(self, space: StateSpace, base: Base, steps: Calibration) -> None:
        self.steps = steps
        self._space = space
        self._base = BaseHeuristic(space, base)

    @property
    def relaxation(self) -> Relaxation | None:
        """The relaxation that the network corrects, if any."""
        return self._base.relaxation

    def score(self, ids: NDArray[np.integer]) -> NDArray[np.float64]:
        """float64[k]: the corrected base heuristic of `ids` (int32[k])."""
        parts = map(self._correct, split_into_chunks(self._space, ids, self.chunk))
        return self._base.correct(ids, np.concatenate([np.empty(0), *parts]))

    def rate_known(self, ids: NDArray[np.int32]) -> float:
        """The share of the distinct types in `ids` (int32[k]) that the network knows; 1 without types."""
        return 1.0

    @abstractmethod
    def _correct(self, ids: NDArray[np.integer]) -> NDArray[np.floating]:
        """float[k]: the corrections for one chunk of e-states, int32[k]."""


def split_into_chunks(space: StateSpace, ids: NDArray[np.integer], size: int) -> Iterator[NDArray[np.integer]]:
    """Split e-states, int32[k], into chunks of at most `size`, smaller if they have many worlds."""
    most = int(space.world_counts(ids).max(initial=1))
    size = max(1, min(size, _CHUNK_WORLDS // most))
    return (ids[start : start + size] for start in range(0, len(ids), size))
