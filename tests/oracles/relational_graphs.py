"""The typed graphs of e-states in NumPy, from the query of formulas and the table of worlds: many e-states at once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from epigym.encoding.relational import Relational
from epigym.features.counts import Edges, FeatureTables
from epigym.features.types import FeatureTypes
from epigym.space import ragged
from epigym.space.rows import GraphBatch
from epigym.space.space import StateSpace, as_ids
from epigym.space.worlds import Worlds, WorldTable
from epigym.task.formula import Formula, Op, believes, fluent, not_

MAX_WORLDS = 64
_STATES = {"object": 1, "goal": 2, "fact": 1, "fluent": 3, "belief": 12, "world": 2, "row": 1}
_FIRST = dict(zip(_STATES, np.cumsum([0, *_STATES.values()]).tolist(), strict=False))

_NOWHERE, _THROUGHOUT, _SOMEWHERE = range(3)  # where a fluent is true among the designated worlds
_UNSURE, _TRUE, _FALSE, _EVERYTHING = range(4)  # what an agent believes of it
_UNREMARKABLE = 4 * _NOWHERE + _FALSE

_PLACES = 4  # of arguments that are told apart; the last stands for all further ones
_ARGUMENT = 0
_LEAF = _ARGUMENT + _PLACES  # an argument of a fluent in the goal
_WHO, _CHILD, _ABOUT, _HOLDS, _AT, _POSSIBLE = range(_LEAF + _PLACES, _LEAF + _PLACES + 6)
RELATIONS = 2 * (_POSSIBLE + 1)

Ints = NDArray[np.int64]


class NumpyEncoder:
    """The graphs of a space's e-states under a goal."""

    def __init__(self, space: StateSpace, encoding: Relational, goal: Sequence[Formula] | None = None) -> None:
        task = space.task if goal is None else replace(space.task, goal=tuple(goal))
        tables = FeatureTypes(task).tables
        self._encoding = encoding
        self._tables = tables
        fluents = [fluent(name) for name in task.fluents]
        held = [believes(agent, one) for agent in task.agents for one in fluents]
        denied = [believes(agent, not_(one)) for agent in task.agents for one in fluents]
        self._query = space.query([*fluents, *map(not_, fluents), *held, *denied, *tables.goal])
        self._worlds = Worlds(space, tables.goal)
        self.types = types_of(tables, encoding.type_ids)
        # What may be a node in every e-state: objects, goal, facts, fluents and beliefs, one after the other.
        self._goal = len(tables.objects)
        self._fluent = self._goal + len(tables.goal) + len(tables.fact_fine)
        self._belief = self._fluent + len(fluents)
        self._edges = np.array(list(self._fixed_edges(task.fluents)), dtype=np.int64).reshape(-1, 3).T

    def graphs(self, ids: ArrayLike) -> GraphBatch:
        """The graphs of e-states, int32[k]."""
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
        return self._batch(
            size=len(present),
            graph=np.concatenate([graph, world_of, row_of]),
            state=np.concatenate(
                [state[present], _FIRST["world"] + worlds.designated[kept], np.full(len(pairs), _FIRST["row"])]
            ),
            types=np.concatenate([self.types[place], nameless]),
            **_both_ways(parts),
        )

    def without_worlds(self) -> GraphBatch:
        """One graph of what all e-states share: the objects, the goal as if nothing of it were true, and the facts."""
        tables = self._tables
        counts = len(tables.objects), len(tables.goal), len(tables.fact_fine)
        source, target, relation = self._edges
        inside = (source < self._fluent) & (target < self._fluent)
        return self._batch(
            size=1,
            graph=np.zeros(self._fluent, dtype=np.int64),
            state=np.repeat([_FIRST["object"], _FIRST["goal"], _FIRST["fact"]], counts),
            types=self.types[: self._fluent],
            **_both_ways([(source[inside], target[inside], relation[inside])]),
        )

    def _batch(self, size: int, graph: Ints, state: Ints, types: Ints, edges: Ints, relation: Ints) -> GraphBatch:
        """The graphs one after the other."""
        order = np.argsort(graph, kind="stable")
        place = np.empty_like(order)
        place[order] = np.arange(len(order))
        nodes = np.zeros((len(order), 2 + self._encoding.types_per_node), dtype=np.int64)
        state, types = state[order], types[order]
        nodes[:, 0], nodes[:, 1] = np.repeat(np.arange(len(_STATES)), list(_STATES.values()))[state], state
        shown = min(types.shape[1], self._encoding.types_per_node)
        nodes[:, 2 : 2 + shown] = types[:, :shown]
        of_edge = graph[edges[0]]
        edge_order = np.argsort(of_edge, kind="stable")
        return GraphBatch(
            nodes,
            place[edges[:, edge_order]],
            relation[edge_order],
            ragged.pointers(np.bincount(graph, minlength=size)),
            ragged.pointers(np.bincount(of_edge, minlength=size)),
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


def types_of(tables: FeatureTables, type_ids: int) -> Ints:
    """int64[m, 2]: the ids of the fine and the coarse types of all that may be a node, 0 for none."""
    fine = [tables.objects, tables.goal_fine, tables.fact_fine, tables.fluent_fine, tables.belief_fine.ravel()]
    coarse = [
        np.zeros_like(tables.objects), tables.goal_coarse, np.zeros_like(tables.fact_fine), tables.fluent_coarse,
        tables.belief_coarse.ravel(),
    ]  # fmt: skip
    pairs = zip(np.concatenate(fine).tolist(), np.concatenate(coarse).tolist(), strict=True)
    return np.array([[1 + colour % type_ids if colour else 0 for colour in pair] for pair in pairs], np.int64)


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
