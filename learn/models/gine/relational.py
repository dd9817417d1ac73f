"""Message passing over the typed graphs of e-states: the network, its checkpoints, and scoring with it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch_geometric.nn import MessagePassing
from torch_geometric.utils import scatter

from epigym.encoding.relational import KIND_OF, KINDS, RELATIONS, GraphMaker, Graphs
from epigym.features.types import FeatureTypes
from epigym.space.space import StateSpace
from learn.models.checkpoints import Content, unfit
from learn.models.scoring import chunks

KIND = "relational"
"""What the hyper-parameters inside a checkpoint say of it."""
VERSION = 1
"""Raised whenever the graphs or the hyper-parameters inside a checkpoint change their meaning."""

_LEFT_OUT = 0.1  # of the types, in each step of a training
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
    """From graphs to scores.

    A node starts as the sum of what its state and its types are embedded as; a type that is not known adds nothing, and
    in training some of those that are known are left out, so that this is no surprise.
    After the rounds of messages the mean and the maximum of the nodes of each kind make the score.

    Args:
        types: number of types that are known.
        width: of all hidden layers.
        layers: rounds of messages.
    """

    kind_of: Tensor
    unit: Tensor

    def __init__(self, types: int, width: int, layers: int) -> None:
        super().__init__()
        self.states = nn.Embedding(len(KIND_OF), width)
        self.types = nn.Embedding(types + 1, width, padding_idx=0)
        self.rounds = nn.ModuleList(Messages(width) for _ in range(layers))
        self.last = nn.Linear(width, 1)
        self.head = nn.Sequential(nn.Linear(2 * KINDS * width, width), nn.ReLU(), self.last)
        self.register_buffer("kind_of", torch.from_numpy(KIND_OF), persistent=False)
        self.register_buffer("unit", torch.ones(()))

    def forward(self, graphs: GraphTensors) -> Tensor:
        """float32[k]: what is learned of k graphs, `unit` for a step; the lower, the nearer to a goal."""
        types = graphs.types
        if self.training:
            is_kept = torch.rand(self.types.num_embeddings, device=types.device) >= _LEFT_OUT
            types = types * is_kept[types]
        x = self.states(graphs.state) + self.types(types).sum(dim=1)
        for layer in self.rounds:
            x = layer(x, graphs.edges, graphs.relation)
        place = graphs.graph * KINDS + self.kind_of[graphs.state]
        pooled = [scatter(x, place, 0, graphs.size * KINDS, how) for how in ("mean", "max")]
        return self.head(torch.cat(pooled, dim=1).view(graphs.size, -1)).squeeze(1)  # type: ignore[no-any-return]


class Messages(MessagePassing):  # type: ignore[misc]
    """A round of messages: a node hears the mean of its neighbours, each by the kind of the edge to it.

    Args:
        width: of what is known of a node.
    """

    def __init__(self, width: int) -> None:
        super().__init__(aggr="mean")
        self.send = nn.Linear(width, width)
        self.relations = nn.Embedding(RELATIONS, width)
        self.renew = nn.Sequential(nn.Linear(2 * width, width), nn.ReLU(), nn.Linear(width, width))
        self.norm = nn.LayerNorm(width)

    def forward(self, x: Tensor, edges: Tensor, relation: Tensor) -> Tensor:
        """float32[n, width], from the same, int64[2, e] and int64[e]."""
        heard = self.propagate(edges, x=self.send(x), relation=relation)
        return self.norm(x + self.renew(torch.cat([x, heard], dim=1)))  # type: ignore[no-any-return]

    def message(self, x_j: Tensor, relation: Tensor) -> Tensor:
        """float32[e, width]: what goes along each edge."""
        return (x_j + self.relations(relation)).relu()  # type: ignore[no-any-return]


@dataclass(frozen=True, slots=True)
class RelationalModel:
    """A trained network with everything that is needed to score e-states of any task.

    Attributes:
        path: the file it was read from.
        network: in evaluation mode, on the CPU.
        vocabulary: uint64[v], the colours of the types that it knows, ascending.
        domains: domains that it was trained on.
    """

    path: Path
    network: RelationalNetwork
    vocabulary: NDArray[np.uint64]
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
        domains = tuple(parameters["domains"])
    except (KeyError, TypeError, ValueError, OverflowError, RuntimeError) as error:
        raise unfit(path, error) from None
    return RelationalModel(path, network.eval().requires_grad_(False), vocabulary, domains)


class RelationalScorer:
    """Scores the e-states of one space, as many at a time as fit.

    Args:
        space: where the e-states live.
        network: what scores, on any device.
        vocabulary: uint64[v], the colours of the types that it knows.
        types: of the space's task.
    """

    def __init__(
        self,
        space: StateSpace,
        network: RelationalNetwork,
        vocabulary: NDArray[np.uint64],
        types: FeatureTypes | None = None,
    ) -> None:
        self._space = space
        self._network = network
        self._graphs = GraphMaker(space, types or FeatureTypes(space.task), vocabulary)

    def score(self, ids: NDArray[np.integer]) -> NDArray[np.float64]:
        """float64[k]: the scores of `ids` (int32[k]), in steps where the network was trained on distances."""
        return np.concatenate([np.empty(0), *map(self._score, chunks(self._space, ids, _CHUNK))])

    @torch.inference_mode()
    def _score(self, ids: NDArray[np.integer]) -> NDArray[np.float64]:
        device = self._network.unit.device
        size, *rest = tensors(self._graphs(ids))
        score = self._network(GraphTensors(size, *(tensor.to(device) for tensor in rest))) / self._network.unit
        return score.double().cpu().numpy()  # type: ignore[no-any-return]
