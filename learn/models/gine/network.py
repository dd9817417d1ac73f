"""The network: it maps graphs of e-states, in any encoding, to one number of actions each.

The network has residual layers of message passing with sum aggregation. Its output is the sum of two readouts: a head
over the mean and the maximum of the nodes of each type, and a sum of values of all nodes, which can count. Worlds are
excluded from the sum, as there may be a thousand times more of them than in training. The last layers are initialised
with zeros, so an untrained network does not change its base heuristic.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch_geometric.nn import GINEConv

from epigym.config.targets import TARGET, find, make
from epigym.encoding.encoder import Encoding, make_encoding
from epigym.encoding.relational import KIND_OF, RELATIONS, Relational
from epigym.errors import UsageError


class GineNetwork(nn.Module):
    """A residual graph network, from graphs to one value each.

    The input of a node is an MLP of the bits of its identifier; in typed graphs the sum of the embeddings of its state
    and its types, without types unknown to the network. An edge is an MLP of its label, or the embedding of
    its relation, in each layer.

    Source: GINEConv (Hu et al., "Strategies for Pre-training Graph Neural Networks", ICLR 2020).

    Args:
        encoding: of the graphs, with its settings.
        types: ids of the known types, ascending; empty if the encoding has no types.
        width: width of all hidden layers.
        layers: number of layers of message passing.
        type_dropout: share of types dropped in each training step, which trains the network for unknown types.
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
        """float32[k]: the values of k graphs, a batch of PyTorch Geometric; lower values are nearer to a goal."""
        x = self.nodes(data.x)
        for layer in self.layers:
            x = layer(x, data.edge_index, data.edge_attr)
        # Weights of types that are not counted stay at their initial value of zero.
        own = self.each(x).gather(1, data.node_type[:, None]).squeeze(1) * self.is_counted[data.node_type]
        total = own.new_zeros(data.num_graphs).index_add(0, data.batch, own)
        return self.last(self.head(self._pool(x, data))).squeeze(1) + total  # type: ignore[no-any-return]

    def _pool(self, x: Tensor, data: Any) -> Tensor:
        """float32[k, 2 * types * width]: mean and maximum over the nodes of each type; 0 if there are none."""
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
        """Set both readouts so that all outputs equal a given value."""
        for readout in (self.last, self.each):
            readout.weight.zero_()
            readout.bias.zero_()
        self.last.bias.fill_(value)


class TypedNodes(nn.Module):
    """The inputs of the nodes of typed graphs.

    Args:
        type_ids: number of type ids of the encoding without 0.
        types: the known types, ascending.
        width: width of the embeddings.
        dropout: share of types dropped in each training step.
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
        """float32[n, width]: the inputs for the columns of nodes, int64[n, 2 + k]."""
        types = self.place[x[:, 2:]]
        if self.training and self._dropout:
            is_kept = torch.rand(self.types.num_embeddings, device=types.device) >= self._dropout
            types = types * is_kept[types]
        return self.states(x[:, 1]) + self.types(types).sum(dim=1)  # type: ignore[no-any-return]


class ResidualLayer(nn.Module):
    """x ← LayerNorm(x + MLP(x + Σ ReLU(x_source + e))), the sum over incoming edges.

    Args:
        width: width of node features.
        edges: maps the attributes of edges, [e, 1], to float32[e, width].
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


def find_network(settings: Mapping[str, Any]) -> type[nn.Module]:
    """The class of the network described by settings, see `make_network`.

    Raises:
        UsageError: when the class does not exist, or is not a network.
    """
    target = settings.get(TARGET)
    kind = GineNetwork if target is None else find(target)
    if not (isinstance(kind, type) and issubclass(kind, nn.Module)):
        raise UsageError(f"{TARGET}={target}: expected a class that derives from torch.nn.Module")
    return kind


def make_network(settings: Mapping[str, Any], encoding: Mapping[str, Any], types: Sequence[int]) -> nn.Module:
    """Make the network described by settings: `GineNetwork`, or the class named by `_target_`.

    A class is called with its settings. If it has parameters of these names, it also receives `width`, `layers` and
    `type_dropout`, `encoding`, a mapping of the encoding's settings, and `types`, the ids of the types in the training
    data.

    Raises:
        UsageError: when the class does not exist, is not a network, or does not accept the settings.
    """
    kind = find_network(settings)
    parameters = inspect.signature(kind).parameters
    chosen = {name: value for name, value in settings.items() if name in parameters or name not in _OURS}
    offered = {"encoding": dict(encoding), "types": tuple(types)}
    network: nn.Module = make(chosen, GineNetwork, **{name: offered[name] for name in offered if name in parameters})
    return network


def load_network(
    settings: Mapping[str, Any], encoding: Mapping[str, Any], types: Sequence[int], weights: Mapping[str, NDArray[Any]]
) -> nn.Module:
    """Make a network with weights in evaluation mode, on the CPU; see `make_network` for the other arguments.

    Raises:
        Exception: when its class cannot be imported, or the settings or weights do not fit it.
    """
    with torch.random.fork_rng(devices=[]):
        network = make_network(settings, encoding, types)
    network.load_state_dict({name: torch.from_numpy(np.array(array)) for name, array in weights.items()})
    return network.eval().requires_grad_(False)


def save_network(network: nn.Module) -> dict[str, Any]:
    """The tensors of a network as arrays, floating-point numbers with 32 bits."""
    return {
        name: (tensor.float() if tensor.is_floating_point() else tensor).numpy(force=True).copy()
        for name, tensor in network.state_dict().items()
    }
