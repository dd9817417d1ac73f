"""The paper's network, which maps graphs to distances (section 3.4, Algorithm 2, Appendix E, Table 8)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, cast

import torch
from torch import Tensor, nn
from torch.nn.functional import linear
from torch_geometric.nn import GINEConv
from torch_geometric.nn.aggr import Aggregation

from epigym.config.values import Count, convert
from epigym.encoding.encoder import make_encoding, require_identifiers
from epigym.encoding.goal_graph import DESIGNATED_LABEL, FIRST_AGENT_LABEL, MAX_LABEL
from learn.models.gine.kinds import Margin
from learn.models.gine.network import make_two_layers
from learn.models.gine.shared import GoalTensors, SharedGraphs, States, Sums


class IndexAdd(Aggregation):  # type: ignore[misc]  # PyG is not typed
    """Sum by `index_add`: equals PyG's sum, but is faster after export to ONNX."""

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


class Constants(NamedTuple):
    """Values shared by the e-states of p problems, for l layers.

    Attributes:
        inner: weights and biases of the inner network of each layer.
        by_agent: float[n_agents, d] for each layer, the embedding of every agent's label.
        from_epsilon: float[p, d] for each layer, the message from node epsilon to designated worlds.
        total: float[p, hidden_size], sums of the embeddings of the goal parts.
        size: float[p], numbers of nodes of the goal parts.
    """

    inner: tuple[tuple[Tensor, Tensor, Tensor, Tensor], ...]
    by_agent: tuple[Tensor, ...]
    from_epsilon: tuple[Tensor, ...]
    total: Tensor
    size: Tensor


class ResidualBlock(nn.Module):
    """Linear, BatchNorm, ReLU, Dropout, Linear, BatchNorm, skip, ReLU."""

    def __init__(self, size: int, dropout: float) -> None:
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


