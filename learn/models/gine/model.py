"""Networks in files that are read and evaluated without PyTorch."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, cast, get_args

import numpy as np
from numpy.typing import NDArray

from epigym import _core
from epigym.encoding.encoder import Encoder, make_encoder, make_encoding
from epigym.encoding.goal_graph import MAX_LABEL
from epigym.encoding.pyg import node_types
from epigym.encoding.relational import Relational
from epigym.errors import CheckpointError, UsageError
from epigym.io.checksummed import add_checksum
from epigym.io.files import AnyPath, write_text
from epigym.space.rows import GraphBatch
from epigym.space.space import StateSpace, as_ids
from learn.models.base import Base
from learn.models.calibration import Calibration
from learn.models.files import as_schema, read_model_file
from learn.models.scoring import CorrectingScorer

KIND = "gine"
"""The kind declared in the file of a network."""
FORMAT_VERSION = 2
"""Version of the file and of the graphs."""

Weights = Mapping[str, NDArray[np.float32]]


@dataclass(frozen=True)
class NetworkModel:
    """A trained `GineNetwork` with all data for scoring e-states.

    Attributes:
        domain: training domain; `general` for several.
        encoding: encoding of its graphs, with settings.
        types: ids of the known types, ascending; empty if the encoding has none.
        base: the base heuristic that it corrects.
        steps: calibration of its values to steps.
        weights: its tensors by name.
        schema: colours of the predicates and action schemas in training.
        card: description of the training and its validation.
    """

    domain: str
    encoding: Mapping[str, Any]
    types: tuple[int, ...]
    base: Base
    steps: Calibration
    weights: Weights
    schema: frozenset[int] = frozenset()
    card: Mapping[str, Any] = field(default_factory=dict)

    @property
    def is_typed(self) -> bool:
        """Whether nodes have types instead of identifiers."""
        return "nodes.types.weight" in self.weights

    @cached_property
    def core(self) -> _core.GineNetwork:
        """The network in the core.

        Raises:
            CheckpointError: when the weights are not those of a network.
        """
        try:
            if self.is_typed:
                encoding = cast(Relational, make_encoding(self.encoding))
                index = np.zeros(encoding.type_ids + 1, dtype=np.int64)
                index[list(self.types)] = np.arange(1, len(self.types) + 1)
                names = {name: name.removeprefix("nodes.").replace(".edges.", ".relations.") for name in self.weights}
                return _core.GineNetwork({names[name]: array for name, array in self.weights.items()}, index)
            labels = (np.arange(MAX_LABEL + 1)[:, None] / MAX_LABEL).astype(np.float32)
            layers = {name.partition(".edges.")[0] for name in self.weights if ".edges." in name}
            tables = {f"{layer}.relations.weight": self._perceive(f"{layer}.edges", labels) for layer in layers}
            return _core.GineNetwork({**self.weights, **tables})
        except (AttributeError, IndexError, KeyError, UsageError, ValueError) as error:
            raise CheckpointError(f"the weights of {self.domain} make no network: {error}") from None

    def embed(self, identifiers: NDArray[np.uint8]) -> NDArray[np.float32]:
        """float32[n, width]: the embeddings of identifiers, 0/1 bits uint8[n, bits]."""
        return self._perceive("nodes", identifiers.astype(np.float32))

    def _perceive(self, name: str, rows: NDArray[np.float32]) -> NDArray[np.float32]:
        """Apply two linear layers with a ReLU between them."""
        first, last = ((self.weights[f"{name}.{n}.weight"], self.weights[f"{name}.{n}.bias"]) for n in (0, 2))
        hidden = np.maximum(rows @ first[0].T + first[1], 0)
        found: NDArray[np.float32] = (hidden @ last[0].T + last[1]).astype(np.float32)
        return found


class FusedScorer(CorrectingScorer):
    """A network evaluated in the core, bound to a state space.

    Args:
        model: the network.
        space: the state space.

    Raises:
        LimitError: when the task does not fit the encoding that the network was trained with.
    """

    chunk = 32  # fits into the caches of a processor

    def __init__(self, model: NetworkModel, space: StateSpace) -> None:
        super().__init__(space, model.base, model.steps)
        self._model = model
        self._encoder = make_encoder(space, make_encoding(model.encoding))

    def rate_known(self, ids: NDArray[np.int32]) -> float:
        """The share of the distinct types in the graphs of `ids` (int32[k]) that the network knows; 1 without types."""
        if not self._model.is_typed:
            return 1.0
        types = np.unique(self._encoder.graphs(ids).nodes[:, 2:])
        types = types[types > 0]
        return float(np.isin(types, self._model.types).mean()) if len(types) else 1.0

    def _correct(self, ids: NDArray[np.integer]) -> NDArray[np.float32]:
        if not isinstance(self._encoder, Encoder):
            return self._model.core.score(self._encoder.core, as_ids(ids))
        nodes, *edges = self._encoder.graphs(ids)
        _, first, places = np.unique(np.packbits(nodes, axis=1), axis=0, return_index=True, return_inverse=True)
        inputs = self._model.embed(nodes[first])[places.ravel()]
        return self._model.core.forward_features(inputs, node_types(GraphBatch(nodes, *edges)), *edges)


def write_network(model: NetworkModel, path: AnyPath) -> None:
    """Write a network as JSON with a checksum; weights are float32 in base64."""
    weights = {
        name: [list(array.shape), base64.b64encode(np.ascontiguousarray(array, dtype="<f4").tobytes()).decode()]
        for name, array in model.weights.items()
    }
    content = add_checksum(
        {
            "format_version": FORMAT_VERSION,
            "kind": KIND,
            "domain": model.domain,
            "schema": sorted(f"{colour:016x}" for colour in model.schema),
            "card": dict(model.card),
            "encoding": dict(model.encoding),
            "base": model.base,
            "steps": [list(model.steps.values), list(model.steps.steps)],
            "types": list(model.types),
            "weights": weights,
        }
    )
    lines = ",\n".join(f" {json.dumps(name)}: {json.dumps(value)}" for name, value in content.items())
    write_text(path, f"{{\n{lines}\n}}\n")


def read_network(path: AnyPath) -> NetworkModel:
    """Read a network from a file of `write_network`.

    Raises:
        CheckpointError: when the file is of another kind or version, is damaged, or does not describe a network.
        MissingError: when there is no such file.
    """
    try:
        data = read_model_file(path, FORMAT_VERSION)
        if data["base"] not in get_args(Base):
            raise ValueError(f"base is {data['base']!r}, expected one of {', '.join(get_args(Base))}")
        model = NetworkModel(
            domain=str(data["domain"]),
            encoding=dict(data["encoding"]),
            types=tuple(map(int, data["types"])),
            base=data["base"],
            steps=Calibration(*data["steps"]),
            weights={name: _read_array(name, *entry) for name, entry in data["weights"].items()},
            schema=as_schema(data["schema"]),
            card=dict(data["card"]),
        )
        _ = model.core
    except (AttributeError, KeyError, OverflowError, TypeError, ValueError, binascii.Error) as error:
        raise CheckpointError(f"{Path(path)}: no network: {error!r}") from None
    return model


def _read_array(name: str, shape: list[int], text: str) -> NDArray[np.float32]:
    array = np.frombuffer(base64.b64decode(text, validate=True), dtype="<f4").reshape(shape).astype(np.float32)
    if not np.isfinite(array).all():
        raise ValueError(f"{name} has entries that are no finite numbers")
    return array
