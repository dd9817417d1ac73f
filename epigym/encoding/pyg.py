"""Graphs as PyTorch Geometric data, and as the same arrays without PyTorch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from epigym.config.packages import extras
from epigym.encoding.encoder import as_batch
from epigym.encoding.goal_graph import DESIGNATED_LABEL, FIRST_AGENT_LABEL, GOAL_LABEL, MAX_LABEL
from epigym.encoding.identifiers import NODE_TYPES
from epigym.errors import EpigymError
from epigym.space.rows import GraphBatch, join

if TYPE_CHECKING:
    from gymnasium.spaces import GraphInstance

GOAL_EDGE = 2
"""The type of edges within the goal in PyTorch Geometric data, the same for all subgoals."""


@extras()
def to_pyg(observation: GraphInstance | GraphBatch | Sequence[GraphBatch]) -> Any:
    """An observation, or those of a vector environment, as PyTorch Geometric data.

    Args:
        observation: one graph, a batch of graphs of the same task, or several batches, each of one task.

    Returns:
        A torch_geometric.data.Data, of a batch a torch_geometric.data.Batch, with
            x float32[n, width], edge_index int64[2, m], edge_attr float32[m, 1] = label / 255, as networks take them;
            node_type int64[n], an index into `NODE_TYPES`;
            edge_type int64[m]: 0 to the goal root, 1 to designated worlds, 2 within the goal, 3 + i for agent i.

        With the encoding `relational` numbers stay numbers, for embeddings:
            x int64[n, width], edge_index int64[2, m], edge_attr int64[m, 1], the relation;
            node_type int64[n], the kind, which is the first column of x; edge_type int64[m], the relation.

    Raises:
        EpigymError: when it is none of these.
        MissingError: when PyTorch or PyTorch Geometric is not installed.
    """
    batches = _batches(observation)
    if not batches and not hasattr(observation, "edge_links"):
        kinds = "the observation of an environment (GraphInstance), a GraphBatch or several"
        raise EpigymError(f"expected {kinds}, got {type(observation).__name__}")
    import torch
    from torch_geometric.data import Batch, Data

    batch = join(batches) if batches else as_batch(observation)  # type: ignore[arg-type]
    types = [_types(one) for one in batches or [batch]]
    node_type, edge_type = (np.concatenate(part) for part in zip(*types, strict=True))
    x, edge_attr = scale(batch)
    arrays: dict[str, NDArray[Any]] = {
        "x": x,
        "edge_index": np.ascontiguousarray(batch.edge_index),
        "edge_attr": edge_attr,
        "node_type": node_type,
        "edge_type": edge_type,
    }
    tensors = {name: torch.from_numpy(array) for name, array in arrays.items()}
    if not batches:
        return Data(**tensors)
    ptr, edge_ptr = torch.from_numpy(batch.node_ptr), torch.from_numpy(batch.edge_ptr)
    graphs = torch.arange(len(ptr) - 1)
    data = Batch(**tensors, batch=graphs.repeat_interleave(ptr.diff()), ptr=ptr)
    # What lets the batch be taken apart again.
    of_edges = ("edge_index", "edge_attr", "edge_type")
    data._slice_dict = {name: edge_ptr if name in of_edges else ptr for name in tensors}
    data._inc_dict = {name: ptr[:-1] if name == "edge_index" else torch.zeros_like(graphs) for name in tensors}
    data._num_graphs = len(graphs)
    return data


def _batches(observation: object) -> list[GraphBatch]:
    """The batches of an observation that is one or several; none of any other."""
    given = [observation] if isinstance(observation, GraphBatch) else observation
    is_list = isinstance(given, list | tuple) and all(isinstance(one, GraphBatch) for one in given)
    return list(given) if is_list else []  # type: ignore[call-overload]


def scale(batch: GraphBatch) -> tuple[NDArray[Any], NDArray[Any]]:
    """`x` and `edge_attr` of graphs, see `to_pyg`."""
    if batch.nodes.dtype == np.uint8:  # bits of identifiers
        return batch.nodes.astype(np.float32), batch.edge_label[:, None].astype(np.float32) / MAX_LABEL
    return batch.nodes, batch.edge_label[:, None]


def node_types(batch: GraphBatch) -> NDArray[np.int64]:
    """`node_type` of graphs of one task, see `to_pyg`."""
    return _types(batch)[0]


def _types(batch: GraphBatch) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """What kinds of nodes and edges graphs of one task have; see `to_pyg`.

    The labels of subgoals come after those of the agents, and each of them is on an edge from the goal root.
    """
    nodes, links, labels = batch.nodes, batch.edge_index, batch.edge_label
    if nodes.dtype != np.uint8:
        return nodes[:, 0].copy(), labels.copy()
    node_type = np.full(len(nodes), NODE_TYPES.index("world"))
    to_root = labels == GOAL_LABEL
    node_type[links[0, to_root]] = NODE_TYPES.index("epsilon")
    node_type[links[1, to_root]] = NODE_TYPES.index("goal root")
    from_root = node_type[links[0]] == NODE_TYPES.index("goal root")
    of_goal = labels >= labels[from_root].min(initial=MAX_LABEL + 1)
    goal_nodes = links[:, of_goal].ravel()
    node_type[goal_nodes[node_type[goal_nodes] == NODE_TYPES.index("world")]] = NODE_TYPES.index("goal")
    node_type[links[1, labels == DESIGNATED_LABEL]] = NODE_TYPES.index("designated world")
    return node_type, np.where(of_goal, GOAL_EDGE, np.where(labels < FIRST_AGENT_LABEL, labels - 1, labels))
