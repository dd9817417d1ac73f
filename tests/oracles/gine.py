"""The graph network of the core in PyTorch."""

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch_geometric.nn import GINEConv
from torch_geometric.utils import scatter

from epigym.space.rows import GraphBatch


class Layer(nn.Module):
    """x ← LayerNorm(x + GINEConv(x))."""

    def __init__(self, width: int, relations: int) -> None:
        super().__init__()
        self.relations = nn.Embedding(relations, width)
        self.convolution = GINEConv(nn.Sequential(nn.Linear(width, width), nn.ReLU(), nn.Linear(width, width)))
        self.norm = nn.LayerNorm(width)

    def forward(self, x: Tensor, edges: Tensor, relation: Tensor) -> Tensor:
        return self.norm(x + self.convolution(x, edges, self.relations(relation)))  # type: ignore[no-any-return]


class Network(nn.Module):
    """The network with given weights."""

    def __init__(self, weights: dict[str, NDArray[np.float32]]) -> None:
        super().__init__()
        relations, width = weights["layers.0.relations.weight"].shape
        layers = sum(name.endswith("relations.weight") for name in weights)
        self.kinds = weights["head.0.weight"].shape[1] // (2 * width)
        self.states = nn.Embedding(len(weights["states.weight"]), width)
        self.types = nn.Embedding(len(weights["types.weight"]), width, padding_idx=0)
        self.layers = nn.ModuleList(Layer(width, relations) for _ in range(layers))
        self.head = nn.Sequential(nn.Linear(2 * self.kinds * width, width), nn.ReLU())
        self.last = nn.Linear(width, 1)
        self.each = nn.Linear(width, self.kinds)
        state = {name: torch.from_numpy(weight) for name, weight in weights.items()}
        missing, unexpected = self.load_state_dict(state, strict=False)
        assert not unexpected
        assert all(name.endswith("convolution.eps") for name in missing), "all else is given; these are 0"
        self.eval().requires_grad_(False)

    def of_features(self, x: Tensor, kind: Tensor, batch: GraphBatch) -> NDArray[np.float32]:
        edges, relation = torch.from_numpy(batch.edge_index), torch.from_numpy(batch.edge_label)
        for layer in self.layers:
            x = layer(x, edges, relation)
        graphs = len(batch.node_ptr) - 1
        place = torch.from_numpy(np.repeat(np.arange(graphs), np.diff(batch.node_ptr))) * self.kinds + kind
        pooled = [scatter(x, place, 0, graphs * self.kinds, how) for how in ("mean", "max")]
        own = self.each(x)[torch.arange(len(x)), kind]
        total = scatter(own, place // self.kinds, 0, graphs, "sum")
        return (self.last(self.head(torch.cat(pooled, dim=1).view(graphs, -1))).squeeze(1) + total).numpy()  # type: ignore[no-any-return]

    def of_nodes(self, batch: GraphBatch, index: NDArray[np.int64]) -> NDArray[np.float32]:
        nodes, types = torch.from_numpy(batch.nodes), torch.from_numpy(index[batch.nodes[:, 2:]])
        return self.of_features(self.states(nodes[:, 1]) + self.types(types).sum(dim=1), nodes[:, 0], batch)
