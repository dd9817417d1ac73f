"""Many graphs of one task in flat arrays: the goal part once, the worlds of every e-state end to end."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from epigym.space import Encoder, GraphBatch, StateSpace
from learn.data import ragged
from learn.data.bundles import Bundles, bundle, unbundle

_CHUNK = 512


@dataclass(frozen=True, slots=True)
class Graphs:
    """The graphs of k e-states of one task, with the goal part that they share stored once.

    Nodes of a graph are counted from 0: first the P nodes of the goal part, then the worlds. Identifiers repeat in
    and across graphs, so each is stored once; edges are bundled (see `learn.data.bundles`). Unsigned arrays have the
    smallest type that holds them.

    Attributes:
        goal_bits: uint8[P, width], identifiers of the nodes of the goal part as 0/1 bits.
        goal_edges: int64[2, Q], source and target of the edges of the goal part.
        goal_labels: int64[Q], their labels.
        identifiers: uint8[u, width], the distinct identifiers of worlds as 0/1 bits.
        node_ptr: unsigned[k + 1], where the worlds of each e-state start in `nodes`.
        nodes: unsigned[N], identifier of each world.
        bundle_ptr: unsigned[k + 1], where the bundles of each e-state start in `labels`.
        labels: uint8[B], edge labels of the bundles.
        source_ptr: unsigned[B + 1], where the sources of each bundle start in `sources`.
        sources: unsigned[S], nodes, counted in the graph.
        target_ptr: unsigned[B + 1], where the targets of each bundle start in `targets`.
        targets: unsigned[T], nodes, counted in the graph.
    """

    goal_bits: NDArray[np.uint8]
    goal_edges: NDArray[np.int64]
    goal_labels: NDArray[np.int64]
    identifiers: NDArray[np.uint8]
    node_ptr: NDArray[np.integer]
    nodes: NDArray[np.integer]
    bundle_ptr: NDArray[np.integer]
    labels: NDArray[np.uint8]
    source_ptr: NDArray[np.integer]
    sources: NDArray[np.integer]
    target_ptr: NDArray[np.integer]
    targets: NDArray[np.integer]

    def __len__(self) -> int:
        """Number of e-states."""
        return len(self.node_ptr) - 1

    @property
    def width(self) -> int:
        """Number of bits of an identifier."""
        return int(self.goal_bits.shape[1])

    @property
    def edge_count(self) -> int:
        """Number of edges of all graphs, without those of the goal part."""
        return int(np.dot(ragged.lengths(self.source_ptr), ragged.lengths(self.target_ptr)))

    def batch(self, rows: NDArray[np.integer]) -> GraphBatch:
        """The complete graphs of the e-states in `rows` (int[r]), as `StateSpace.graphs` makes them."""
        goal_size, goal_edge_count = len(self.goal_bits), len(self.goal_labels)
        nodes, node_counts = ragged.positions(self.node_ptr, rows)
        bundles, bundle_counts = ragged.positions(self.bundle_ptr, rows)
        sources, source_counts = ragged.positions(self.source_ptr, bundles)
        targets, target_counts = ragged.positions(self.target_ptr, bundles)
        source_ptr, target_ptr = ragged.pointers(source_counts), ragged.pointers(target_counts)
        edges, labels = unbundle(
            Bundles(self.labels[bundles], source_ptr, self.sources[sources], target_ptr, self.targets[targets])
        )
        graph = np.repeat(np.repeat(np.arange(len(rows)), bundle_counts), source_counts * target_counts)
        order = np.lexsort((edges[1], edges[0], labels, graph))
        node_ptr = ragged.pointers(node_counts + goal_size)
        edge_ptr = ragged.pointers(np.bincount(graph, minlength=len(rows)) + goal_edge_count)
        bits = ragged.interleave(
            np.tile(self.goal_bits, (len(rows), 1)), self.identifiers[self.nodes[nodes]], node_counts
        )
        edge_index = ragged.interleave(
            (self.goal_edges.T[None] + node_ptr[:-1, None, None]).reshape(-1, 2),
            (edges + node_ptr[graph]).T[order],
            ragged.lengths(edge_ptr) - goal_edge_count,
        )
        edge_label = ragged.interleave(
            np.tile(self.goal_labels, len(rows)),
            labels[order].astype(np.int64),
            ragged.lengths(edge_ptr) - goal_edge_count,
        )
        return GraphBatch(bits, np.ascontiguousarray(edge_index.T), edge_label, node_ptr, edge_ptr)


def encode(space: StateSpace, ids: NDArray[np.int32], encoder: Encoder) -> Graphs:
    """The graphs of the e-states `ids` (int32[k]) of a state space."""
    chunks = [_chunk(space, ids[start : start + _CHUNK], encoder) for start in range(0, len(ids), _CHUNK)]
    nodes, node_counts, bundle_counts, labels, source_counts, sources, target_counts, targets = (
        np.concatenate(columns) for columns in zip(*chunks, strict=True)
    )
    return Graphs(
        goal_bits=encoder.goal_bits,
        goal_edges=encoder.goal_edges,
        goal_labels=encoder.goal_labels,
        identifiers=space.identifiers(encoder),
        node_ptr=ragged.compact(ragged.pointers(node_counts)),
        nodes=ragged.compact(nodes),
        bundle_ptr=ragged.compact(ragged.pointers(bundle_counts)),
        labels=labels,
        source_ptr=ragged.compact(ragged.pointers(source_counts)),
        sources=ragged.compact(sources),
        target_ptr=ragged.compact(ragged.pointers(target_counts)),
        targets=ragged.compact(targets),
    )


def _chunk(space: StateSpace, ids: NDArray[np.int32], encoder: Encoder) -> tuple[NDArray[np.integer], ...]:
    """Some graphs: worlds and their counts, bundle counts and labels, source and target counts and nodes."""
    batch = space.graphs(ids, encoder)
    counts = ragged.lengths(batch.edge_ptr) - len(encoder.goal_labels)
    edges = _tails(batch.edge_ptr, counts)
    bundles = bundle(batch.edge_index[:, edges], batch.edge_label[edges])
    graph = np.searchsorted(batch.node_ptr[1:], bundles.sources[bundles.source_ptr[:-1]], side="right")
    source_counts, target_counts = ragged.lengths(bundles.source_ptr), ragged.lengths(bundles.target_ptr)
    starts = batch.node_ptr[graph]
    return (
        space.world_labels(ids, encoder),
        space.world_counts(ids),
        np.bincount(graph, minlength=len(ids)),
        bundles.labels,
        source_counts,
        (bundles.sources - np.repeat(starts, source_counts)).astype(np.int32),
        target_counts,
        (bundles.targets - np.repeat(starts, target_counts)).astype(np.int32),
    )


def _tails(ptr: NDArray[np.int64], counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Positions of the last `counts` elements of every row."""
    return np.repeat(ptr[1:] - np.cumsum(counts), counts) + np.arange(counts.sum())
