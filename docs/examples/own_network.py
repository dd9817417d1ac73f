"""A network that passes messages along the edges of typed graphs."""

import torch
from torch import Tensor, nn
from torch_geometric.data import Data

from epigym.encoding.relational import KIND_OF, RELATIONS


class MessageNetwork(nn.Module):
    """Gated rounds of messages, then the mean over all nodes.

    Args:
        width: of the embeddings.
        layers: rounds of messages.
    """

    def __init__(self, width: int = 16, layers: int = 3) -> None:
        super().__init__()
        self.layers = layers
        self.states = nn.Embedding(len(KIND_OF), width)
        self.relations = nn.Embedding(RELATIONS, width)
        self.update = nn.GRUCell(width, width)
        self.last = nn.Linear(width, 1)
        nn.init.zeros_(self.last.weight)  # untrained, it adds nothing to the base heuristic

    def forward(self, data: Data) -> Tensor:
        """float32[k], one value for each of k graphs."""
        x = self.states(data.x[:, 1])  # int64[n, 2 + t]: kind, state, ids of types
        source, target = data.edge_index  # int64[2, e]
        for _ in range(self.layers):
            messages = torch.relu(x[source] + self.relations(data.edge_attr[:, 0]))  # int64[e, 1]: relation
            x = self.update(torch.zeros_like(x).index_add(0, target, messages), x)
        sums = x.new_zeros(data.num_graphs, x.shape[1]).index_add(0, data.batch, x)
        return self.last(sums / data.batch.bincount(minlength=data.num_graphs)[:, None]).squeeze(1)
