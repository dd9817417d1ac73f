"""E-states as graphs: the encodings `map`, `hash` and `bitmask` (paper, section 3.2 and Appendix C), and `relational`.

The graphs of `relational` are those of `epigym.encoding.relational`. Of the others a graph consists of the *goal part*,
which is the same for all e-states of a task, and one node per world:

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
3 + n + k for every edge of subgoal k. How an encoding identifies worlds is in `epigym.encoding.identifiers`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from threading import Lock
from typing import TYPE_CHECKING, Any, TypeAlias, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from epigym import _core
from epigym.config.targets import TARGET, find, full_name
from epigym.config.values import make
from epigym.encoding.goal_graph import MAX_LABEL, GoalGraph, goal_graph
from epigym.encoding.identifiers import Bitmask, Hash, Identifiers, Map
from epigym.encoding.relational import Relational, RelationalEncoder
from epigym.errors import LimitError, UsageError
from epigym.names import unknown
from epigym.space.growing import GrowingTable
from epigym.space.rows import GoalPart, GraphBatch, Rows, goal_parts, unroll
from epigym.space.space import StateSpace
from epigym.task.formula import Formula
from epigym.task.task import Task

if TYPE_CHECKING:
    from gymnasium.spaces import GraphInstance

Encoding: TypeAlias = Identifiers | Relational
"""An encoding with its settings."""
ENCODINGS: dict[str, type[Encoding]] = {kind.name: kind for kind in (Map, Hash, Bitmask, Relational)}
"""The encodings by name; others may be added."""


def list_identifiers() -> list[str]:
    """The names of the encodings whose nodes are identifiers."""
    return [name for name, kind in ENCODINGS.items() if issubclass(kind, Identifiers)]


class Encoder:
    """How e-states of a space become graphs with identifiers under a goal.

    Args:
        space: where the e-states live.
        encoding: one with identifiers, by its name or made already.
        goal: the subgoals; those of the space's task by default.
        **settings: of the encoding, where it is given by its name.

    Attributes:
        space: where the e-states live.
        encoding: with its settings.
        largest: uint8[width], the largest value of each column of a node.
        labels: number of edge labels, 0 (unused) included.
        goal: the goal part of all graphs.
        identify: identifier bits uint8[L, width] of L worlds from their valuations bool[L, n_fluents] and their
            repetition indices (`map`: their ranks), int64[L].

    Raises:
        UsageError: when the encoding is unknown or without identifiers, or a setting is unknown or negative.
        LimitError: when the task does not fit the width or needs more than 255 edge labels.
    """

    labels = MAX_LABEL + 1

    def __init__(
        self,
        space: StateSpace,
        encoding: str | Identifiers = "hash",
        goal: Sequence[Formula] | None = None,
        **settings: Any,
    ) -> None:
        if not isinstance(encoding, str) and settings:
            raise UsageError(
                f"{sorted(settings)[0]}= is a setting of an encoding given by its name, not of {encoding!r}"
            )
        if isinstance(encoding, str):
            encoding = require_identifiers(make_encoding({"name": encoding, **settings}))
        task = space.task if goal is None else replace(space.task, goal=tuple(goal))
        graph = goal_graph(task)
        _check_fit(encoding, task, graph)
        self.space = space
        self.encoding = encoding
        self.largest = np.ones(encoding.width, np.uint8)
        self.goal = _goal_part(graph, encoding.of_goal(graph))
        self.identify = encoding.of_worlds(task, graph)
        # Without the label of a world its identifier is that of its rank.
        self._labels = None if encoding.by_rank else _core.WorldLabels()
        self._identifiers = GrowingTable(encoding.width, np.uint8)
        self._lock = Lock()  # labels are handed out and described in one go

    def under(self, goal: Sequence[Formula]) -> Encoder:
        """The same encoding under another goal; both share the identifiers of worlds, unless these are ranks.

        Raises:
            LimitError: when the goal does not fit the width or needs more than 255 edge labels.
            UsageError: when the identifier of a world without true fluents, or of one without false ones, depends on
                the goal, see `Identifiers.of_worlds`.
        """
        other = Encoder(self.space, self.encoding, goal)
        if self._labels is not None:
            fluents = len(self.space.task.fluents)
            worlds = np.array([[False] * fluents, [True] * fluents]), np.zeros(2, np.int64)
            if not np.array_equal(self.identify(*worlds), other.identify(*worlds)):
                raise UsageError(
                    f"the encoding {self.encoding.name!r} identifies a world differently under another goal: "
                    "make identifiers that do not depend on the goal, or set by_rank"
                )
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
            ValueError: when a replaced `identify` returns a wrong shape or type.
        """
        with self._lock:
            rows = self.space.rows(ids, self._labels)
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

    def without_worlds(self) -> GraphBatch:
        """One graph, the goal part alone."""
        return goal_parts([self.goal])


