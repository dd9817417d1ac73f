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
from dataclasses import dataclass, field, replace
from itertools import pairwise
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np
import xxhash
from numpy.typing import ArrayLike, NDArray

from epigym import _core
from epigym.errors import EpigymError, LimitError
from epigym.formula import Formula, Op
from epigym.growing import GrowingTable
from epigym.names import unknown
from epigym.packages import extras
from epigym.rows import GoalPart, GraphBatch, Rows, unroll
from epigym.space import StateSpace, as_ids
from epigym.task import Task

if TYPE_CHECKING:
    from gymnasium.spaces import GraphInstance

ENCODINGS = ("map", "hash", "bitmask")
MAX_LABEL = 255
"""Largest edge label: labels reach the network as `label / 255`."""

EPSILON, GOAL_ROOT, FIRST_AGENT = 1, 2, 3
GOAL_LABEL, DESIGNATED_LABEL, FIRST_AGENT_LABEL = 1, 2, 3

_Identify = Callable[[NDArray[np.bool_], NDArray[np.int64]], NDArray[np.uint8]]
_Widths = Mapping[str, int]
_KINDS = (Op.NOT, Op.AND, Op.OR, Op.BELIEVES, Op.EVERYBODY, Op.COMMON, Op.TRUE, Op.FALSE, Op.ACTUALLY)


@dataclass(frozen=True, slots=True)
class GoalGraph:
    """The goal part of a task's graphs, before identifiers become bits.

    Attributes:
        nodes: identifiers of the nodes, ascending; node 0 is epsilon.
        edges: (source, target, label) of every edge, nodes named by identifier.
        first_free: the first identifier that no goal-side node of the task has.
    """

    nodes: tuple[int, ...]
    edges: tuple[tuple[int, int, int], ...]
    first_free: int


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
        graph = goal_graph(task)
        _check_fit(name, task, graph, widths)
        self.space = space
        self.name = name
        self.goal = _goal_part(graph, _goal_identifiers(name, graph, widths))
        self.identify = _WORLDS[name](task, graph, widths)
        # Identifiers of `map` depend on the rank of a world alone, others on its valuation and repetition index.
        self._labels = None if name == "map" else _core.WorldLabels()
        self._identifiers = GrowingTable(width, np.uint8)
        self._lock = Lock()  # labels are handed out and described in one go

    @property
    def identifiers(self) -> NDArray[np.uint8]:
        """uint8[L, width]: the identifiers of worlds met so far as 0/1 bits, least significant first."""
        return self._identifiers.rows

    def rows(self, ids: ArrayLike) -> Rows:
        """The worlds of e-states, int32[k], and how they are related; their labels are rows of `identifiers`.

        Raises:
            IndexError: when an id is unknown.
            LimitError: when an e-state has too many worlds for the width.
        """
        with self._lock:
            rows = Rows(*self.space.core.rows(as_ids(ids), self._labels))
            known, fluents = len(self._identifiers), len(self.space.task.fluents)
            if self._labels is None:
                worlds = int(np.diff(rows.world_ptr).max(initial=0))
                if worlds > known:
                    blank = np.zeros((worlds - known, fluents), np.bool_)
                    self._identifiers.append(self.identify(blank, np.arange(known, worlds)))
            elif len(self._labels) > known:
                valuations, repetitions = self._labels.describe(known, fluents)
                self._identifiers.append(self.identify(valuations.view(np.bool_), repetitions))
        return rows

    def graphs(self, ids: ArrayLike) -> GraphBatch:
        """The graphs of e-states, int32[k]; errors as `rows`."""
        return unroll(self.rows(ids), self.identifiers, self.goal)


def goal_graph(task: Task) -> GoalGraph:
    """The goal part of the graphs of `task`.

    Raises:
        LimitError: when the agents and subgoals need more than 255 edge labels.
    """
    last_label = FIRST_AGENT_LABEL + len(task.agents) + len(task.goal) - 1
    if last_label > MAX_LABEL:
        raise LimitError(
            f"the graph of {task.name!r} needs {last_label} edge labels ({len(task.agents)} agents and "
            f"{len(task.goal)} subgoals), at most {MAX_LABEL} fit: state fewer subgoals, or use a search without graphs"
        )
    builder = _GoalBuilder(task)
    builder.connect(EPSILON, GOAL_ROOT, GOAL_LABEL)
    for index, subgoal in enumerate(task.goal):
        builder.add_subgoal(subgoal.negation_normal_form(), FIRST_AGENT_LABEL + len(task.agents) + index)
    nodes = sorted({EPSILON, GOAL_ROOT}.union(*((source, target) for source, target, _ in builder.edges)))
    return GoalGraph(tuple(nodes), tuple(builder.edges), builder.next_identifier)


