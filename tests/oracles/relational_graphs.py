"""The typed graph of one e-state after the other, from the reference and the types of the task."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from epigym.encoding.relational import Relational
from epigym.features.counts import Edges, FeatureTables
from epigym.features.types import FeatureTypes
from epigym.reference.semantics import Evaluation
from epigym.space.rows import GraphBatch, join
from epigym.space.space import StateSpace, as_ids
from epigym.task.formula import Formula, Op

MAX_WORLDS = 64
_STATES = {"object": 1, "goal": 2, "fact": 1, "fluent": 3, "belief": 12, "world": 2, "row": 1}
_KINDS = {name: kind for kind, name in enumerate(_STATES)}
_FIRST = dict(zip(_STATES, np.cumsum([0, *_STATES.values()]).tolist(), strict=False))

_WHERE = {frozenset({False}): 0, frozenset({True}): 1}  # a fluent among the designated worlds; else 2
_HELD = {frozenset({True}): 1, frozenset({False}): 2, frozenset[bool](): 3}  # what an agent believes of it; else 0
_UNREMARKABLE = 4 * 0 + 2

_PLACES = 4  # of arguments that are told apart; the last stands for all further ones
_ARGUMENT = 0
_LEAF = _ARGUMENT + _PLACES  # an argument of a fluent in the goal
_WHO, _CHILD, _ABOUT, _HOLDS, _AT, _POSSIBLE = range(_LEAF + _PLACES, _LEAF + _PLACES + 6)
RELATIONS = 2 * (_POSSIBLE + 1)

Ints = NDArray[np.int64]
Node = tuple[str, int]  # a kind and a number within it; of beliefs agent by agent


class PlainEncoder:
    """The graphs of a space's e-states under a goal."""

    def __init__(self, space: StateSpace, encoding: Relational, goal: Sequence[Formula] | None = None) -> None:
        self._task = space.task if goal is None else replace(space.task, goal=tuple(goal))
        self._space, self._encoding = space, encoding
        self._tables = tables = FeatureTypes(self._task).tables
        sizes = [len(tables.objects), len(tables.goal), len(tables.fact_fine), *tables.fluent_fine.shape]
        kinds = zip(_STATES, (*sizes, tables.belief_fine.size), strict=False)
        nodes = [(kind, number) for kind, size in kinds for number in range(size)]
        self._types = dict(zip(nodes, types_of(tables, encoding.type_ids).tolist(), strict=True))
        self._edges = list(self._fixed_edges())

    def graphs(self, ids: ArrayLike) -> GraphBatch:
        """The graphs of e-states, int32[k], at least one."""
        return join([self._graph(state) for state in as_ids(ids).tolist()])

    def without_worlds(self) -> GraphBatch:
        """One graph of what all e-states share: the objects, the goal as if nothing of it were true, and the facts."""
        return self._batch({node: 0 for node in self._types if node[0] in ("object", "goal", "fact")}, [])

    def _graph(self, state: int) -> GraphBatch:
        task, tables, estate = self._task, self._tables, self._space.model(state).state
        rows = self._space.rows([state])
        evaluation = Evaluation(task.agents, estate)
        worlds = [*estate.designated, *(w for w in range(len(estate.valuations)) if w not in estate.designated)]
        kept = worlds[:MAX_WORLDS]

        def values(name: str, at: Sequence[int] | frozenset[int]) -> frozenset[bool]:
            return frozenset(name in estate.valuations[world] for world in at)

        present: dict[Node, int] = {node: 0 for node in self._types if node[0] == "object"}
        present |= {("goal", g): int(evaluation.holds(formula)) for g, formula in enumerate(tables.goal)}
        present |= {("fact", s): 0 for s in range(len(tables.fact_fine))}
        where = [_WHERE.get(values(name, estate.designated), 2) for name in task.fluents]
        for f, name in enumerate(task.fluents):
            if tables.relevant_fluent[f] or True in values(name, kept):
                present["fluent", f] = where[f]
        for agent, successors in enumerate(estate.successors):
            possible = frozenset().union(*(successors[world] for world in estate.designated))
            for f, name in enumerate(task.fluents):
                belief = 4 * where[f] + _HELD.get(values(name, possible), 0)
                if belief != _UNREMARKABLE or tables.relevant_belief[agent, f]:
                    present["belief", agent * len(task.fluents) + f] = belief
        present |= {("world", world): int(world in estate.designated) for world in kept}
        pairs = sorted({(int(rows.row_of[world, agent]), agent) for world in kept for agent in range(len(task.agents))})
        present |= {("row", number): 0 for number in range(len(pairs))}

        edges = [
            (("world", world), ("fluent", f), _HOLDS)
            for world in kept
            for f, name in enumerate(task.fluents)
            if name in estate.valuations[world]
        ]
        truth = [evaluation.truth(formula) for formula in tables.goal]
        edges += [(("world", w), ("goal", g), _HOLDS) for w in kept for g, at in enumerate(truth) if w in at]
        edges += [
            (("world", world), ("row", pairs.index((int(rows.row_of[world, agent]), agent))), _AT)
            for world in kept
            for agent in range(len(task.agents))
        ]
        for number, (row, _) in enumerate(pairs):
            members = rows.successor[rows.successor_ptr[row] : rows.successor_ptr[row + 1]].tolist()
            edges += [(("row", number), ("world", world), _POSSIBLE) for world in members if world in kept]
        edges += [(("row", n), ("object", int(tables.agent_object[agent])), _WHO) for n, (_, agent) in enumerate(pairs)]
        return self._batch(present, edges)

    def _batch(self, present: dict[Node, int], edges: Sequence[tuple[Node, Node, int]]) -> GraphBatch:
        """The graph of nodes, each with its state within its kind, and of edges, both ways, with their kinds."""
        place = {node: number for number, node in enumerate(present)}
        columns = self._encoding.types_per_node
        nodes = [
            [_KINDS[kind], _FIRST[kind] + state, *(self._types.get((kind, number), []) + [0] * columns)[:columns]]
            for (kind, number), state in present.items()
        ]
        fixed = [edge for edge in self._edges if edge[0] in place and edge[1] in place]
        forth = np.array([(place[a], place[b], k) for a, b, k in (*fixed, *edges)], dtype=np.int64).reshape(-1, 3).T
        return GraphBatch(
            np.array(nodes, dtype=np.int64),
            np.concatenate([forth[:2], forth[1::-1]], axis=1),
            np.concatenate([forth[2], forth[2] + RELATIONS // 2]),
            np.array([0, len(nodes)]),
            np.array([0, 2 * forth.shape[1]]),
        )

    def _fixed_edges(self) -> Iterator[tuple[Node, Node, int]]:
        """The edges between what may be a node in every e-state, with their kinds."""
        tables, fluents = self._tables, self._task.fluents
        for kind, edges in (("fluent", tables.fluent_edges), ("fact", tables.fact_edges)):
            for row, target, label in _listed(edges):
                yield (kind, row), ("object", target), _argument(label)
        for row, target, label in _listed(tables.goal_edges):
            is_leaf = tables.goal[row].op is Op.FLUENT
            yield ("goal", row), ("object", target), _LEAF + _argument(label & 0xFF) if is_leaf else _WHO
        for row, formula in enumerate(tables.goal):
            for child in tables.goal_children.member[slice(*tables.goal_children.ptr[row : row + 2])].tolist():
                yield ("goal", row), ("goal", child), _CHILD
            if formula.op is Op.FLUENT:
                yield ("goal", row), ("fluent", fluents.index(formula.name)), _ABOUT
        for agent, one in enumerate(tables.agent_object.tolist()):
            for number in range(len(fluents)):
                yield ("belief", agent * len(fluents) + number), ("object", one), _WHO
                yield ("belief", agent * len(fluents) + number), ("fluent", number), _ABOUT


def types_of(tables: FeatureTables, type_ids: int) -> Ints:
    """int64[m, 2]: the ids of the fine and the coarse types of all that may be a node, 0 for none."""
    fine = [tables.objects, tables.goal_fine, tables.fact_fine, tables.fluent_fine, tables.belief_fine.ravel()]
    coarse = [
        np.zeros_like(tables.objects), tables.goal_coarse, np.zeros_like(tables.fact_fine), tables.fluent_coarse,
        tables.belief_coarse.ravel(),
    ]  # fmt: skip
    pairs = zip(np.concatenate(fine).tolist(), np.concatenate(coarse).tolist(), strict=True)
    return np.array([[1 + colour % type_ids if colour else 0 for colour in pair] for pair in pairs], np.int64)


def _listed(edges: Edges) -> Iterator[tuple[int, int, int]]:
    return ((row, target, label) for row in range(len(edges.ptr) - 1) for label, target in edges.row(row))


def _argument(place: int) -> int:
    """The kind of the edge to an argument; places are counted from 1."""
    return _ARGUMENT + min(place, _PLACES) - 1
