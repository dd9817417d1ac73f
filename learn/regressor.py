"""The regressor: from the graph of an e-state to its normalised distance (paper, section 3.4 and Algorithm 2)."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch_geometric.nn import GINEConv
from torch_geometric.nn.aggr import Aggregation

from epigym.encoding import MAX_LABEL
from learn.batches import SharedBatch


class IndexAdd(Aggregation):  # type: ignore[misc]  # PyG is not typed
    """Sum by `index_add`: what PyG's sum computes, but faster after export to ONNX."""

    def forward(
        self,
        x: Tensor,
        index: Tensor | None = None,
        ptr: Tensor | None = None,
        dim_size: int | None = None,
        dim: int = -2,
    ) -> Tensor:
        """The sums float[dim_size, d] of the rows of x, float[e, d], that share an index, int64[e]."""
        assert index is not None
        assert dim_size is not None
        return x.new_zeros(dim_size, x.size(-1)).index_add(0, index, x)


class ResidualBlock(nn.Module):
    """Linear, BatchNorm, ReLU, Dropout, Linear, BatchNorm, skip, ReLU."""

    def __init__(self, size: int, dropout: float) -> None:
        """Make a block of this size."""
        super().__init__()
        self.inner = nn.Sequential(
            nn.Linear(size, size),
            nn.BatchNorm1d(size),
            nn.ReLU(),
            nn.Dropout(dropout),
            nn.Linear(size, size),
            nn.BatchNorm1d(size),
        )

    def forward(self, x: Tensor) -> Tensor:
        """float[k, size] to float[k, size]."""
        return torch.relu(x + self.inner(x))


class Regressor(nn.Module):
    """The paper's network: identifier and edge MLPs, two GINEConv layers, mean pool, residual head.

    Args:
        width: number of bits of an identifier.
        node_size: size of node embeddings.
        edge_size: size of edge embeddings.
        hidden_size: size of the GINEConv layers and of the pooled graph.
        head_size: size of the residual head.
        blocks: number of residual blocks.
        dropout: probability inside each residual block.
        margin: the output is clamped to [margin, 1 - margin].
    """

    def __init__(
        self,
        width: int = 64,
        *,
        node_size: int = 64,
        edge_size: int = 32,
        hidden_size: int = 128,
        head_size: int = 128,
        blocks: int = 3,
        dropout: float = 0.2,
        margin: float = 1e-3,
    ) -> None:
        """Make the layers."""
        super().__init__()
        self.margin = margin
        self.node_mlp = _two_layers(width, node_size, node_size)
        self.edge_mlp = _two_layers(1, edge_size, edge_size)
        self.convs = nn.ModuleList(
            GINEConv(_two_layers(size, hidden_size, hidden_size), edge_dim=edge_size, aggr=IndexAdd())
            for size in (node_size, hidden_size)
        )
        self.head = nn.Sequential(
            nn.Linear(hidden_size, head_size),
            nn.ReLU(),
            *(ResidualBlock(head_size, dropout) for _ in range(blocks)),
            nn.Linear(head_size, 1),
        )

    def forward(self, x: Tensor, edge_index: Tensor, edge_attr: Tensor, graph: Tensor, graph_mask: Tensor) -> Tensor:
        """Normalised distances of k graphs with n nodes and e edges.

        Args:
            x: float32[n, width], identifiers as 0/1 bits.
            edge_index: int64[2, e], source and target of the edges.
            edge_attr: float32[e, 1], label / 255.
            graph: int64[n], the graph of each node.
            graph_mask: any tensor of shape [k]: its length says how many graphs there are.

        Returns:
            float32[k], in [margin, 1 - margin].
        """
        nodes, edges = self.node_mlp(x), self.edge_mlp(edge_attr)
        for conv in self.convs:
            nodes = torch.relu(conv(nodes, edge_index, edges))
        count = graph_mask.size(0)
        sizes = nodes.new_zeros(count).index_add(0, graph, nodes.new_ones(graph.size(0)))
        return self.regress(sum_by(nodes, graph, count) / sizes[:, None])

    def forward_shared(self, batch: SharedBatch) -> Tensor:
        """The same for a merged batch: float32[k]. Equal up to rounding, several times faster."""
        count = len(batch.goal_part)
        nodes = self.node_mlp(batch.identifiers.float())[batch.nodes]
        table = self.edge_mlp(label_attributes(nodes.device))
        for conv in self.convs:
            nodes = torch.relu(_convolve(conv, nodes, batch.edges, table, batch.labels))
        sums = sum_by(nodes, batch.part, int(batch.part.max()) + 1)
        sizes = torch.bincount(batch.part).to(nodes.dtype)
        pooled = sums[:count] + sums[batch.goal_part]
        return self.regress(pooled / (sizes[:count] + sizes[batch.goal_part])[:, None])

    def regress(self, pooled: Tensor) -> Tensor:
        """Normalised distances float[k] of pooled graphs, float[k, hidden_size]."""
        return torch.sigmoid(self.head(pooled)).squeeze(-1).clamp(self.margin, 1 - self.margin)


def label_attributes(device: torch.device) -> Tensor:
    """float32[256, 1]: the edge attribute of every label."""
    return torch.arange(MAX_LABEL + 1, dtype=torch.float32, device=device)[:, None] / MAX_LABEL


def sum_by(rows: Tensor, index: Tensor, count: int) -> Tensor:
    """float[count, d]: sums of the rows, float[n, d], that share an index, int64[n]."""
    return rows.new_zeros(count, rows.size(-1)).index_add(0, index, rows)


def _convolve(conv: Any, nodes: Tensor, edges: Tensor, table: Tensor, labels: Tensor) -> Tensor:
    """What `conv(nodes, edges, table[labels])` computes, transforming each row of the table once."""
    source, target = edges
    messages = torch.relu(nodes[source] + conv.lin(table)[labels])
    return conv.nn(sum_by(messages, target, len(nodes)) + nodes)  # type: ignore[no-any-return]


def _two_layers(*sizes: int) -> nn.Sequential:
    first, hidden, last = sizes
    return nn.Sequential(nn.Linear(first, hidden), nn.ReLU(), nn.Linear(hidden, last))