def graph_instance(batch: GraphBatch) -> GraphInstance:
    """A batch of one graph as an observation of `gymnasium.spaces.Graph`.

    Returns:
        GraphInstance: nodes uint8[n, width], edges int64[m] (labels), edge_links int64[m, 2].

    Raises:
        ValueError: when the batch holds another number of graphs than one.
    """
    from gymnasium.spaces import GraphInstance

    if len(batch.node_ptr) != 2:
        raise ValueError(f"an observation is one graph, got a batch of {len(batch.node_ptr) - 1}")
    return GraphInstance(nodes=batch.node_bits, edges=batch.edge_label, edge_links=batch.edge_index.T.copy())


@extras()
def to_pyg(observation: GraphInstance) -> Any:
    """An observation as PyTorch Geometric data, ready for the regressor.

    Args:
        observation: nodes uint8[n, width], edges int64[m] (labels), edge_links int64[m, 2].

    Returns:
        torch_geometric.data.Data: x float32[n, width], edge_index int64[2, m], edge_attr float32[m, 1] = label / 255.

    Raises:
        MissingError: when PyTorch or PyTorch Geometric is not installed.
    """
    import torch
    from torch_geometric.data import Data

    labels = np.asarray(observation.edges, dtype=np.float32)
    return Data(
        x=torch.from_numpy(np.asarray(observation.nodes, dtype=np.float32)),
        edge_index=torch.from_numpy(np.array(observation.edge_links, dtype=np.int64).T),
        edge_attr=torch.from_numpy(labels[:, None] / MAX_LABEL),
    )


@dataclass(slots=True)
class _GoalBuilder:
    """Builds the goal graph depth first."""

    task: Task
    edges: list[tuple[int, int, int]] = field(default_factory=list)
    next_identifier: int = 0
    _agents: dict[str, int] = field(default_factory=dict)
    _literals: dict[tuple[str, bool], int] = field(default_factory=dict)
    _kinds: dict[Op, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        count = len(self.task.agents)
        self._agents = {agent: FIRST_AGENT + index for index, agent in enumerate(self.task.agents)}
        self._kinds = {kind: FIRST_AGENT + count + index for index, kind in enumerate(_KINDS)}
        first_literal = FIRST_AGENT + count + len(_KINDS)
        for index, name in enumerate(self.task.fluents):
            self._literals[name, True] = first_literal + 2 * index
            self._literals[name, False] = first_literal + 2 * index + 1
        self.next_identifier = first_literal + 2 * len(self.task.fluents)

    def connect(self, source: int, target: int, label: int) -> None:
        self.edges.append((source, target, label))

    def add_subgoal(self, subgoal: Formula, label: int) -> None:
        """Hang a formula in negation normal form below the goal root; equal subformulas become one node."""
        shared: dict[Formula, int] = {}

        def visit(parent: int, formula: Formula) -> None:
            known = shared.get(formula) or self._literal(formula)
            if known is not None:
                self.connect(parent, known, label)
                return
            node = shared[formula] = self.next_identifier
            self.next_identifier += 1
            self.connect(parent, node, label)
            self.connect(node, self._kinds[formula.op], label)
            for agent in formula.agents:
                self.connect(node, self._agents[agent], label)
                self.connect(self._agents[agent], node, label)
            for child in formula.children:
                visit(node, child)

        visit(GOAL_ROOT, subgoal)

    def _literal(self, formula: Formula) -> int | None:
        if formula.op is Op.FLUENT:
            return self._literals[formula.name, True]
        if formula.op is Op.NOT and formula.children[0].op is Op.FLUENT:
            return self._literals[formula.children[0].name, False]
        return None


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
