"""Breadth-first traversal of a state space."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from epigym.space.space import StateSpace, Transitions

CHUNK: Final = 512
"""Default number of e-states expanded in one call."""


class Wave(NamedTuple):
    """Some e-states of one layer of a breadth-first walk, expanded.

    Attributes:
        depth: of the e-states that were expanded.
        expanded: how many they are.
        transitions: of all of them.
        fresh: int64[m], the transitions that reach an e-state that the walk had not met, each such e-state once.
    """

    depth: int
    expanded: int
    transitions: Transitions
    fresh: NDArray[np.int64]


def breadth_first(space: StateSpace, chunk: int = CHUNK) -> Iterator[Wave]:
    """Expand the e-states of a space breadth first, from the initial one on, while the caller takes waves.

    Args:
        space: it may hold e-states that others have met.
        chunk: maximum number of e-states expanded in one call.
    """
    met = np.zeros(len(space), dtype=np.bool_)
    met[space.initial] = True
    layer, depth = np.array([space.initial], dtype=np.int32), 0
    while len(layer):
        found = [layer[:0]]
        for start in range(0, len(layer), chunk):
            part = layer[start : start + chunk]
            step = space.expand(part)
            met = np.concatenate([met, np.zeros(len(space) - len(met), dtype=np.bool_)])
            first = np.unique(step.target, return_index=True)[1]
            fresh = np.sort(first[~met[step.target[first]]])
            met[step.target[fresh]] = True
            found.append(step.target[fresh])
            yield Wave(depth, len(part), step, fresh)
        layer, depth = np.concatenate(found), depth + 1
