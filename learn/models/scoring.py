"""Scorers: trained models bound to a state space."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from epigym.encoding.encoder import AnyEncoder, Encoder, make_encoder, make_encoding
from epigym.encoding.relational import RelationalEncoder
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
        """The share of the distinct types or identifiers in `ids` (int32[k]) that the model knows; 1 if it has none."""


@dataclass(frozen=True, slots=True)
class Known:
    """The inputs that a network has learned from.

    Attributes:
        types: ids of the types of typed graphs, ascending.
        identifiers: uint8[k, bytes], see `list_identifiers`, of others.
    """

    types: tuple[int, ...] = ()
    identifiers: NDArray[np.uint8] = field(default_factory=lambda: np.empty((0, 0), np.uint8))

    def rate(self, encoder: AnyEncoder, ids: NDArray[np.int32]) -> float:
        """The share of the distinct types or identifiers in the graphs of `ids` (int32[k]); 1 where none are known."""
        if isinstance(encoder, RelationalEncoder):
            types = np.unique(encoder.graphs(ids).nodes[:, 2:])
            types = types[types > 0]
            return float(np.isin(types, self.types).mean()) if len(types) and self.types else 1.0
        known = set(map(bytes, self.identifiers))
        found = list_identifiers(encoder, ids) if known else ()
        return sum(bytes(one) in known for one in found) / len(found) if known else 1.0


def list_identifiers(encoder: AnyEncoder, ids: NDArray[np.integer]) -> NDArray[np.uint8]:
    """uint8[n, bytes]: the distinct identifiers of the nodes in the graphs of `ids` (int32[k]), as packed bits."""
    if isinstance(encoder, Encoder):
        worlds = np.unique(encoder.rows(ids).label)
        nodes = np.concatenate([encoder.goal.bits, encoder.identifiers[worlds]])
    else:
        nodes = encoder.graphs(ids).nodes
    return np.unique(np.packbits(nodes, axis=1), axis=0)


class CorrectingScorer(ABC):
    """A network that corrects a base heuristic, bound to a state space.

    Args:
        space: the state space.
        encoding: of its graphs, with its settings.
        base: the base heuristic.
        steps: calibration of values to steps.
        known: the inputs of its training.

    Attributes:
        chunk: maximum number of e-states scored at once.

    Raises:
        LimitError: when the task does not fit the encoding.
    """

    chunk: ClassVar[int] = 256

    def __init__(
        self, space: StateSpace, encoding: Mapping[str, Any], base: Base, steps: Calibration, known: Known
    ) -> None:
        self.steps = steps
        self._space = space
        self._known = known
        self._base = BaseHeuristic(space, base)
        self._encoder = make_encoder(space, make_encoding(encoding))

    @property
    def relaxation(self) -> Relaxation | None:
        """The relaxation that the network corrects, if any."""
        return self._base.relaxation

    def score(self, ids: NDArray[np.integer]) -> NDArray[np.float64]:
        """float64[k]: the corrected base heuristic of `ids` (int32[k])."""
        parts = map(self._correct, split_into_chunks(self._space, ids, self.chunk))
        return self._base.correct(ids, np.concatenate([np.empty(0), *parts]))

    def rate_known(self, ids: NDArray[np.int32]) -> float:
        """The share of the distinct types or identifiers in `ids` (int32[k]) that the network knows."""
        return self._known.rate(self._encoder, ids)

    @abstractmethod
    def _correct(self, ids: NDArray[np.integer]) -> NDArray[np.floating]:
        """float[k]: the corrections for one chunk of e-states, int32[k]."""


def split_into_chunks(space: StateSpace, ids: NDArray[np.integer], size: int) -> Iterator[NDArray[np.integer]]:
    """Split e-states, int32[k], into chunks of at most `size`, smaller if they have many worlds."""
    most = int(space.world_counts(ids).max(initial=1))
    size = max(1, min(size, _CHUNK_WORLDS // most))
    return (ids[start : start + size] for start in range(0, len(ids), size))
