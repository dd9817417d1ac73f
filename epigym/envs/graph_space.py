"""`GraphSpace`: the observation space of the environments, a `gymnasium.spaces.Graph` that scales.

It checks observations with array operations instead of node by node, and it travels between the processes of
a `gymnasium.vector.AsyncVectorEnv`, which refuses other graph spaces because their shared memory has a fixed
size: here every environment owns a file in memory that holds its latest observation.
"""

from __future__ import annotations

import pickle
import shutil
import tempfile
import weakref
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import Any, overload

import numpy as np
from gymnasium.spaces import Box, Discrete, Graph, GraphInstance
from gymnasium.vector.utils import create_shared_memory, read_from_shared_memory, write_to_shared_memory

LABELS = 256
"""Number of edge labels, 0 (unused) included."""


class GraphSpace(Graph):
    """Graphs whose nodes are identifiers of `width` bits and whose edges are labelled.

    Members are `GraphInstance(nodes, edges, edge_links)`: nodes uint8[n, width] of zeros and ones, edges
    int64[m] in 0 … 255, edge_links int64[m, 2].

    Args:
        width: bits of a node identifier.
        seed: seed of the sampling.
    """

    def __init__(self, width: int = 64, seed: int | np.random.Generator | None = None) -> None:
        super().__init__(Box(0, 1, (width,), np.uint8), Discrete(LABELS), seed)
        self.width = width

    def contains(self, x: Any) -> bool:
        """Whether `x` is a graph of this space."""
        if not isinstance(x, GraphInstance) or not isinstance(x.nodes, np.ndarray):
            return False
        nodes, edges, links = x.nodes, x.edges, x.edge_links
        if nodes.ndim != 2 or nodes.shape[1] != self.width or nodes.dtype != np.uint8 or np.any(nodes > 1):
            return False
        if edges is None or links is None:
            return edges is None and links is None
        labels = np.asarray(edges)
        return (
            labels.ndim == 1
            and links.shape == (len(labels), 2)
            and np.issubdtype(labels.dtype, np.integer)
            and np.issubdtype(links.dtype, np.integer)
            and not np.any((labels < 0) | (labels >= LABELS))
            and not np.any((links < 0) | (links >= len(nodes)))
        )


class _SharedGraphs(Sequence[GraphInstance]):
    """The latest observations of all environments, read when they are looked at."""

    def __init__(self, files: Sequence[str]) -> None:
        self._files = files
        # The parent process alone reads, so its copy is the one that cleans up.
        weakref.finalize(self, shutil.rmtree, Path(files[0]).parent, ignore_errors=True)

    def __len__(self) -> int:
        return len(self._files)

    @overload
    def __getitem__(self, index: int) -> GraphInstance: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[GraphInstance]: ...
    def __getitem__(self, index: int | slice) -> GraphInstance | Sequence[GraphInstance]:
        if isinstance(index, slice):
            return tuple(self)[index]
        graph: GraphInstance = pickle.loads(Path(self._files[index]).read_bytes())
        return graph

    def __deepcopy__(self, memo: object) -> tuple[GraphInstance, ...]:
        """The observations themselves: this is how a vector environment hands them out."""
        return tuple(self)


@create_shared_memory.register(GraphSpace)
def _create(space: GraphSpace, n: int = 1, ctx: ModuleType | None = None) -> tuple[str, ...]:
    memory = Path("/dev/shm")
    folder = Path(tempfile.mkdtemp(prefix="epigym-", dir=memory if memory.is_dir() else None))
    files = tuple(str(folder / f"{index}.pickle") for index in range(n))
    for index in range(n):
        empty = GraphInstance(np.zeros((0, space.width), np.uint8), np.zeros(0, np.int64), np.zeros((0, 2), np.int64))
        _write(space, index, empty, files)
    return files


@read_from_shared_memory.register(GraphSpace)
def _read(space: GraphSpace, shared_memory: tuple[str, ...], n: int = 1) -> _SharedGraphs:
    return _SharedGraphs(shared_memory)


@write_to_shared_memory.register(GraphSpace)
def _write(space: GraphSpace, index: int, value: GraphInstance, shared_memory: tuple[str, ...]) -> None:
    Path(shared_memory[index]).write_bytes(pickle.dumps(value, protocol=pickle.HIGHEST_PROTOCOL))
