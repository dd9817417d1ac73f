"""A graph network over the typed graphs of e-states that corrects a base heuristic: network, checkpoints, scoring."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, get_args

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch_geometric.nn import GINEConv
from torch_geometric.utils import scatter

from epigym.encoding.relational import KIND_OF, KINDS, RELATIONS, GraphMaker, Graphs
from epigym.features.relaxation import Relaxation
from epigym.features.types import FeatureTypes
from epigym.space.space import StateSpace
from learn.models.checkpoints import Content, unfit
from learn.models.linear.model import Base, BaseHeuristic
from learn.models.scoring import chunks

KIND = "relational"
"""What the hyper-parameters inside a checkpoint say of it."""
VERSION = 2
"""Raised whenever the graphs or the hyper-parameters inside a checkpoint change their meaning."""

_CHUNK = 32  # e-states scored at once: what fits into the caches of a processor


class GraphTensors(NamedTuple):
    """`Graphs` as tensors; the fields are the same."""

    size: int
    graph: Tensor
    state: Tensor
    types: Tensor
    edges: Tensor
    relation: Tensor


def tensors(graphs: Graphs) -> GraphTensors:
    """Graphs as tensors, on the CPU."""
    size, *arrays = graphs
    return GraphTensors(size, *map(torch.from_numpy, arrays))


class RelationalNetwork(nn.Module):
    """A residual graph network with sum aggregation, from graphs to one value each.

    The input of a node is the sum of the embeddings of its state and its types; types unknown to the model add nothing.
    The mean and the maximum over the nodes of each kind enter the head, whose last layer starts at zero.

    Args:
        types: number of types in the vocabulary.
        width: of all hidden layers.
        layers: rounds of message passing.
        type_dropout: share of the types that is dropped in each training step, so that the network meets unknown types.
    """

    kind_of: Tensor
    unit: Tensor

    def __init__(self, types: int, width: int, layers: int, type_dropout: float = 0.0) -> None:
        super().__init__()
        self.states = nn.Embedding(len(KIND_OF), width)
        self.types = nn.Embedding(types + 1, width, padding_idx=0)
        self.layers = nn.ModuleList(ResidualLayer(width) for _ in range(layers))
        self.head = nn.Sequential(nn.Linear(2 * KINDS * width, width), nn.ReLU())
        self.last = nn.Linear(width, 1)
        nn.init.zeros_(self.last.weight)
        nn.init.zeros_(self.last.bias)
        self.register_buffer("kind_of", torch.from_numpy(KIND_OF), persistent=False)
        self.register_buffer("unit", torch.ones(()))
        self._type_dropout = type_dropout

    def forward(self, graphs: GraphTensors) -> Tensor:
        """float32[k]: the values of k graphs, `unit` for a step; the lower, the nearer to a goal."""
        types = graphs.types
        if self.training:
            is_kept = torch.rand(self.types.num_embeddings, device=types.device) >= self._type_dropout
            types = types * is_kept[types]
        x = self.states(graphs.state) + self.types(types).sum(dim=1)
        for layer in self.layers:
            x = layer(x, graphs.edges, graphs.relation)
        place = graphs.graph * KINDS + self.kind_of[graphs.state]
        pooled = [scatter(x, place, 0, graphs.size * KINDS, how) for how in ("mean", "max")]
        return self.last(self.head(torch.cat(pooled, dim=1).view(graphs.size, -1))).squeeze(1)  # type: ignore[no-any-return]


class ResidualLayer(nn.Module):
    """x ← LayerNorm(x + MLP(x + Σ ReLU(x_source + e_relation))), the sum over incoming edges.

    Source: GINEConv (Hu et al., "Strategies for Pre-training Graph Neural Networks", ICLR 2020).

    Args:
        width: of node features.
    """

    def __init__(self, width: int) -> None:
        super().__init__()
        self.relations = nn.Embedding(RELATIONS, width)
        self.convolution = GINEConv(nn.Sequential(nn.Linear(width, width), nn.ReLU(), nn.Linear(width, width)))
        self.norm = nn.LayerNorm(width)

    def forward(self, x: Tensor, edges: Tensor, relation: Tensor) -> Tensor:
        """float32[n, width], from the same, int64[2, e] and int64[e]."""
        return self.norm(x + self.convolution(x, edges, self.relations(relation)))  # type: ignore[no-any-return]


@dataclass(frozen=True, slots=True)
class RelationalModel:
    """A trained network with everything that is needed to score e-states of any task.

    Attributes:
        path: the file it was read from.
        network: in evaluation mode, on the CPU.
        vocabulary: uint64[v], the colours of the types that it knows, ascending.
        base: the heuristic that it corrects.
        domains: domains that it was trained on.
    """

    path: Path
    network: RelationalNetwork
    vocabulary: NDArray[np.uint64]
    base: Base
    domains: tuple[str, ...]


def restore(content: Content) -> RelationalModel:
    """The model of a checkpoint that `learn.train model=relational` wrote.

    Raises:
        CheckpointError: when it is another one, damaged, or of another version.
    """
    path, parameters, state = content
    content.require_version(VERSION)
    try:
        vocabulary = np.array(parameters["vocabulary"], dtype=np.uint64)
        network = RelationalNetwork(len(vocabulary), **parameters["network"])
        network.load_state_dict(state)
        if not network.unit > 0:
            raise ValueError(f"unit is {network.unit.item()}, expected a number above 0")
        base, domains = parameters["base"], tuple(parameters["domains"])
        if base not in get_args(Base):
            raise ValueError(f"base is {base!r}, expected one of {', '.join(get_args(Base))}")
    except (KeyError, TypeError, ValueError, OverflowError, RuntimeError) as error:
        raise unfit(path, error) from None
    return RelationalModel(path, network.eval().requires_grad_(False), vocabulary, base, domains)


class RelationalScorer:
    """Scores the e-states of one space, as many at a time as fit.

    Args:
        space: where the e-states live.
        network: what scores, on any device.
        vocabulary: uint64[v], the colours of the types that it knows.
        base: the heuristic that the network corrects.
        types: of the space's task.
    """

    def __init__(
        self,
        space: StateSpace,
        network: RelationalNetwork,
        vocabulary: NDArray[np.uint64],
        base: Base,
        types: FeatureTypes | None = None,
    ) -> None:
        self._space = space
        self._network = network
        self._base = BaseHeuristic(space, base)
        self._graphs = GraphMaker(space, types or FeatureTypes(space.task), vocabulary)

    @property
    def relaxation(self) -> Relaxation | None:
        """The relaxation that the network corrects."""
        return self._base.relaxation

    def score(self, ids: NDArray[np.integer]) -> NDArray[np.float64]:
        """float64[k]: the scores of `ids` (int32[k]) in steps: the base heuristic plus its correction."""
        corrections = np.concatenate([np.empty(0), *map(self._correct, chunks(self._space, ids, _CHUNK))])
        scores: NDArray[np.float64] = self._base(ids) + corrections
        return scores

    @torch.inference_mode()
    def _correct(self, ids: NDArray[np.integer]) -> NDArray[np.float64]:
        device = self._network.unit.device
        size, *rest = tensors(self._graphs(ids))
        values = self._network(GraphTensors(size, *(tensor.to(device) for tensor in rest))) / self._network.unit
        return values.double().cpu().numpy()  # type: ignore[no-any-return]
