"""Networks: the model, and a scorer in the core for those of the kind `gine`, without PyTorch."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from epigym import _core
from epigym.config.packages import extras, slow_imports
from epigym.config.targets import TARGET
from epigym.encoding.encoder import Encoder, make_encoding
from epigym.encoding.goal_graph import MAX_LABEL
from epigym.encoding.identifiers import Identifiers
from epigym.encoding.pyg import node_types
from epigym.encoding.relational import Relational
from epigym.errors import ModelError, UsageError
from epigym.features.types import FeatureTypes
from epigym.space.rows import GraphBatch
from epigym.space.space import StateSpace, as_ids
from learn.models.base import Base
from learn.models.files import Content
from learn.models.gine.kinds import CLASSES, GINE, PAPER
from learn.models.model import Model
from learn.models.scoring import CorrectingScorer, Device, Known, Scorer

if TYPE_CHECKING:
    from torch import nn

Weights = Mapping[str, NDArray[Any]]
_IDENTIFIERS = ":identifiers"  # among the tensors of a file; no network has such a name

logger = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class NetworkModel(Model):
    """A trained network that corrects a base heuristic.

    Attributes:
        settings: arguments of its class.
        encoding: encoding of its graphs, with settings.
        types: ids of the known types, ascending; empty if the encoding has none.
        identifiers: uint8[k, bytes], the known identifiers as packed bits, see `list_identifiers`; empty if the
            encoding has types.
        base: the base heuristic that it corrects.
        weights: its tensors by name.
    """

    kind: str = GINE
    settings: Mapping[str, Any] = field(default_factory=dict)
    encoding: Mapping[str, Any]
    types: tuple[int, ...] = ()
    identifiers: NDArray[np.uint8] = field(default_factory=lambda: np.empty((0, 0), np.uint8), compare=False)
    base: Base
    weights: Weights

    def make_scorer(
        self, space: StateSpace, device: Device = "auto", threads: int = 1, *, types: FeatureTypes | None = None
    ) -> Scorer:
        """Bind the model to a state space, see `Model.make_scorer`; classes that it names are imported."""
        named = {CLASSES.get(self.kind, self.kind), self.encoding.get(TARGET)} - {None, *CLASSES.values()}
        for name in sorted(map(str, named)) if self.path else ():
            logger.info("%s names %s, whose module is imported", self.path, name)
        # Encodings of others may make other graphs.
        is_ours = type(make_encoding(self.encoding)).encoder in (Identifiers.encoder, Relational.encoder)
        if self.kind == GINE and is_ours and device != "cuda":
            return FusedScorer(self, space)
        return self._make_torch_scorer(space, device, threads, is_ours=is_ours)

    @extras()
    def _make_torch_scorer(self, space: StateSpace, device: Device, threads: int, *, is_ours: bool) -> Scorer:
        with slow_imports():
            import torch

            from learn.models.gine.scorer import NetworkScorer, PaperScorer

        torch.set_num_threads(threads)
        has_gpu = torch.cuda.is_available()
        if device == "cuda" and not has_gpu:
            raise UsageError("device=cuda: PyTorch finds no GPU here: give device=cpu")
        if self.kind == PAPER and is_ours and device != "cuda":
            return PaperScorer(space, self.network, self.encoding, self.base, self.steps, self.known)
        chosen = "cuda" if has_gpu and device != "cpu" else "cpu"
        return NetworkScorer(space, self.network, self.encoding, self.base, self.steps, self.known, chosen)

    @property
    def known(self) -> Known:
        """The inputs that it has learned from."""
        return Known(self.types, self.identifiers)

    @cached_property
    def network(self) -> nn.Module:
        """The network of PyTorch in evaluation mode, on the CPU.

        Raises:
            ModelError: when its class cannot be imported, or the settings or weights do not fit it.
        """
        from learn.models.gine.network import load_network

        settings = self.settings if self.kind == GINE else {**self.settings, TARGET: CLASSES.get(self.kind, self.kind)}
        try:
            return load_network(settings, self.encoding, self.types, self.weights)
        except Exception as error:  # a user's network may raise any exception
            reason = str(error).partition("\n")[0].rstrip(":")
            raise ModelError(f"{self.path}: no network of kind {self.kind}: {reason}") from None

    def _pack(self) -> Content:
        values = {name: getattr(self, name) for name in ("settings", "base", "encoding", "types")}
        known = {_IDENTIFIERS: self.identifiers} if len(self.identifiers) else {}
        return Content(values, {**self.weights, **known})

    @classmethod
    def _unpack(cls, content: Content, **common: Any) -> Self:
        values, weights = content.values, dict(content.tensors)
        identifiers = weights.pop(_IDENTIFIERS, np.empty((0, 0), np.uint8))
        if identifiers.ndim != 2 or identifiers.dtype != np.uint8:
            raise ValueError("identifiers are no packed bits")
        types = tuple(values["types"])
        if any(type(one) is not int for one in types) or list(types) != sorted({*types}) or min(types, default=1) < 1:
            raise ValueError("type ids are not whole numbers from 1 on, unique and ascending")
        settings, encoding = dict(values["settings"]), dict(values["encoding"])
        own = {"types": types, "identifiers": identifiers, "base": values["base"], "weights": weights}
        model = cls(**common, settings=settings, encoding=encoding, **own)
        if encoding.get(TARGET) is None:
            make_encoding(encoding)
            if model.kind == GINE:
                model.make_core()
        return model

    @property
    def is_typed(self) -> bool:
        """Whether nodes have types instead of identifiers."""
        return "nodes.types.weight" in self.weights

    def make_core(self) -> _core.GineNetwork:
        """Make the network in the core.

        Raises:
            ModelError: when the weights are not those of a network.
        """
        try:
            encoding = make_encoding(self.encoding)
            columns = self.weights["nodes.types.weight" if self.is_typed else "nodes.0.weight"].shape
            if isinstance(encoding, Relational):
                if columns[0] != 1 + len(self.types):
                    raise ValueError(f"{columns[0]} embeddings for {len(self.types)} types")
                index = np.zeros(encoding.type_ids + 1, dtype=np.int64)
                index[list(self.types)] = np.arange(1, len(self.types) + 1)
                names = {name: name.removeprefix("nodes.").replace(".edges.", ".relations.") for name in self.weights}
                return _core.GineNetwork({names[name]: array for name, array in self.weights.items()}, index)
            if columns[1] != encoding.width:
                raise ValueError(f"nodes have {columns[1]} bits, those of the encoding {encoding.width}")
            labels = (np.arange(MAX_LABEL + 1)[:, None] / MAX_LABEL).astype(np.float32)
            layers = {name.partition(".edges.")[0] for name in self.weights if ".edges." in name}
            tables = {f"{layer}.relations.weight": self._perceive(f"{layer}.edges", labels) for layer in layers}
            return _core.GineNetwork({**self.weights, **tables})
        except Exception as error:  # weights of a file may be anything
            raise ModelError(f"{self.path}: the weights make no network: {error}") from None

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
        super().__init__(space, model.encoding, model.base, model.steps, model.known)
        self._model = model
        self._core = model.make_core()

    def _correct(self, ids: NDArray[np.integer]) -> NDArray[np.float32]:
        if not isinstance(self._encoder, Encoder):
            return self._core.score(self._encoder.core, as_ids(ids), self._encoder.space.threads)
        nodes, *edges = self._encoder.graphs(ids)
        _, first, places = np.unique(np.packbits(nodes, axis=1), axis=0, return_index=True, return_inverse=True)
        inputs = self._model.embed(nodes[first])[places.ravel()]
        return self._core.forward_features(inputs, node_types(GraphBatch(nodes, *edges)), *edges)