class PaperNetwork(nn.Module):
    """Identifier and edge MLPs, two GINEConv layers, mean pool, residual head, and a sigmoid scaled to steps.

    The output of the sigmoid is d̃ = α d + β, with β = `margin` and α = (1 - 2 β) / `max_distance`.

    Args:
        encoding: one with identifiers, with its settings.
        node_size: size of node embeddings.
        edge_size: size of edge embeddings.
        hidden_size: size of the GINEConv layers and of the pooled graph.
        head_size: size of the residual head.
        blocks: number of residual blocks.
        dropout: probability inside each residual block.
        max_distance: D_max, in steps.
        margin: the output of the sigmoid is clamped to [margin, 1 - margin], except in training mode, where clamped
            outputs would have no gradient.

    Raises:
        UsageError: when the encoding has no identifiers, or `margin` or `max_distance` is out of range.
    """

    def __init__(
        self,
        encoding: Mapping[str, Any],
        *,
        node_size: int = 64,
        edge_size: int = 32,
        hidden_size: int = 128,
        head_size: int = 128,
        blocks: int = 3,
        dropout: float = 0.2,
        max_distance: Count = 50,
        margin: Margin = 1e-3,
    ) -> None:
        """Make the layers."""
        super().__init__()
        convert(max_distance, Count, "max_distance"), convert(margin, Margin, "margin")
        self.margin = margin
        self.slope = (1 - 2 * margin) / max_distance
        self.node_mlp = make_two_layers(require_identifiers(make_encoding(encoding)).width, node_size, node_size)
        self.edge_mlp = make_two_layers(1, edge_size, edge_size)
        self.convs = nn.ModuleList(
            GINEConv(make_two_layers(size, hidden_size, hidden_size), edge_dim=edge_size, aggr=IndexAdd())
            for size in (node_size, hidden_size)
        )
        self.head: nn.Module = nn.Sequential(
            nn.Linear(hidden_size, head_size),
            nn.ReLU(),
            *(ResidualBlock(head_size, dropout) for _ in range(blocks)),
            nn.Linear(head_size, 1),
        )

    def forward(self, data: Any) -> Tensor:
        """float32[k]: the distances of k graphs in steps.

        Args:
            data: a batch of PyTorch Geometric, or `SharedGraphs`, with which the result is equal up to rounding and
                several times faster.
        """
        if isinstance(data, SharedGraphs):
            constants = self.constants(data.goals, data.agents)
            return self.regress_shared(self.node_mlp(data.identifiers.float()), constants, data.states)
        nodes, edges = self.node_mlp(data.x), self.edge_mlp(data.edge_attr)
        for conv in self.convs:
            nodes = torch.relu(conv(nodes, data.edge_index, edges))
        count, graph = data.num_graphs, data.batch
        sizes = nodes.new_zeros(count).index_add(0, graph, nodes.new_ones(graph.size(0)))
        return self.regress(sum_by(nodes, graph, count) / sizes[:, None])

    def constants(self, goals: GoalTensors, agents: int) -> Constants:
        """Compute the values shared by the e-states of p problems with up to `agents` agents."""
        attributes = self.edge_mlp(make_label_attributes(goals.bits.device))
        nodes, edges = self.node_mlp(goals.bits), attributes[goals.labels]
        inner, by_agent, from_epsilon = [], [], []
        for conv in cast(Any, self.convs):
            inner.append(tuple(conv.nn.parameters()))
            labels = conv.lin(attributes)
            by_agent.append(labels[FIRST_AGENT_LABEL : FIRST_AGENT_LABEL + agents])
            from_epsilon.append(torch.relu(nodes[goals.ptr[:-1]] + labels[DESIGNATED_LABEL]))
            nodes = torch.relu(conv(nodes, goals.edges, edges))
        sizes = goals.ptr[1:] - goals.ptr[:-1]
        problem = torch.arange(len(sizes), device=sizes.device).repeat_interleave(sizes, output_size=len(nodes))
        return Constants(
            tuple(inner), tuple(by_agent), tuple(from_epsilon), sum_by(nodes, problem, len(sizes)), sizes.float()
        )

    def regress_shared(self, nodes: Tensor, constants: Constants, states: States) -> Tensor:
        """Distances in steps, float[k], of k e-states whose classes of worlds have the embeddings float[c, d]."""
        parts = zip(states.layers, constants.inner, constants.by_agent, constants.from_epsilon, strict=True)
        for layer, (weight, bias, last_weight, last_bias), labels, epsilon in parts:
            messages = (nodes[:, None] + labels).relu_().flatten(0, 1)
            inputs = sum_rows(sum_rows(messages, layer.sent), layer.received) + pick_rows(nodes, layer.own)
            inputs.index_add_(0, layer.designated, epsilon[layer.goal])
            nodes = linear(linear(inputs, weight, bias).relu_(), last_weight, last_bias).relu_()
        total = sum_rows(nodes, states.pooled) + constants.total[states.goal]
        return self.regress(total / (states.worlds + constants.size[states.goal])[:, None])

    def regress(self, pooled: Tensor) -> Tensor:
        """Distances in steps, float[k], of pooled graphs, float[k, hidden_size]."""
        output = torch.sigmoid(self.head(pooled).float()).squeeze(-1)
        if not self.training:
            output = output.clamp(self.margin, 1 - self.margin)
        return (output - self.margin) / self.slope

    @torch.no_grad()
    def start_at(self, value: float) -> None:
        """Set the last layer so that all outputs equal a given distance in steps.

        Pooled graphs have large entries: with random outputs the first steps of training may saturate the sigmoid for
        good.
        """
        last = cast(nn.Linear, cast(nn.Sequential, self.head)[-1])
        last.weight.zero_()
        last.bias.fill_(torch.logit(torch.tensor(self.slope * value + self.margin), eps=1e-6))


def make_label_attributes(device: torch.device) -> Tensor:
    """float32[256, 1]: the edge attribute of every label."""
    return torch.arange(MAX_LABEL + 1, dtype=torch.float32, device=device)[:, None] / MAX_LABEL


def sum_by(rows: Tensor, index: Tensor, count: int) -> Tensor:
    """float[count, d]: sums of the rows, float[n, d], that share an index, int64[n]."""
    return rows.new_zeros(count, rows.size(-1)).index_add(0, index, rows)


class _SumRows(torch.autograd.Function):
    """`embedding_bag` with its transposition as gradient: much faster on the CPU than scattering."""

    @staticmethod
    def forward(ctx: Any, rows: Tensor, sums: Sums) -> Tensor:
        ctx.sums = sums
        return torch.embedding_bag(rows, sums.terms, sums.ptr, mode=0, include_last_offset=True)[0]

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None]:
        sums: Sums = ctx.sums
        (gradient,) = gradients
        return sum_rows(gradient, Sums(sums.back_ptr, sums.back, sums.ptr, sums.terms)), None


def sum_rows(rows: Tensor, sums: Sums) -> Tensor:
    """float[r, d]: sums of rows of a matrix, float[n, d]."""
    if rows.requires_grad:
        return _SumRows.apply(rows, sums)  # type: ignore[no-any-return, no-untyped-call]
    return torch.embedding_bag(rows, sums.terms, sums.ptr, mode=0, include_last_offset=True)[0]


def pick_rows(rows: Tensor, sums: Sums) -> Tensor:
    """As `sum_rows` for sums with one term each."""
    return sum_rows(rows, sums) if rows.requires_grad else rows[sums.terms]
