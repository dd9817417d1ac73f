"""The observation spaces: `GraphSpace`, a `gymnasium.spaces.Graph` that scales, and `GraphBatchSpace` of many graphs.

The former checks observations with array operations instead of node by node, and it travels between the processes of
a `gymnasium.vector.AsyncVectorEnv`, which refuses other graph spaces because their shared memory has a fixed
size: here every environment owns a file in memory that holds its latest observation.
"""

from __future__ import annotations

import pickle
import shutil
import tempfile
import weakref
from collections.abc import Iterator, Sequence
from copy import deepcopy
from pathlib import Path
from types import ModuleType
from typing import Any, NoReturn, overload

import numpy as np
from gymnasium.spaces import Box, Discrete, Graph, GraphInstance, Space
from gymnasium.vector.utils import create_shared_memory, iterate, read_from_shared_memory, write_to_shared_memory
from numpy.typing import NDArray

from epigym.encoding.encoder import as_batch, graph_instance
from epigym.errors import ShapeError
from epigym.space.rows import GraphBatch, join


class GraphSpace(Graph):
    """Graphs whose nodes are rows of whole numbers, such as bits, and whose edges are labelled.

    Members are `GraphInstance(nodes, edges, edge_links)`: nodes int[n, width] of the type of `largest`, edges int64[m]
    below `labels`, edge_links int64[m, 2].

    Args:
        largest: int[width], the largest value of each column of a node; the least is 0.
        labels: number of edge labels.
        seed: seed of the sampling.
    """

    node_space: Box
    edge_space: Discrete

    def __init__(
        self, largest: NDArray[np.integer], labels: int, seed: int | np.random.Generator | None = None
    ) -> None:
        dtype: Any = largest.dtype.type
        super().__init__(Box(np.zeros_like(largest), largest, dtype=dtype), Discrete(labels), seed)

    @property
    def shape(self) -> NoReturn:
        """Graphs have no shape; libraries that read it, such as stable-baselines3, need arrays, as the error says.

        Raises:
            ShapeError: always; `getattr(space, "shape", None)` is None, as for other spaces without a shape.
        """
        raise ShapeError(
            "observations are graphs, which have no shape: wrap the environment with epigym.PaddedObservation, whose "
            "observations are a dictionary of arrays (for stable-baselines3, with the policy 'MultiInputPolicy')"
        )

    def contains(self, x: Any) -> bool:
        """Whether `x` is a graph of this space."""
        if not isinstance(x, GraphInstance) or not isinstance(x.nodes, np.ndarray):
            return False
        nodes, edges, links = x.nodes, x.edges, x.edge_links
        rows = self.node_space
        if nodes.ndim != 2 or nodes.shape[1:] != rows.shape or nodes.dtype != rows.dtype:
            return False
        if np.any((nodes < rows.low) | (nodes > rows.high)):
            return False
        if edges is None or links is None:
            return edges is None and links is None
        if not isinstance(links, np.ndarray):
            return False
        labels = np.asarray(edges)
        return (
            labels.ndim == 1
            and links.shape == (len(labels), 2)
            and np.issubdtype(labels.dtype, np.integer)
            and np.issubdtype(links.dtype, np.integer)
            and not np.any((labels < 0) | (labels >= self.edge_space.n))
            and not np.any((links < 0) | (links >= len(nodes)))
        )


class GraphBatchSpace(Space[GraphBatch]):
    """The graphs of `count` environments, one after the other.

    Members are `epigym.space.rows.GraphBatch` of `count` graphs of `single`.

    Args:
        count: number of graphs.
        single: the space of each of them.
        seed: seed of the sampling.
    """

    def __init__(self, count: int, single: GraphSpace, seed: int | np.random.Generator | None = None) -> None:
        super().__init__(None, None, seed)
        self.count = count
        self.single = deepcopy(single)  # sampling seeds it

    @property
    def is_np_flattenable(self) -> bool:
        """Never: graphs have different sizes."""
        return False

    def sample(self, mask: None = None, probability: None = None) -> GraphBatch:
        """Random graphs; nothing can be ruled out."""
        self.single.seed(int(self.np_random.integers(2**31)))
        return join([as_batch(self.single.sample()) for _ in range(self.count)])

    def contains(self, x: Any) -> bool:
        """Whether `x` are graphs of this space."""
        return (
            isinstance(x, GraphBatch)
            and all(isinstance(part, np.ndarray) for part in x)
            and _is_pointer(x.node_ptr, self.count, len(x.nodes))
            and _is_pointer(x.edge_ptr, self.count, len(x.edge_label))
            and self.single.contains(GraphInstance(x.nodes, x.edge_label, x.edge_index.T))
            and _stays_inside(x)
        )

    def __eq__(self, other: object) -> bool:
        """Whether the other space has the same members."""
        return isinstance(other, GraphBatchSpace) and (other.count, other.single) == (self.count, self.single)

    def __repr__(self) -> str:
        """How to make this space."""
        return f"GraphBatchSpace({self.count}, {self.single})"


def _is_pointer(ptr: NDArray[Any], rows: int, members: int) -> bool:
    """Whether an array says where each of some rows starts among all members."""
    return (
        ptr.shape == (rows + 1,)
        and ptr.dtype == np.int64
        and ptr[0] == 0
        and ptr[-1] == members
        and not np.any(np.diff(ptr) < 0)
    )


def _stays_inside(graphs: GraphBatch) -> bool:
    """Whether edges connect nodes of the same graph."""
    edges = np.diff(graphs.edge_ptr)
    first, last = np.repeat(graphs.node_ptr[:-1], edges), np.repeat(graphs.node_ptr[1:], edges)
    return not np.any((graphs.edge_index < first) | (graphs.edge_index >= last))


@iterate.register(GraphBatchSpace)
def _iterate(space: GraphBatchSpace, items: GraphBatch) -> Iterator[GraphInstance]:  # type: ignore[misc]
    return (graph_instance(items, index) for index in range(space.count))


class _SharedGraphs(Sequence[GraphInstance]):
    """The latest observations of all environments, read from files on access."""

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
        nodes = np.zeros((0, *space.node_space.shape), space.node_space.dtype)
        empty = GraphInstance(nodes, np.zeros(0, np.int64), np.zeros((0, 2), np.int64))
        _write(space, index, empty, files)
    return files


@read_from_shared_memory.register(GraphSpace)
def _read(space: GraphSpace, shared_memory: tuple[str, ...], n: int = 1) -> _SharedGraphs:
    return _SharedGraphs(shared_memory)


@write_to_shared_memory.register(GraphSpace)
def _write(space: GraphSpace, index: int, value: GraphInstance, shared_memory: tuple[str, ...]) -> None:
    Path(shared_memory[index]).write_bytes(pickle.dumps(value, protocol=pickle.HIGHEST_PROTOCOL))
