"""E-states as graphs: the encodings `map`, `hash` and `bitmask` (paper, section 3.2 and Appendix C).

A graph consists of the *goal part*, which is the same for all e-states of a task, and one node per world:

- node epsilon (identifier 1) with edges to the goal root (2) and to every designated world;
- the goal graph below the goal root: agents, operators and literals are shared nodes, every other formula
  is a node of its own;
- the worlds, with an edge `w -> v` for every agent that considers `v` possible at `w`.

Identifiers of goal-side nodes, for n agents and m fluents:

| epsilon, goal root | agent i | not, and, or, B, E, C, true, false, actually | literals p, ¬p of fluent k | formulas |
| --- | --- | --- | --- | --- |
| 1, 2 | 3 + i | 3 + n … 11 + n | 12 + n + 2k, 13 + n + 2k | from 12 + n + 2m, depth first |

Only the nodes that the goal uses appear, in ascending order of identifier; edges appear in the order in which the
depth-first construction meets them. Edge labels: 1 to the goal root, 2 to designated worlds, 3 + i for agent i,
3 + n + k for every edge of subgoal k.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np
import xxhash
from numpy.typing import ArrayLike, NDArray

from epigym import _core
from epigym.config.packages import extras
from epigym.encoding.goal_graph import DESIGNATED_LABEL, FIRST_AGENT_LABEL, GOAL_LABEL, MAX_LABEL, GoalGraph, goal_graph
from epigym.errors import EpigymError, LimitError, UsageError
from epigym.names import unknown
from epigym.space.growing import GrowingTable
from epigym.space.rows import GoalPart, GraphBatch, Rows, goal_parts, join, unroll, unroll_under
from epigym.space.space import StateSpace, as_ids
from epigym.task.formula import Formula
from epigym.task.task import Task

if TYPE_CHECKING:
    from gymnasium.spaces import GraphInstance

ENCODINGS = ("map", "hash", "bitmask")
NODE_TYPES = ("epsilon", "goal root", "goal", "world", "designated world")
GOAL_EDGE = 2
"""The type of edges within the goal in PyTorch Geometric data, whatever their subgoal."""

_Identify = Callable[[NDArray[np.bool_], NDArray[np.int64]], NDArray[np.uint8]]
_Widths = Mapping[str, int]


class Encoder:
    """How e-states of a space become graphs under a goal.

    Args:
        space: where the e-states live.
        name: `map` (identifiers count worlds in canonical order), `hash` (64-bit XXH3 of the names of the true
            fluents and the repetition index, its lowest `width` bits) or `bitmask` (repetition index, valuation and
            goal identifier side by side).
        goal: the subgoals; those of the space's task by default.
        width: bits of every identifier, the input size of the network.
        repetition_bits: `bitmask` only: bits of the repetition index.
        fluent_bits: `bitmask` only: bits of the valuation, one per fluent.
        goal_bits: `bitmask` only: bits of the identifiers of goal-side nodes.

    Attributes:
        space: where the e-states live.
        name: of the encoding.
        goal: the goal part of all graphs.
        identify: identifier bits uint8[L, width] of L worlds from their valuations bool[L, n_fluents] and their
            repetition indices (`map`: their ranks), int64[L].

    Raises:
        EpigymError: when the encoding is unknown.
        UsageError: when a width is negative.
        LimitError: when the task does not fit the width or needs more than 255 edge labels.
    """

    def __init__(
        self,
        space: StateSpace,
        name: str = "hash",
        goal: Sequence[Formula] | None = None,
        *,
        width: int = 64,
        repetition_bits: int = 16,
        fluent_bits: int = 32,
        goal_bits: int = 16,
    ) -> None:
        if name not in ENCODINGS:
            raise EpigymError(unknown("encoding", name, ENCODINGS))
        task = space.task if goal is None else replace(space.task, goal=tuple(goal))
        widths = {
            "width": width,
            "repetition_bits": repetition_bits,
            "fluent_bits": fluent_bits,
            "goal_bits": goal_bits,
        }
        for option, bits in widths.items():
            if bits < 0:
                raise UsageError(f"{option}={bits}: expected at least 0")
        graph = goal_graph(task)
        _check_fit(name, task, graph, widths)
        self.space = space
        self.name = name
        self._widths = widths
        self.goal = _goal_part(graph, _goal_identifiers(name, graph, widths))
        self.identify = _WORLDS[name](task, graph, widths)
        # Identifiers of `map` depend on the rank of a world alone, others on its valuation and repetition index.
        self._labels = None if name == "map" else _core.WorldLabels()
        self._identifiers = GrowingTable(width, np.uint8)
        self._lock = Lock()  # labels are handed out and described in one go

    def under(self, goal: Sequence[Formula]) -> Encoder:
        """The same encoding under another goal; it shares what is known of worlds, where that is the same.

        Raises:
            LimitError: when the goal does not fit the width or needs more than 255 edge labels.
        """
        other = Encoder(self.space, self.name, goal, **self._widths)
        if self._labels is not None:
            other.identify, other._lock = self.identify, self._lock
            other._labels, other._identifiers = self._labels, self._identifiers
        return other

    @property
    def identifiers(self) -> NDArray[np.uint8]:
        """uint8[L, width]: the identifiers of worlds met so far as 0/1 bits, least significant first."""
        return self._identifiers.rows

    def rows(self, ids: ArrayLike) -> Rows:
        """The worlds of e-states, int32[k], and how they are related; their labels are rows of `identifiers`.

        Raises:
            IndexError: when an id is unknown.
            LimitError: when an e-state has too many worlds for the width.
            ValueError: when `identify` was replaced by something that does not return what it should.
        """
        with self._lock:
            rows = Rows(*self.space.core.rows(as_ids(ids), self._labels))
            known, fluents = len(self._identifiers), len(self.space.task.fluents)
            if self._labels is None:
                worlds = int(np.diff(rows.world_ptr).max(initial=0))
                if worlds > known:
                    blank = np.zeros((worlds - known, fluents), np.bool_)
                    self._append(blank, np.arange(known, worlds))
            elif len(self._labels) > known:
                valuations, repetitions = self._labels.describe(known, fluents)
                self._append(valuations.view(np.bool_), repetitions)
        return rows

    def _append(self, valuations: NDArray[np.bool_], repetitions: NDArray[np.int64]) -> None:
        found = self.identify(valuations, repetitions)
        expected = (len(repetitions), self.identifiers.shape[1])
        if found.shape != expected:
            raise ValueError(f"identify returned an array of shape {found.shape}, expected {expected}")
        self._identifiers.append(found)

    def graphs(self, ids: ArrayLike) -> GraphBatch:
        """The graphs of e-states, int32[k]; errors as `rows`."""
        return unroll(self.rows(ids), self.identifiers, self.goal)


class ManyGoals:
    """The graphs of e-states under different goals, made together.

    Args:
        encoders: one for each goal, made of each other by `Encoder.under`, at least one.
    """

    def __init__(self, encoders: Sequence[Encoder]) -> None:
        self._encoders = encoders
        self._goals = goal_parts([encoder.goal for encoder in encoders])

    def graphs(self, ids: NDArray[np.int32], of: NDArray[np.int64]) -> GraphBatch:
        """The graphs of e-states, int32[k], whose encoders `of` numbers, int64[k]; errors as `Encoder.rows`."""
        first = self._encoders[0]
        if first.name != "map":
            return unroll_under(first.rows(ids), first.identifiers, self._goals, of)
        # Identifiers of worlds depend on the goal.
        groups = [np.flatnonzero(of == index) for index in range(len(self._encoders))]
        batches = [encoder.graphs(ids[group]) for encoder, group in zip(self._encoders, groups, strict=True)]
        return join(batches).take(np.argsort(np.concatenate(groups)))


def graph_instance(batch: GraphBatch, index: int = 0) -> GraphInstance:
    """One graph of a batch as an observation of `gymnasium.spaces.Graph`.

    Returns:
        GraphInstance: nodes uint8[n, width], edges int64[m] (labels), edge_links int64[m, 2].

    Raises:
        IndexError: when the batch has no such graph.
    """
    from gymnasium.spaces import GraphInstance

    if not 0 <= index < len(batch.node_ptr) - 1:
        raise IndexError(f"there is no graph {index}: the batch holds {len(batch.node_ptr) - 1}")
    nodes = slice(batch.node_ptr[index], batch.node_ptr[index + 1])
    edges = slice(batch.edge_ptr[index], batch.edge_ptr[index + 1])
    return GraphInstance(
        nodes=batch.nodes[nodes].copy(),
        edges=batch.edge_label[edges].copy(),
        edge_links=batch.edge_index[:, edges].T - batch.node_ptr[index],
    )


@extras()
def to_pyg(observation: GraphInstance | GraphBatch) -> Any:
    """An observation, or those of a vector environment, as PyTorch Geometric data.

    Args:
        observation: one graph, or a batch of graphs of the same task.

    Returns:
        A torch_geometric.data.Data, of a batch a torch_geometric.data.Batch, with
            x float32[n, width], edge_index int64[2, m], edge_attr float32[m, 1] = label / 255, ready for the regressor;
            node_type int64[n], an index into `NODE_TYPES`;
            edge_type int64[m]: 0 to the goal root, 1 to designated worlds, 2 within the goal, 3 + i for agent i.

    Raises:
        EpigymError: when it is neither.
        MissingError: when PyTorch or PyTorch Geometric is not installed.
    """
    if not isinstance(observation, GraphBatch) and not hasattr(observation, "edge_links"):
        kinds = "the observation of an environment (GraphInstance), or a GraphBatch"
        raise EpigymError(f"expected {kinds}, got {type(observation).__name__}")
    import torch
    from torch_geometric.data import Batch, Data

    if isinstance(observation, GraphBatch):
        nodes, links, labels = observation.nodes, observation.edge_index, observation.edge_label
    else:
        nodes, links = np.asarray(observation.nodes), np.asarray(observation.edge_links, dtype=np.int64).T
        labels = np.asarray(observation.edges, dtype=np.int64)
    node_type, edge_type = _types(len(nodes), links, labels)
    arrays = {
        "x": nodes.astype(np.float32),
        "edge_index": np.ascontiguousarray(links),
        "edge_attr": labels[:, None].astype(np.float32) / MAX_LABEL,
        "node_type": node_type,
        "edge_type": edge_type,
    }
    tensors = {name: torch.from_numpy(array) for name, array in arrays.items()}
    if not isinstance(observation, GraphBatch):
        return Data(**tensors)
    ptr, edge_ptr = torch.from_numpy(observation.node_ptr), torch.from_numpy(observation.edge_ptr)
    graphs = torch.arange(len(ptr) - 1)
    batch = Batch(**tensors, batch=graphs.repeat_interleave(ptr.diff()), ptr=ptr)
    # What lets the batch be taken apart again.
    of_edges = ("edge_index", "edge_attr", "edge_type")
    batch._slice_dict = {name: edge_ptr if name in of_edges else ptr for name in tensors}
    batch._inc_dict = {name: ptr[:-1] if name == "edge_index" else torch.zeros_like(graphs) for name in tensors}
    batch._num_graphs = len(graphs)
    return batch


def _types(
    nodes: int, links: NDArray[np.int64], labels: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """What kinds of nodes and edges graphs of one task have; see `to_pyg`.

    The labels of subgoals come after those of the agents, and each of them is on an edge from the goal root.
    """
    node_type = np.full(nodes, NODE_TYPES.index("world"))
    to_root = labels == GOAL_LABEL
    node_type[links[0, to_root]] = NODE_TYPES.index("epsilon")
    node_type[links[1, to_root]] = NODE_TYPES.index("goal root")
    from_root = node_type[links[0]] == NODE_TYPES.index("goal root")
    of_goal = labels >= labels[from_root].min(initial=MAX_LABEL + 1)
    goal_nodes = links[:, of_goal].ravel()
    node_type[goal_nodes[node_type[goal_nodes] == NODE_TYPES.index("world")]] = NODE_TYPES.index("goal")
    node_type[links[1, labels == DESIGNATED_LABEL]] = NODE_TYPES.index("designated world")
    return node_type, np.where(of_goal, GOAL_EDGE, np.where(labels < FIRST_AGENT_LABEL, labels - 1, labels))


def _goal_part(graph: GoalGraph, bits: NDArray[np.uint8]) -> GoalPart:
    position = {identifier: index for index, identifier in enumerate(graph.nodes)}
    edges = [(position[source], position[target], label) for source, target, label in graph.edges]
    table = np.array(edges, dtype=np.int64).T.copy()
    return GoalPart(bits, table[:2].copy(), table[2].copy())


def _goal_identifiers(name: str, graph: GoalGraph, widths: _Widths) -> NDArray[np.uint8]:
    nodes = np.array(graph.nodes, dtype=np.uint64)
    if name != "bitmask":
        return _bits(nodes, widths["width"])
    return _place(_bits(nodes, widths["goal_bits"]), widths["repetition_bits"] + widths["fluent_bits"], widths["width"])


def _shortfalls(encoding: str, task: Task, goal: GoalGraph, widths: _Widths) -> dict[str, int]:
    """The widths that are too small for the task, with the values that they need."""
    identifier_bits = max(goal.nodes).bit_length()
    if encoding == "bitmask":
        needed = {"fluent_bits": len(task.fluents), "goal_bits": identifier_bits}
        fields = {name: max(value, widths[name]) for name, value in needed.items()}
        needed["width"] = widths["repetition_bits"] + sum(fields.values())
    else:
        needed = {"width": identifier_bits}
    return {name: value for name, value in needed.items() if value > widths[name]}


def _check_fit(encoding: str, task: Task, goal: GoalGraph, widths: _Widths) -> None:
    shortfalls = _shortfalls(encoding, task, goal, widths)
    if not shortfalls:
        return
    found = ", ".join(f"{name}={widths[name]}" for name in shortfalls)
    remedy = " and ".join(f"{name}={value}" for name, value in shortfalls.items())
    fitting = [f"encoding={name}" for name in ENCODINGS if not _shortfalls(name, task, goal, widths)]
    raise LimitError(
        f"{task.name!r} ({len(task.fluents)} fluents, goal identifiers up to {max(goal.nodes)}) does not fit the "
        f"{encoding} encoding with {found}: raise to {remedy}" + (f", or use {' or '.join(fitting)}" if fitting else "")
    )


def _map_worlds(task: Task, graph: GoalGraph, widths: _Widths) -> _Identify:
    """Identifiers that count worlds in canonical order."""

    def identify(valuations: NDArray[np.bool_], ranks: NDArray[np.int64]) -> NDArray[np.uint8]:
        identifiers = ranks.astype(np.uint64) + np.uint64(graph.first_free)
        needed = int(identifiers.max(initial=0)).bit_length()
        if needed > widths["width"]:
            raise LimitError(
                f"an e-state of {task.name!r} has {int(ranks.max()) + 1} worlds, which does not fit the map encoding "
                f"with width={widths['width']}: raise to width={needed}, or use encoding=hash"
            )
        return _bits(identifiers, widths["width"])

    return identify


def _hash_worlds(task: Task, graph: GoalGraph, widths: _Widths) -> _Identify:
    """Identifiers that are XXH3 hashes of valuation and repetition index."""
    order = sorted(range(len(task.fluents)), key=task.fluents.__getitem__)
    names = [task.fluents[index].encode() for index in order]

    def identify(valuations: NDArray[np.bool_], repetitions: NDArray[np.int64]) -> NDArray[np.uint8]:
        ordered = valuations[:, order]
        true = [names[position] for position in np.nonzero(ordered)[1].tolist()]
        ends = np.cumsum(np.count_nonzero(ordered, axis=1)).tolist()
        hashes = [
            xxhash.xxh3_64_intdigest(b"\n".join(true[start:end]) + repetition.to_bytes(4, "little"))
            for (start, end), repetition in zip(pairwise([0, *ends]), repetitions.tolist(), strict=True)
        ]
        return _bits(np.array(hashes, dtype=np.uint64), widths["width"])

    return identify


def _bitmask_worlds(task: Task, graph: GoalGraph, widths: _Widths) -> _Identify:
    """Identifiers that show repetition index and valuation."""

    def identify(valuations: NDArray[np.bool_], repetitions: NDArray[np.int64]) -> NDArray[np.uint8]:
        needed = int(repetitions.max(initial=0)).bit_length()
        if needed > widths["repetition_bits"]:
            raise LimitError(
                f"an e-state of {task.name!r} repeats a valuation {int(repetitions.max()) + 1} times, which does not "
                f"fit the bitmask encoding with repetition_bits={widths['repetition_bits']}: raise to "
                f"repetition_bits={needed} and width={widths['width'] - widths['repetition_bits'] + needed}, "
                "or use encoding=map or encoding=hash"
            )
        repetition = _bits(repetitions.astype(np.uint64), widths["repetition_bits"])
        return _place(np.hstack([repetition, valuations.astype(np.uint8)]), 0, widths["width"])

    return identify


_WORLDS = {"map": _map_worlds, "hash": _hash_worlds, "bitmask": _bitmask_worlds}


def _bits(numbers: NDArray[np.uint64], width: int) -> NDArray[np.uint8]:
    """uint8[n, width]: the lowest `width` bits of numbers, least significant first, zeros beyond 64."""
    octets = numbers.astype("<u8").view(np.uint8).reshape(len(numbers), 8)
    bits = np.unpackbits(octets, axis=1, bitorder="little")
    return _place(bits[:, :width], 0, width)


def _place(bits: NDArray[np.uint8], offset: int, width: int) -> NDArray[np.uint8]:
    """uint8[n, width]: the columns of `bits` from column `offset` on, zeros elsewhere."""
    row = np.zeros((len(bits), width), dtype=np.uint8)
    row[:, offset : offset + bits.shape[1]] = bits
    return row
