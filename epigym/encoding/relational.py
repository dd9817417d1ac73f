"""E-states as typed graphs over objects, atoms, the goal, worlds and what agents consider possible there.

Nodes are the objects (agents among them), the subformulas of the goal and the static facts of a task, the fluents that
are true in some world or that the goal speaks of, the beliefs that say something or that the goal speaks of, the
worlds, and a *row* for every agent and list of worlds that it considers possible at one of them. What a node is like is
its kind with its state, and the colours of its types (see `epigym.features.types`), looked up in a vocabulary: nothing
is made of names, and a graph means the same in every task.

Beliefs lead to their agent and their fluent, subformulas to their children, the agents and the fluent that they name,
atoms and facts to their arguments, worlds to the fluents and subformulas that are true there and to their rows, and
rows to their agent and their worlds. Every edge is there in both directions.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from epigym import _core
from epigym.errors import LimitError
from epigym.features.counts import Edges, FeatureTables
from epigym.features.types import FeatureTypes
from epigym.space import ragged
from epigym.space.rows import GraphBatch
from epigym.space.space import StateSpace, as_ids
from epigym.space.worlds import Worlds, WorldTable
from epigym.task.formula import Formula, Op, believes, fluent, not_

MAX_WORLDS = _core.MAX_WORLDS
"""Worlds of an e-state that are nodes: the designated ones first, then the first in canonical order."""

_STATES = {"object": 1, "goal": 2, "fact": 1, "fluent": 3, "belief": 12, "world": 2, "row": 1}
KIND_OF = _core.kinds_of_states()
"""int64[s]: the kind of a node in each of s states, which are told apart over all kinds."""
KINDS = int(KIND_OF[-1]) + 1
"""Kinds of nodes."""
_FIRST = dict(zip(_STATES, np.cumsum([0, *_STATES.values()]).tolist(), strict=False))

_NOWHERE, _THROUGHOUT, _SOMEWHERE = range(3)  # where a fluent is true among the designated worlds
_UNSURE, _TRUE, _FALSE, _EVERYTHING = range(4)  # what an agent believes of it
_UNREMARKABLE = 4 * _NOWHERE + _FALSE

_PLACES = 4  # of arguments that are told apart; the last stands for all further ones
_ARGUMENT = 0
_LEAF = _ARGUMENT + _PLACES  # an argument of a fluent in the goal
_WHO, _CHILD, _ABOUT, _HOLDS, _AT, _POSSIBLE = range(_LEAF + _PLACES, _LEAF + _PLACES + 6)
RELATIONS = _core.RELATIONS
"""Kinds of edges; each direction is a kind of its own."""

Ints = NDArray[np.int64]


class Graphs(NamedTuple):
    """The graphs of k e-states side by side: n nodes and e edges.

    Attributes:
        size: k.
        graph: int64[n], the graph that each node belongs to.
        state: int64[n], the kind and state of each node, see `KIND_OF`.
        types: int64[n, 2], its fine and its coarse type in the vocabulary, counted from 1; 0 is none or unknown.
        edges: int64[2, e], source and target of each edge.
        relation: int64[e], its kind, below `RELATIONS`.
    """

    size: int
    graph: Ints
    state: Ints
    types: Ints
    edges: Ints
    relation: Ints


class GraphMaker:
    """The graphs of a space's e-states.

    Args:
        space: where the e-states live.
        types: of the space's task.
        vocabulary: uint64[v], the colours of types that are known, ascending.

    Attributes:
        types: int64[m, 2], the types of all that may be a node in every e-state, as in `Graphs`.
    """

    def __init__(self, space: StateSpace, types: FeatureTypes, vocabulary: NDArray[np.uint64]) -> None:
        tables, task = types.tables, space.task
        self._tables = tables
        fluents = [fluent(name) for name in task.fluents]
        held = [believes(agent, one) for agent in task.agents for one in fluents]
        denied = [believes(agent, not_(one)) for agent in task.agents for one in fluents]
        self._query = space.query([*fluents, *map(not_, fluents), *held, *denied, *tables.goal])
        self._worlds = Worlds(space, tables.goal)
        self.types = _types(tables, vocabulary)
        # What may be a node in every e-state: objects, goal, facts, fluents and beliefs, one after the other.
        self._goal = len(tables.objects)
        self._fluent = self._goal + len(tables.goal) + len(tables.fact_fine)
        self._belief = self._fluent + len(fluents)
        self._edges = np.array(list(self._fixed_edges(task.fluents)), dtype=np.int64).reshape(-1, 3).T

    def __call__(self, ids: ArrayLike) -> Graphs:
        """The graphs of e-states, int32[k].

        Raises:
            IndexError: when an id is unknown.
        """
        worlds = self._worlds(ids)
        kept = _first_worlds(worlds)
        state, present = self._atoms(as_ids(ids), worlds, kept)
        graph, place = np.nonzero(present)
        number = np.where(present, np.cumsum(present).reshape(present.shape) - 1, -1)
        source, target, relation = self._edges
        of, edge = np.nonzero(present[:, source] & present[:, target])
        parts = [(number[of, source[edge]], number[of, target[edge]], relation[edge])]

        first_world = len(graph)
        world_of = worlds.state[kept]
        world = np.full(len(worlds.state), -1)
        world[kept] = first_world + np.arange(len(kept))
        for table, start, kind in ((worlds.fluents, self._fluent, _HOLDS), (worlds.truth, self._goal, _HOLDS)):
            at, what = np.nonzero(table[kept])
            parts.append((first_world + at, number[world_of[at], start + what], np.full(len(at), kind)))

        agents = len(self._tables.agent_object)
        pairs, row = np.unique(worlds.row[kept] * agents + np.arange(agents), return_inverse=True)
        first_row = first_world + len(kept)
        row = first_row + row.reshape(-1, agents)
        row_of = np.empty(len(pairs), dtype=np.int64)
        row_of[row - first_row] = world_of[:, None]
        rows = first_row + np.arange(len(pairs))
        members, counts = ragged.positions(worlds.ptr, pairs // agents)
        possible = np.stack([np.repeat(rows, counts), world[worlds.member[members]]])
        possible = possible[:, possible[1] >= 0]
        who = number[row_of, self._tables.agent_object[pairs % agents]]
        parts.append((np.repeat(first_world + np.arange(len(kept)), agents), row.ravel(), np.full(row.size, _AT)))
        parts.append((*possible, np.full(possible.shape[1], _POSSIBLE)))
        parts.append((rows, who, np.full(len(rows), _WHO)))

        nameless = np.zeros((len(kept) + len(pairs), 2), dtype=np.int64)
        return Graphs(
            size=len(present),
            graph=np.concatenate([graph, world_of, row_of]),
            state=np.concatenate(
                [state[present], _FIRST["world"] + worlds.designated[kept], np.full(len(pairs), _FIRST["row"])]
            ),
            types=np.concatenate([self.types[place], nameless]),
            **_both_ways(parts),
        )

    def without_worlds(self) -> Graphs:
        """One graph of what all e-states share: the objects, the goal as if nothing of it were true, and the facts."""
        tables = self._tables
        counts = len(tables.objects), len(tables.goal), len(tables.fact_fine)
        source, target, relation = self._edges
        inside = (source < self._fluent) & (target < self._fluent)
        return Graphs(
            size=1,
            graph=np.zeros(self._fluent, dtype=np.int64),
            state=np.repeat([_FIRST["object"], _FIRST["goal"], _FIRST["fact"]], counts),
            types=self.types[: self._fluent],
            **_both_ways([(source[inside], target[inside], relation[inside])]),
        )

    def _atoms(self, ids: NDArray[np.int32], worlds: WorldTable, kept: Ints) -> tuple[Ints, NDArray[np.bool_]]:
        """int64[k, m] and bool[k, m]: the state of all that may be a node in every e-state, and whether it is one."""
        tables = self._tables
        fluents, beliefs = len(tables.fluent_fine), tables.belief_fine.size
        ends = np.cumsum([fluents, fluents, beliefs, beliefs]).tolist()
        true, false, held, denied, goal = np.split(self._query(ids), ends, axis=1)
        where = np.select([true, false], [_THROUGHOUT, _NOWHERE], _SOMEWHERE)
        holds = np.select([held & denied, held, denied], [_EVERYTHING, _TRUE, _FALSE], _UNSURE)
        belief = 4 * np.tile(where, (1, len(tables.agent_object))) + holds
        somewhere = np.zeros_like(true)
        at, what = np.nonzero(worlds.fluents[kept])
        somewhere[worlds.state[kept][at], what] = True
        shape = len(ids), len(tables.objects)
        facts = np.full((len(ids), len(tables.fact_fine)), _FIRST["fact"])
        state = np.concatenate(
            [
                np.full(shape, _FIRST["object"]), _FIRST["goal"] + goal, facts, _FIRST["fluent"] + where,
                _FIRST["belief"] + belief,
            ],
            axis=1,
        )  # fmt: skip
        present = np.ones(state.shape, dtype=np.bool_)
        present[:, self._fluent : self._belief] = somewhere | tables.relevant_fluent
        present[:, self._belief :] = (belief != _UNREMARKABLE) | tables.relevant_belief.ravel()
        return state, present

    def _fixed_edges(self, fluents: Sequence[str]) -> Iterator[tuple[int, int, int]]:
        """Source, target and kind of the edges between what may be a node in every e-state."""
        tables, place = self._tables, {name: number for number, name in enumerate(fluents)}
        for first, edges in ((self._fluent, tables.fluent_edges), (self._goal + len(tables.goal), tables.fact_edges)):
            for row, target, label in _listed(edges):
                yield first + row, target, _argument(label)
        for row, target, label in _listed(tables.goal_edges):
            is_leaf = tables.goal[row].op is Op.FLUENT
            yield self._goal + row, target, _LEAF + _argument(label & 0xFF) if is_leaf else _WHO
        ptr, child = tables.goal_children
        for row, formula in enumerate(tables.goal):
            for one in child[ptr[row] : ptr[row + 1]].tolist():
                yield self._goal + row, self._goal + one, _CHILD
            if formula.op is Op.FLUENT:
                yield self._goal + row, self._fluent + place[formula.name], _ABOUT
        for agent, one in enumerate(tables.agent_object.tolist()):
            for number in range(len(fluents)):
                yield self._belief + agent * len(fluents) + number, one, _WHO
                yield self._belief + agent * len(fluents) + number, self._fluent + number, _ABOUT


def _both_ways(parts: Sequence[tuple[Ints, Ints, Ints]]) -> dict[str, Ints]:
    """Edges and their kinds, from sources, targets and kinds of those in one direction."""
    ends = np.concatenate([np.stack(part[:2]) for part in parts], axis=1)
    kinds = np.concatenate([part[2] for part in parts])
    return {
        "edges": np.concatenate([ends, ends[::-1]], axis=1),
        "relation": np.concatenate([kinds, kinds + RELATIONS // 2]),
    }


@dataclass(frozen=True, kw_only=True)
class Relational:
    """Typed graphs without names: renaming agents, objects, fluents and actions changes no node and no edge.

    A node is a row of whole numbers: its kind (`KIND_OF`), its state, told apart over all kinds, and the ids of its
    types, zeros after the last. A type is what a task does with an object, a fluent or a belief, or the shape of a
    subformula of the goal, see `epigym.features.types`; of the 64-bit colour c it has the id 1 + c mod `type_ids`.
    So ids take no data to number, they mean the same in every task, episode and process, and the space of observations
    is fixed when an environment is made, as Gymnasium expects. Two types may share an id, the more often the fewer ids
    there are (feature hashing, Weinberger et al. 2009). Models that are trained on typed graphs number the types of
    their training data in place of that.

    Of an e-state with more than `MAX_WORLDS` worlds the graph has so many, and which depends on the order of fluents.

    Attributes:
        types_per_node: columns of type ids.
        type_ids: number of different ids, 0 apart. 30 sampled problems of a domain have 63 to 276 types, those of all
            domains together 1,580.
    """

    name: ClassVar[str] = "relational"
    node_types: ClassVar[int] = KINDS
    """Number of node types in PyTorch Geometric data."""
    types_per_node: int = field(default=2, metadata={"minimum": 1})
    type_ids: int = field(default=65536, metadata={"minimum": 1})


class RelationalEncoder:
    """How e-states of a space become typed graphs under a goal.

    Args:
        space: where the e-states live.
        encoding: with its settings.
        goal: the subgoals; those of the space's task by default.

    Attributes:
        space: where the e-states live.
        encoding: with its settings.
        core: the same in the core, for what scores its graphs.
        largest: int64[2 + types_per_node], the largest value of each column of a node.
        labels: number of relations.

    Raises:
        LimitError: when a node has more types than columns for them.
    """

    labels = RELATIONS

    def __init__(self, space: StateSpace, encoding: Relational, goal: Sequence[Formula] | None = None) -> None:
        self.space = space
        self.encoding = encoding
        task = space.task if goal is None else replace(space.task, goal=tuple(goal))
        tables = FeatureTypes(task).tables
        colours = _colours(tables)
        columns, needed = encoding.types_per_node, int(np.count_nonzero(colours, axis=1).max(initial=0))
        if needed > columns:
            raise LimitError(
                f"a node of {task.name!r} has {needed} types, which does not fit the {encoding.name} encoding with "
                f"types_per_node={columns}: raise to types_per_node={needed}"
            )
        types = np.zeros((len(colours), max(columns, colours.shape[1])), dtype=np.int64)
        types[:, : colours.shape[1]] = np.where(colours == 0, 0, 1 + colours % np.uint64(encoding.type_ids))
        self.core = _core.RelationalGraphs(space.core, tables.pack(space), types[:, :columns].copy())
        self.largest = np.array([KINDS - 1, len(KIND_OF) - 1, *[encoding.type_ids] * columns])

    def under(self, goal: Sequence[Formula]) -> RelationalEncoder:
        """The same encoding under another goal; errors as the class."""
        return RelationalEncoder(self.space, self.encoding, goal)

    def graphs(self, ids: ArrayLike) -> GraphBatch:
        """The graphs of e-states, int32[k].

        Raises:
            IndexError: when an id is unknown.
        """
        return GraphBatch(*self.core.graphs(as_ids(ids)))

    def without_worlds(self) -> GraphBatch:
        """One graph of the goal alone, with the objects and facts of the task."""
        return GraphBatch(*self.core.without_worlds())


def _colours(tables: FeatureTables) -> NDArray[np.uint64]:
    """uint64[m, 2]: the fine and the coarse types of all that may be a node in every e-state; 0 is none."""
    none = np.zeros_like
    fine = [tables.objects, tables.goal_fine, tables.fact_fine, tables.fluent_fine, tables.belief_fine.ravel()]
    coarse = [
        none(tables.objects), tables.goal_coarse, none(tables.fact_fine), tables.fluent_coarse,
        tables.belief_coarse.ravel(),
    ]  # fmt: skip
    return np.stack([np.concatenate(fine), np.concatenate(coarse)], axis=1)


def vocabulary_of(types: Iterable[FeatureTypes]) -> NDArray[np.uint64]:
    """uint64[v]: the colours of the types of some tasks, ascending."""
    colours = [np.empty(0, dtype=np.uint64)]
    for one in types:
        t = one.tables
        tables = (t.objects, t.fact_fine, t.goal_fine, t.goal_coarse, t.fluent_fine, t.fluent_coarse)
        colours += [*tables, t.belief_fine.ravel(), t.belief_coarse.ravel()]
    return np.unique(np.concatenate(colours))


def type_ids_of(types: Iterable[FeatureTypes], encoding: Relational) -> list[int]:
    """The ids of the types of some tasks, ascending."""
    ids: list[int] = np.unique(1 + vocabulary_of(types) % np.uint64(encoding.type_ids)).tolist()
    return ids


def side_by_side(graphs: Sequence[Graphs]) -> Graphs:
    """Some graphs as one."""
    first_graph = ragged.pointers(np.array([one.size for one in graphs]))
    first_node = ragged.pointers(np.array([len(one.graph) for one in graphs]))
    return Graphs(
        size=int(first_graph[-1]),
        graph=np.concatenate([one.graph + first for one, first in zip(graphs, first_graph, strict=False)]),
        state=np.concatenate([one.state for one in graphs]),
        types=np.concatenate([one.types for one in graphs]),
        edges=np.concatenate([one.edges + first for one, first in zip(graphs, first_node, strict=False)], axis=1),
        relation=np.concatenate([one.relation for one in graphs]),
    )


def _types(tables: FeatureTables, vocabulary: NDArray[np.uint64]) -> Ints:
    """int64[m, 2]: the fine and the coarse types of all that may be a node, in the vocabulary; 0 is none."""
    colours = _colours(tables)
    place = np.searchsorted(vocabulary, colours)
    is_known = np.append(vocabulary, np.uint64(0))[place] == colours
    return np.where(is_known & (colours != 0), place + 1, 0)


def _first_worlds(worlds: WorldTable) -> Ints:
    """int64: the worlds that are nodes, by e-state."""
    order = np.lexsort((~worlds.designated, worlds.state))
    first = np.searchsorted(worlds.state, worlds.state)
    return order[np.arange(len(order)) - first < MAX_WORLDS]


def _listed(edges: Edges) -> Iterator[tuple[int, int, int]]:
    ptr, target, label = edges
    rows = np.repeat(np.arange(len(ptr) - 1), np.diff(ptr))
    return zip(rows.tolist(), target.tolist(), label.tolist(), strict=True)


def _argument(place: int) -> int:
    """The kind of the edge to an argument; places are counted from 1."""
    return _ARGUMENT + min(place, _PLACES) - 1
