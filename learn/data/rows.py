"""The encoded e-states of one problem as they are stored, in the smallest sufficient integer types."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from epigym.encoding.encoder import AnyEncoder, Encoder
from epigym.space import ragged
from epigym.space.rows import GoalPart, GraphBatch, Rows, unroll

_CHUNK = 4096  # number of e-states encoded at once; bounds the additional memory


@dataclass(frozen=True, slots=True)
class EncodedRows:
    """k e-states of one problem under an encoding with identifiers.

    Attributes:
        goal: the goal part of the graph, shared by all e-states.
        identifiers: uint8[u, width], the identifiers of worlds as 0/1 bits.
        rows: their worlds and relations.
    """

    goal: GoalPart
    identifiers: NDArray[np.uint8]
    rows: Rows

    def __len__(self) -> int:
        """Number of e-states."""
        return len(self.rows.world_ptr) - 1

    def take(self, indices: NDArray[np.integer]) -> Rows:
        """The worlds and relations of the e-states `indices`, int[r], in the core's types."""
        rows = self.rows
        worlds, world_counts = ragged.positions(rows.world_ptr, indices)
        kept, row_counts = ragged.positions(rows.row_ptr, indices)
        successors, successor_counts = ragged.positions(rows.successor_ptr, kept)
        return Rows(
            world_ptr=ragged.pointers(world_counts),
            label=rows.label[worlds].astype(np.int32),
            designated=rows.designated[worlds],
            row_of=rows.row_of[worlds].astype(np.int32),
            row_ptr=ragged.pointers(row_counts),
            successor_ptr=ragged.pointers(successor_counts),
            successor=rows.successor[successors].astype(np.int32),
        )

    def graphs(self, indices: NDArray[np.integer]) -> GraphBatch:
        """The complete graphs of the e-states `indices`, int[r], as `Encoder.graphs` returns them."""
        return unroll(self.take(indices), self.identifiers, self.goal)


@dataclass(frozen=True, slots=True)
class EncodedGraphs:
    """k e-states of one problem as typed graphs.

    Attributes:
        batch: the graphs; the ends of edges are numbered within each graph.
    """

    batch: GraphBatch

    def __len__(self) -> int:
        """Number of e-states."""
        return len(self.batch.node_ptr) - 1

    def graphs(self, indices: NDArray[np.integer]) -> GraphBatch:
        """The graphs of the e-states `indices`, int[r], as `RelationalEncoder.graphs` returns them."""
        nodes, edges, labels, node_ptr, edge_ptr = self.batch.take(indices)
        edges += np.repeat(self.batch.node_ptr[indices].astype(np.int64), ragged.lengths(edge_ptr))
        return GraphBatch(nodes.astype(np.int64), edges, labels.astype(np.int64), node_ptr, edge_ptr)


Encoded: TypeAlias = EncodedRows | EncodedGraphs


def encode(encoder: AnyEncoder, ids: NDArray[np.int32]) -> Encoded:
    """Encode the e-states `ids`, int32[k], of the encoder's space."""
    parts = [ids[start : start + _CHUNK] for start in range(0, max(len(ids), 1), _CHUNK)]
    if isinstance(encoder, Encoder):
        rows = join([encoder.rows(part) for part in parts])
        return EncodedRows(encoder.goal, encoder.identifiers, Rows(*(ragged.compact(column) for column in rows)))
    graphs = [_compact(encoder.graphs(part)) for part in parts]
    return EncodedGraphs(
        GraphBatch(
            nodes=np.concatenate([one.nodes for one in graphs]),
            edge_index=np.concatenate([one.edge_index for one in graphs], axis=1),
            edge_label=np.concatenate([one.edge_label for one in graphs]),
            node_ptr=ragged.compact(ragged.join_pointers([one.node_ptr for one in graphs])),
            edge_ptr=ragged.compact(ragged.join_pointers([one.edge_ptr for one in graphs])),
        )
    )


def pack(encoded: Encoded) -> dict[str, NDArray[Any]]:
    """The arrays of encoded e-states by name."""
    if isinstance(encoded, EncodedGraphs):
        return {f"graphs.{name}": array for name, array in encoded.batch._asdict().items()}
    arrays = {f"goal.{name}": array for name, array in encoded.goal._asdict().items()}
    arrays |= {f"rows.{name}": array for name, array in encoded.rows._asdict().items()}
    return arrays | {"identifiers": encoded.identifiers}


def unpack(arrays: Mapping[str, NDArray[Any]]) -> Encoded:
    """The inverse of `pack`; ignores other arrays."""
    if "identifiers" not in arrays:
        return EncodedGraphs(GraphBatch(*(arrays[f"graphs.{name}"] for name in GraphBatch._fields)))
    goal = GoalPart(*(arrays[f"goal.{name}"] for name in GoalPart._fields))
    rows = Rows(*(arrays[f"rows.{name}"] for name in Rows._fields))
    return EncodedRows(goal, arrays["identifiers"], rows)


def _compact(batch: GraphBatch) -> GraphBatch:
    """Convert a batch to the stored form, with the ends of edges numbered within each graph."""
    first = np.repeat(batch.node_ptr[:-1], ragged.lengths(batch.edge_ptr))
    local = batch._replace(edge_index=batch.edge_index - first)
    return GraphBatch(*(ragged.compact(column) for column in local))


def join(parts: Sequence[Rows]) -> Rows:
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
        world_ptr=ragged.join_pointers([part.world_ptr for part in parts]),
        label=np.concatenate([part.label for part in parts]),
        designated=np.concatenate([part.designated for part in parts]),
        row_of=np.concatenate(row_of),
        row_ptr=ragged.join_pointers([part.row_ptr for part in parts]),
        successor_ptr=ragged.join_pointers([part.successor_ptr for part in parts]),
        successor=np.concatenate([part.successor for part in parts]),
    )
