"""Many graphs of one task in flat arrays: the goal part once, the worlds of every e-state end to end."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from epigym.space import Encoder, GraphBatch, StateSpace
from learn import ragged

_CHUNK = 2048


@dataclass(frozen=True, slots=True)
class Graphs:
    """The graphs of k e-states of one task.

    Nodes of a graph are counted from 0: first the P nodes of the goal part, then the worlds. Identifiers repeat in
    and across graphs, so each is stored once.

    Attributes:
        identifiers: uint8[u, width], the distinct identifiers as 0/1 bits.
        goal_nodes: int32[P], identifier (row of `identifiers`) of each node of the goal part.
        goal_edges: int32[2, Q], source and target of the edges of the goal part.
        goal_labels: uint8[Q], their labels.
        node_ptr: int64[k + 1], where the worlds of each e-state start in `nodes`.
        nodes: int32[N], identifier of each world.
        edge_ptr: int64[k + 1], where the other edges of each graph start in `edges`.
        edges: uint16 or uint32 [2, E], source and target, counted in the graph.
        labels: uint8[E], their labels.
    """

    identifiers: NDArray[np.uint8]
    goal_nodes: NDArray[np.int32]
    goal_edges: NDArray[np.int32]
    goal_labels: NDArray[np.uint8]
    node_ptr: NDArray[np.int64]
    nodes: NDArray[np.int32]
    edge_ptr: NDArray[np.int64]
    edges: NDArray[np.unsignedinteger]
    labels: NDArray[np.uint8]

    def __len__(self) -> int:
        """Number of e-states."""
        return len(self.node_ptr) - 1

    @property
    def width(self) -> int:
        """Number of bits of an identifier."""
        return int(self.identifiers.shape[1])

    def take(self, rows: NDArray[np.integer]) -> Worlds:
        """The worlds and edges of the e-states in `rows` (int[r]), end to end."""
        nodes, node_counts = ragged.positions(self.node_ptr, rows)
        edges, edge_counts = ragged.positions(self.edge_ptr, rows)
        return Worlds(self.nodes[nodes], node_counts, self.edges[:, edges], self.labels[edges], edge_counts)

    def batch(self, rows: NDArray[np.integer]) -> GraphBatch:
        """The complete graphs of the e-states in `rows` (int[r]), as `StateSpace.graphs` makes them."""
        worlds = self.take(rows)
        goal_size, goal_edge_count = len(self.goal_nodes), len(self.goal_labels)
        node_ptr = ragged.pointers(worlds.node_counts + goal_size)
        edge_ptr = ragged.pointers(worlds.edge_counts + goal_edge_count)
        nodes = np.empty(node_ptr[-1], dtype=np.int32)
        edges = np.empty((2, edge_ptr[-1]), dtype=np.int64)
        labels = np.empty(edge_ptr[-1], dtype=np.int64)
        goal_at = node_ptr[:-1, None] + np.arange(goal_size)
        is_world = np.ones(len(nodes), dtype=np.bool_)
        is_world[goal_at] = False
        nodes[goal_at], nodes[is_world] = self.goal_nodes, worlds.nodes
        goal_edge_at = edge_ptr[:-1, None] + np.arange(goal_edge_count)
        is_state = np.ones(len(labels), dtype=np.bool_)
        is_state[goal_edge_at] = False
        labels[goal_edge_at], labels[is_state] = self.goal_labels, worlds.labels
        edges[:, goal_edge_at] = self.goal_edges[:, None, :] + node_ptr[None, :-1, None]
        edges[:, is_state] = worlds.edges + np.repeat(node_ptr[:-1], worlds.edge_counts)
        return GraphBatch(self.identifiers[nodes], edges, labels, node_ptr, edge_ptr)


class Worlds(NamedTuple):
    """The worlds of r e-states end to end, with the edges that are not in the goal part.

    Attributes:
        nodes: int32[n], identifier of each world.
        node_counts: int64[r], number of worlds of each e-state.
        edges: unsigned[2, e], source and target, counted in the graph of the e-state, goal part first.
        labels: uint8[e], edge labels.
        edge_counts: int64[r], number of edges of each e-state.
    """

    nodes: NDArray[np.int32]
    node_counts: NDArray[np.int64]
    edges: NDArray[np.unsignedinteger]
    labels: NDArray[np.uint8]
    edge_counts: NDArray[np.int64]


def encode(space: StateSpace, ids: NDArray[np.integer], encoder: Encoder) -> Graphs:
    """The graphs of the e-states `ids` (int[k]) of a state space."""
    goal_size = len(encoder.goal_bits)
    largest = goal_size + int(space.world_counts(ids).max(initial=0))
    index_type = np.uint16 if largest <= np.iinfo(np.uint16).max else np.uint32
    identifiers = _Identifiers()
    goal_nodes = identifiers.index(encoder.goal_bits)
    chunks = [
        _worlds(space.graphs(ids[start : start + _CHUNK], encoder), encoder, identifiers, index_type)
        for start in range(0, len(ids), _CHUNK)
    ]
    nodes, node_counts, edges, labels, edge_counts = zip(*chunks, strict=True)
    return Graphs(
        identifiers=identifiers.table(encoder.goal_bits.shape[1]),
        goal_nodes=goal_nodes,
        goal_edges=encoder.goal_edges.astype(np.int32),
        goal_labels=encoder.goal_labels.astype(np.uint8),
        node_ptr=ragged.pointers(np.concatenate(node_counts)),
        nodes=np.concatenate(nodes),
        edge_ptr=ragged.pointers(np.concatenate(edge_counts)),
        edges=np.concatenate(edges, axis=1),
        labels=np.concatenate(labels),
    )


def _worlds(batch: GraphBatch, encoder: Encoder, identifiers: _Identifiers, index_type: type) -> Worlds:
    """The batch without the goal parts, every graph counted from 0."""
    node_counts = np.diff(batch.node_ptr) - len(encoder.goal_bits)
    edge_counts = np.diff(batch.edge_ptr) - len(encoder.goal_labels)
    nodes = _tails(batch.node_ptr, node_counts)
    edges = _tails(batch.edge_ptr, edge_counts)
    local = batch.edge_index[:, edges] - np.repeat(batch.node_ptr[:-1], edge_counts)
    return Worlds(
        identifiers.index(batch.node_bits[nodes]),
        node_counts,
        local.astype(index_type),
        batch.edge_label[edges].astype(np.uint8),
        edge_counts,
    )


def _tails(ptr: NDArray[np.int64], counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Positions of the last `counts` elements of every row."""
    return np.repeat(ptr[1:] - np.cumsum(counts), counts) + np.arange(counts.sum())


class _Identifiers:
    """Numbers distinct identifiers in the order in which they are met."""

    def __init__(self) -> None:
        self._known: dict[bytes, int] = {}

    def index(self, bits: NDArray[np.uint8]) -> NDArray[np.int32]:
        """int32[n]: the number of each identifier, uint8[n, width]."""
        packed = np.packbits(bits, axis=1, bitorder="little")
        keys, inverse = np.unique(packed.view(f"V{packed.shape[1]}")[:, 0], return_inverse=True)
        numbers = [self._known.setdefault(key.tobytes(), len(self._known)) for key in keys]
        return np.array(numbers, dtype=np.int32)[inverse]

    def table(self, width: int) -> NDArray[np.uint8]:
        """uint8[u, width]: the bits of all identifiers."""
        packed = np.frombuffer(b"".join(self._known), dtype=np.uint8).reshape(len(self._known), -1)
        return np.unpackbits(packed, axis=1, bitorder="little")[:, :width]
