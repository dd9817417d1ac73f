"""The encoded e-states of one problem, as they are stored: rows, identifiers, and the goal part once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from epigym.encoding.encoder import Encoder
from epigym.space import ragged
from epigym.space.rows import GoalPart, GraphBatch, Rows, unroll

_CHUNK = 4096  # e-states encoded at once; bounds the memory beyond that of the result


@dataclass(frozen=True, slots=True)
class Encoded:
    """k e-states of one problem under an encoding.

    Attributes:
        goal: the part of the graph that all of them share.
        identifiers: uint8[u, width], the identifiers of worlds as 0/1 bits.
        rows: their worlds and relations, in the smallest types that hold them.
    """

    goal: GoalPart
    identifiers: NDArray[np.uint8]
    rows: Rows

    def __len__(self) -> int:
        """Number of e-states."""
        return len(self.rows.world_ptr) - 1

    @property
    def edge_count(self) -> int:
        """Number of edges between worlds, of all e-states."""
        rows = self.rows
        first = np.repeat(rows.row_ptr[:-1].astype(np.int64), ragged.lengths(rows.world_ptr))
        return int(ragged.lengths(rows.successor_ptr)[first[:, None] + rows.row_of].sum())

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
        """The complete graphs of the e-states `indices`, int[r], as `Encoder.graphs` makes them."""
        return unroll(self.take(indices), self.identifiers, self.goal)


def encode(encoder: Encoder, ids: NDArray[np.int32]) -> Encoded:
    """The e-states `ids`, int32[k], of the encoder's space."""
    rows = join([encoder.rows(ids[start : start + _CHUNK]) for start in range(0, max(len(ids), 1), _CHUNK)])
    return Encoded(encoder.goal, encoder.identifiers, Rows(*(ragged.compact(column) for column in rows)))


def join(parts: Sequence[Rows]) -> Rows:
    """The e-states of several `Rows`, end to end; those with fewer agents than others get agents without rows."""
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
        world_ptr=_join_pointers([part.world_ptr for part in parts]),
        label=np.concatenate([part.label for part in parts]),
        designated=np.concatenate([part.designated for part in parts]),
        row_of=np.concatenate(row_of),
        row_ptr=_join_pointers([part.row_ptr for part in parts]),
        successor_ptr=_join_pointers([part.successor_ptr for part in parts]),
        successor=np.concatenate([part.successor for part in parts]),
    )


def _join_pointers(ptrs: Sequence[NDArray[np.int64]]) -> NDArray[np.int64]:
    return ragged.pointers(np.concatenate([ragged.lengths(ptr) for ptr in ptrs]))
