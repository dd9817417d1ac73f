"""Rows: the one form in which the relations of e-states travel.

Worlds that consider the same worlds possible share a *row*, the list of these worlds. The colour refinement reads rows,
and a graph with edges is rows unrolled.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from epigym import _core
from epigym.space.ragged import join_pointers, pointers, positions

_Relations: TypeAlias = tuple[
    NDArray[np.int64], NDArray[np.uint8], NDArray[np.int32], NDArray[np.int64], NDArray[np.int64], NDArray[np.int32]
]


class Rows(NamedTuple):
    """The n worlds and all relations of k e-states, one after the other.

    Worlds and rows are numbered from 0 in each e-state, worlds in canonical order. Agents whose relations are equal
    share rows.

    Attributes:
        world_ptr: int64[k + 1], where the worlds of each e-state start.
        label: int32[n], the identifier of every world, a row of the encoder's `identifiers`.
        designated: uint8[n], 1 for designated worlds.
        row_of: int32[n, n_agents], the row of every world under every agent; -1 for an agent that there is not.
        row_ptr: int64[k + 1], where the rows of each e-state start.
        successor_ptr: int64[r + 1], where the worlds of each row start in `successor`.
        successor: int32[s], worlds, ascending within a row.
    """

    world_ptr: NDArray[np.int64]
    label: NDArray[np.int32]
    designated: NDArray[np.uint8]
    row_of: NDArray[np.int32]
    row_ptr: NDArray[np.int64]
    successor_ptr: NDArray[np.int64]
    successor: NDArray[np.int32]

    @property
    def relations(self) -> _Relations:
        """All but the labels, as the core takes them."""
        return (self.world_ptr, self.designated, self.row_of, self.row_ptr, self.successor_ptr, self.successor)


class GoalPart(NamedTuple):
    """The part of the graph that all e-states share under one goal: node epsilon, the goal root, the goal graph.

    Attributes:
        bits: uint8[P, width], identifiers of the nodes as 0/1 bits, least significant first; node 0 is epsilon.
        edges: int64[2, Q], source and target of every edge.
        labels: int64[Q], the labels of the edges.
    """

    bits: NDArray[np.uint8]
    edges: NDArray[np.int64]
    labels: NDArray[np.int64]


class GraphBatch(NamedTuple):
    """Graphs of several e-states as flat arrays, ready for `torch.from_numpy` and a PyG batch.

    Attributes:
        nodes: uint8[N, width], the 0/1 identifier bits of every node, least significant first; with the encoding
            `relational` int64[N, width], the columns of `epigym.encoding.relational.Relational`.
        edge_index: int64[2, E], source and target of every edge, counted through the whole batch.
        edge_label: int64[E], the integer labels; with the encoding `relational` the relations.
        node_ptr: int64[k + 1], where each graph's nodes start.
        edge_ptr: int64[k + 1], where each graph's edges start.
    """

    nodes: NDArray[Any]
    edge_index: NDArray[np.int64]
    edge_label: NDArray[np.int64]
    node_ptr: NDArray[np.int64]
    edge_ptr: NDArray[np.int64]

    def take(self, graphs: NDArray[np.integer]) -> GraphBatch:
        """Some of the graphs, int[r], in any order and any of them several times."""
        nodes, node_counts = positions(self.node_ptr, graphs)
        edges, edge_counts = positions(self.edge_ptr, graphs)
        node_ptr, edge_ptr = pointers(node_counts), pointers(edge_counts)
        shift = np.repeat(node_ptr[:-1] - self.node_ptr[graphs], edge_counts)
        return GraphBatch(
            self.nodes[nodes], self.edge_index[:, edges] + shift, self.edge_label[edges], node_ptr, edge_ptr
        )


def join(batches: Sequence[GraphBatch]) -> GraphBatch:
    """The graphs of several batches, at least one, as one batch."""
    node_ptr = join_pointers([batch.node_ptr for batch in batches])
    edge_ptr = join_pointers([batch.edge_ptr for batch in batches])
    first_node = pointers(np.array([len(batch.nodes) for batch in batches]))[:-1]
    shift = np.repeat(first_node, [len(batch.edge_label) for batch in batches])
    return GraphBatch(
        np.concatenate([batch.nodes for batch in batches]),
        np.concatenate([batch.edge_index for batch in batches], axis=1) + shift,
        np.concatenate([batch.edge_label for batch in batches]),
        node_ptr,
        edge_ptr,
    )


def join_rows(parts: Sequence[Rows]) -> Rows:
    """Concatenate `Rows`; parts with fewer agents than others are padded with agents without successor classes."""
    if len(parts) == 1:
        return parts[0]
    agents = max(part.row_of.shape[1] for part in parts)
    row_of = [
        np.pad(part.row_of, ((0, 0), (0, agents - part.row_of.shape[1])), constant_values=-1)
        if part.row_of.shape[1] < agents
        else part.row_of
        for part in parts
    ]
    return Rows(
        world_ptr=join_pointers([part.world_ptr for part in parts]),
        label=np.concatenate([part.label for part in parts]),
        designated=np.concatenate([part.designated for part in parts]),
        row_of=np.concatenate(row_of),
        row_ptr=join_pointers([part.row_ptr for part in parts]),
        successor_ptr=join_pointers([part.successor_ptr for part in parts]),
        successor=np.concatenate([part.successor for part in parts]),
    )


def goal_parts(parts: Sequence[GoalPart]) -> GraphBatch:
    """The goal parts of graphs as graphs of their own, at least one."""
    node_ptr = pointers(np.array([len(part.bits) for part in parts]))
    edge_ptr = pointers(np.array([len(part.labels) for part in parts]))
    edges = np.concatenate([part.edges for part in parts], axis=1) + np.repeat(node_ptr[:-1], np.diff(edge_ptr))
    bits = np.concatenate([part.bits for part in parts])
    return GraphBatch(bits, edges, np.concatenate([part.labels for part in parts]), node_ptr, edge_ptr)


class Refinement(NamedTuple):
    """One round of colour refinement (Weisfeiler and Leman) over the n worlds of several e-states.

    The message of a world of colour c to agent i is c × n_agents + i. The worlds with one row under an agent send the
    multiset of their messages to every world in that row. Worlds have equal colours afterwards iff they had equal
    colours before, agree on being designated and receive equal multisets; multisets are compared by 64-bit hashes.

    Attributes:
        sent: int64[t], the messages in each of m distinct multisets.
        sent_ptr: int64[m + 1], where each multiset starts.
        received: int64[s], the multisets that each of d new colours receives.
        received_ptr: int64[d + 1], where each new colour's multisets start.
        own: int64[d], the old colour of each new one.
        designated: int64[e], the new colours of designated worlds, ascending.
        colours: int64[n], the new colour of every world.
    """

    sent: NDArray[np.int64]
    sent_ptr: NDArray[np.int64]
    received: NDArray[np.int64]
    received_ptr: NDArray[np.int64]
    own: NDArray[np.int64]
    designated: NDArray[np.int64]
    colours: NDArray[np.int64]


def refine(rows: Rows, colours: NDArray[np.int64]) -> Refinement:
    """One round of colour refinement.

    Args:
        rows: n worlds.
        colours: int64[n], not negative: the colour of every world.

    Raises:
        ValueError: when there is not one colour for every world, or the arrays of the rows do not fit together.
    """
    return Refinement(*_core.refine(rows.relations, colours))


def unroll(rows: Rows, identifiers: NDArray[np.uint8], goal: GoalPart) -> GraphBatch:
    """The graphs of e-states, edge by edge.

    Each graph starts with the goal part, then has one node for every world in canonical order; edges lead from node 0
    to every designated world, then `w -> v` for every agent, world and successor in ascending order.

    Args:
        rows: of k e-states.
        identifiers: uint8[L, width], the identifiers that the labels of the worlds name.
        goal: the goal part.

    Raises:
        ValueError: when the arrays do not fit together.
    """
    ptr = (np.array([0, len(goal.bits)]), np.array([0, len(goal.labels)]))
    return unroll_under(rows, identifiers, GraphBatch(*goal, *ptr), np.zeros(len(rows.world_ptr) - 1, np.int64))


def unroll_under(rows: Rows, identifiers: NDArray[np.uint8], goals: GraphBatch, of: NDArray[np.int64]) -> GraphBatch:
    """The graphs of e-states under different goals, edge by edge as by `unroll`.

    Args:
        rows: of k e-states.
        identifiers: uint8[L, width], the identifiers that the labels of the worlds name.
        goals: the goal parts, made by `goal_parts`.
        of: int64[k], which of them is that of each e-state.

    Raises:
        ValueError: when the arrays do not fit together.
    """
    return GraphBatch(*_core.graphs(rows.relations, rows.label, identifiers, goals, of))