AnyEncoder: TypeAlias = Encoder | RelationalEncoder


def make_encoding(choice: str | Mapping[str, Any], prefix: str = "") -> Encoding:
    """The encoding of a name, or that a mapping chooses, with the settings that the mapping has.

    Args:
        choice: the name of one of `ENCODINGS`; or a mapping with `name`, or with `_target_`, the path of a class that
            derives from `Identifiers` or `Relational`.
        prefix: what stands before the names of settings in messages, such as `encoding.`.

    Raises:
        UsageError: when the encoding or a setting is unknown, or a value does not fit.
    """
    choice = {"name": choice} if isinstance(choice, str) else choice
    if not isinstance(choice, Mapping):
        raise UsageError(f"encoding={choice!r}: expected a name, or a mapping with a name and settings")
    settings = {key: value for key, value in choice.items() if key not in ("name", TARGET)}
    if choice.get(TARGET) is not None:
        return make(_find_own(choice[TARGET]), settings, prefix)
    name = str(choice.get("name"))
    if name not in ENCODINGS:
        raise UsageError(unknown("encoding", name, ENCODINGS))
    return make(ENCODINGS[name], settings, prefix)


def _find_own(target: str) -> type[Encoding]:
    found = find(target)
    if not (isinstance(found, type) and issubclass(found, Identifiers | Relational)):
        bases = " or ".join(map(full_name, (Identifiers, Relational)))
        raise UsageError(f"encoding: _target_={target!r} is no class that derives from {bases}")
    return found


def require_identifiers(encoding: Encoding) -> Identifiers:
    """The encoding, where it has identifiers.

    Raises:
        UsageError: where it has none.
    """
    if not isinstance(encoding, Identifiers):
        names = " or ".join(map(repr, list_identifiers()))
        raise UsageError(f"the encoding {encoding.name!r} has no identifiers of worlds: use {names}")
    return encoding


def make_encoder(space: StateSpace, encoding: Encoding, goal: Sequence[Formula] | None = None) -> AnyEncoder:
    """How e-states of a space become graphs under a goal, that of the space's task by default.

    Raises:
        LimitError: when the task does not fit the encoding.
    """
    found: AnyEncoder | None = encoding.encoder(space, goal)
    return Encoder(space, cast(Identifiers, encoding), goal) if found is None else found


def _check_fit(encoding: Identifiers, task: Task, goal: GoalGraph) -> None:
    """Refuse a task that does not fit an encoding.

    Raises:
        LimitError: naming the settings to raise and the encodings that would fit.
    """
    shortfalls = encoding.shortfalls(task, goal)
    if not shortfalls:
        return
    found = ", ".join(f"{name}={getattr(encoding, name)}" for name in shortfalls)
    remedy = " and ".join(f"{name}={value}" for name, value in shortfalls.items())
    others = {
        name: kind(width=encoding.width)
        for name, kind in ENCODINGS.items()
        if issubclass(kind, Identifiers) and kind is not type(encoding)
    }
    fitting = [f"encoding={name}" for name, other in others.items() if not other.shortfalls(task, goal)]
    raise LimitError(
        f"{task.name!r} ({len(task.fluents)} fluents, goal identifiers up to {max(goal.nodes)}) does not fit the "
        f"{encoding.name} encoding with {found}: raise to {remedy}"
        + (f", or use {' or '.join(fitting)}" if fitting else "")
    )


def graph_instance(batch: GraphBatch, index: int = 0) -> GraphInstance:
    """One graph of a batch as an observation of `gymnasium.spaces.Graph`.

    Returns:
        GraphInstance: nodes uint8[n, width] (of the encoding `relational` int64), edges int64[m] (labels), edge_links
            int64[m, 2].

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


def as_batch(graph: GraphInstance) -> GraphBatch:
    """A graph as a batch of one."""
    edges = np.zeros(0, np.int64) if graph.edges is None else np.asarray(graph.edges, np.int64)
    links = np.zeros((0, 2), np.int64) if graph.edge_links is None else np.asarray(graph.edge_links, np.int64)
    nodes = np.asarray(graph.nodes)
    return GraphBatch(nodes, links.T, edges, np.array([0, len(nodes)]), np.array([0, len(edges)]))


def _goal_part(graph: GoalGraph, bits: NDArray[np.uint8]) -> GoalPart:
    position = {identifier: index for index, identifier in enumerate(graph.nodes)}
    edges = [(position[source], position[target], label) for source, target, label in graph.edges]
    table = np.array(edges, dtype=np.int64).T.copy()
    return GoalPart(bits, table[:2].copy(), table[2].copy())
