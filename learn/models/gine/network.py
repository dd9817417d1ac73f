"""The network: from the graphs of e-states, in any encoding, to one number of actions for each.

L residual layers of message passing with sum aggregation. Two readouts add up: a head over the mean and the maximum of
the nodes of each type, and a value of each node by its type, summed, which counts. Worlds have no such value: there may
be a thousand times more of them than in training. The last layers start at zero: an untrained network adds nothing to
its base heuristic.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch_geometric.nn import GINEConv

from epigym.config.targets import TARGET, find, make
from epigym.encoding.encoder import Encoding, make_encoding
from epigym.encoding.relational import KIND_OF, RELATIONS, Relational
from epigym.errors import UsageError


class GineNetwork(nn.Module):
    """A residual graph network, from graphs to one value each.

    The input of a node is an MLP of the bits of its identifier; of typed graphs the sum of the embeddings of its state
    and its types, where types unknown to the network add nothing. An edge is an MLP of its label, or the embedding of
    its relation, in each layer.

    Source: GINEConv (Hu et al., "Strategies for Pre-training Graph Neural Networks", ICLR 2020).

    Args:
        encoding: of the graphs, with its settings.
        types: ids of the types that the network knows, ascending; empty where the encoding has no types.
        width: of all hidden layers.
        layers: rounds of message passing.
        type_dropout: share of the types that is dropped in each training step, so that the network meets unknown types.
    """

    is_counted: Tensor

    def __init__(
        self,
        encoding: Mapping[str, Any],
        types: Sequence[int] = (),
        *,
        width: int = 16,
        layers: int = 3,
        type_dropout: float = 0.0,
    ) -> None:
        super().__init__()
        kind = make_encoding(encoding)
        self.node_types = kind.node_types
        self.nodes: nn.Module
        if isinstance(kind, Relational):
            self.nodes = TypedNodes(kind.type_ids, types, width, type_dropout)
        else:
            self.nodes = make_two_layers(kind.width, width, width)
        self.layers = nn.ModuleList(ResidualLayer(width, _make_edges(kind, width)) for _ in range(layers))
        self.head = nn.Sequential(nn.Linear(2 * kind.node_types * width, width), nn.ReLU())
        self.last = nn.Linear(width, 1)
        self.each = nn.Linear(width, kind.node_types)
        is_counted = torch.ones(kind.node_types)
        is_counted[list(kind.world_types)] = 0
        self.register_buffer("is_counted", is_counted, persistent=False)
        for readout in (self.last, self.each):
            nn.init.zeros_(readout.weight)
            nn.init.zeros_(readout.bias)

    def forward(self, data: Any) -> Tensor:
        """float32[k]: the values of k graphs, a batch of PyTorch Geometric; the lower, the nearer to a goal."""
        x = self.nodes(data.x)
        for layer in self.layers:
            x = layer(x, data.edge_index, data.edge_attr)
        # Weights of types that do not count stay at zero, where they start.
        own = self.each(x).gather(1, data.node_type[:, None]).squeeze(1) * self.is_counted[data.node_type]
        total = own.new_zeros(data.num_graphs).index_add(0, data.batch, own)
        return self.last(self.head(self._pool(x, data))).squeeze(1) + total  # type: ignore[no-any-return]

    def _pool(self, x: Tensor, data: Any) -> Tensor:
        """float32[k, 2 * types * width]: mean and maximum over the nodes of each type; 0 where there are none."""
        graphs, width = data.num_graphs, x.size(1)
        place = data.batch * self.node_types + data.node_type
        rows = graphs * self.node_types
        counts = x.new_zeros(rows).index_add(0, place, x.new_ones(place.size(0))).clamp(min=1)
        mean = x.new_zeros(rows, width).index_add(0, place, x) / counts[:, None]
        index = place[:, None].expand(-1, width)
        most = x.new_zeros(rows, width).scatter_reduce(0, index, x, "amax", include_self=False)
        return torch.cat([mean, most], dim=1).view(graphs, -1)

    @torch.no_grad()
    def start_at(self, value: float) -> None:
        """Set both readouts so that all outputs are a given value."""
        for readout in (self.last, self.each):
            readout.weight.zero_()
            readout.bias.zero_()
        self.last.bias.fill_(value)


class TypedNodes(nn.Module):
    """The inputs of the nodes of typed graphs.

    Args:
        type_ids: number of type ids of the encoding, 0 apart.
        types: those that are known, ascending.
        width: of the embeddings.
        dropout: share of the types that is dropped in each training step.
    """

    place: Tensor

    def __init__(self, type_ids: int, types: Sequence[int], width: int, dropout: float) -> None:
        super().__init__()
        self.states = nn.Embedding(len(KIND_OF), width)
        self.types = nn.Embedding(len(types) + 1, width, padding_idx=0)
        place = torch.zeros(type_ids + 1, dtype=torch.int64)
        place[list(types)] = torch.arange(1, len(types) + 1)
        self.register_buffer("place", place, persistent=False)
        self._dropout = dropout

    def forward(self, x: Tensor) -> Tensor:
        """float32[n, width], from the columns of nodes, int64[n, 2 + k]."""
        types = self.place[x[:, 2:]]
        if self.training and self._dropout:
            is_kept = torch.rand(self.types.num_embeddings, device=types.device) >= self._dropout
            types = types * is_kept[types]
        return self.states(x[:, 1]) + self.types(types).sum(dim=1)  # type: ignore[no-any-return]


class ResidualLayer(nn.Module):
    """x ← LayerNorm(x + MLP(x + Σ ReLU(x_source + e))), the sum over incoming edges.

    Args:
        width: of node features.
        edges: from the attributes of edges, [e, 1], to float32[e, width].
    """

    def __init__(self, width: int, edges: nn.Module) -> None:
        super().__init__()
        self.edges = edges
        self.convolution = GINEConv(make_two_layers(width, width, width))
        self.norm = nn.LayerNorm(width)

    def forward(self, x: Tensor, edge_index: Tensor, edge_attr: Tensor) -> Tensor:
        """float32[n, width], from the same, int64[2, e] and the attributes of the edges, [e, 1]."""
        return self.norm(x + self.convolution(x, edge_index, self.edges(edge_attr)))  # type: ignore[no-any-return]


class _Relations(nn.Embedding):
    """The embedding of a column of relations, int64[e, 1]."""

    def forward(self, relation: Tensor) -> Tensor:
        return super().forward(relation.squeeze(1))


def _make_edges(encoding: Encoding, width: int) -> nn.Module:
    return _Relations(RELATIONS, width) if isinstance(encoding, Relational) else make_two_layers(1, width, width)


_OURS = ("width", "layers", "type_dropout")


def make_two_layers(*sizes: int) -> nn.Sequential:
    """Linear, ReLU, Linear."""
    first, hidden, last = sizes
    return nn.Sequential(nn.Linear(first, hidden), nn.ReLU(), nn.Linear(hidden, last))


def make_network(settings: Mapping[str, Any], encoding: Mapping[str, Any], types: Sequence[int]) -> nn.Module:
    """The network that settings describe: `GineNetwork`, or the class named by `_target_`.

    A class is called with its settings. It receives those of `width`, `layers` and `type_dropout` that it has
    parameters for, and where it has parameters of these names `encoding`, a mapping of the encoding's settings, and
    `types`, the ids of the types that occur in the training data.

    Raises:
        UsageError: when there is no such class of networks, or it does not take the settings.
    """
    target = settings.get(TARGET)
    kind = GineNetwork if target is None else find(target)
    if not (isinstance(kind, type) and issubclass(kind, nn.Module)):
        raise UsageError(f"{TARGET}={target}: expected a class that derives from torch.nn.Module")
    parameters = inspect.signature(kind).parameters
    chosen = {name: value for name, value in settings.items() if name in parameters or name not in _OURS}
    offered = {"encoding": dict(encoding), "types": tuple(types)}
    network: nn.Module = make(chosen, GineNetwork, **{name: offered[name] for name in offered if name in parameters})
    return network
