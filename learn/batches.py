"""Training batches: the worlds of many e-states, with one copy of the goal part per problem.

No edge leads from a world to the goal part, so its nodes have the same embeddings in all graphs of a problem:
sharing one copy among the e-states of a batch changes nothing but the time it takes. Likewise every identifier is
given once, however many nodes have it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from learn import ragged
from learn.graphs import Graphs


class SharedBatch(NamedTuple):
    """k e-states of p problems, merged into one graph of n nodes.

    Attributes:
        identifiers: uint8[u, width], distinct identifiers as 0/1 bits.
        nodes: int64[n], identifier (row of `identifiers`) of each node.
        edges: int64[2, e], source and target.
        labels: int64[e], edge labels.
        part: int64[n], the part that each node belongs to: e-state 0 … k - 1, then goal part k … k + p - 1.
        goal_part: int64[k], the goal part of each e-state.
        distance: float32[k], steps to the nearest goal.
    """

    identifiers: Tensor
    nodes: Tensor
    edges: Tensor
    labels: Tensor
    part: Tensor
    goal_part: Tensor
    distance: Tensor


def merge(selection: Sequence[tuple[Graphs, NDArray[np.integer], NDArray[np.integer]]]) -> SharedBatch:
    """One batch from e-states of several problems.

    Args:
        selection: for each problem its graphs, the e-states wanted (rows, int[r]) and their distances (int[r]).
    """
    identifiers: list[NDArray[np.uint8]] = []
    nodes: list[NDArray[np.integer]] = []
    edges: list[NDArray[np.integer]] = []
    labels: list[NDArray[np.uint8]] = []
    parts: list[NDArray[np.integer]] = []
    node_offset = identifier_offset = state_offset = 0
    counts = [len(rows) for _, rows, _ in selection]
    goal_parts = sum(counts) + np.arange(len(selection))
    for goal_part, (graphs, rows, _) in zip(goal_parts, selection, strict=True):
        goal_size = len(graphs.goal_nodes)
        worlds = graphs.take(rows)
        used, index = np.unique(np.concatenate([graphs.goal_nodes, worlds.nodes]), return_inverse=True)
        identifiers.append(graphs.identifiers[used])
        nodes.append(index + identifier_offset)
        shifts = np.repeat(ragged.pointers(worlds.node_counts)[:-1], worlds.edge_counts)
        local = worlds.edges.astype(np.int64)
        local += np.where(local >= goal_size, shifts, 0)
        edges += [graphs.goal_edges + node_offset, local + node_offset]
        labels += [graphs.goal_labels, worlds.labels]
        states = np.arange(state_offset, state_offset + len(rows))
        parts += [np.full(goal_size, goal_part), np.repeat(states, worlds.node_counts)]
        node_offset += len(index)
        identifier_offset += len(used)
        state_offset += len(rows)
    return SharedBatch(
        identifiers=torch.from_numpy(np.concatenate(identifiers)),
        nodes=torch.from_numpy(np.concatenate(nodes)),
        edges=torch.from_numpy(np.concatenate(edges, axis=1).astype(np.int64)),
        labels=torch.from_numpy(np.concatenate(labels).astype(np.int64)),
        part=torch.from_numpy(np.concatenate(parts)),
        goal_part=torch.from_numpy(np.repeat(goal_parts, counts)),
        distance=torch.from_numpy(np.concatenate([distance for *_, distance in selection]).astype(np.float32)),
    )
