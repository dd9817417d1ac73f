"""The typed graph of an e-state in plain Python, node by node and edge by edge."""

from collections import Counter
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from epigym.encoding.relational import MAX_WORLDS, RELATIONS, Relational
from epigym.features.counts import FeatureTables
from epigym.reference.semantics import Evaluation
from epigym.space.rows import GraphBatch
from epigym.task.formula import Op
from epigym.task.task import EState, Task
from tests.oracles.features import Atoms, row

# Kinds of nodes with the first state of each, and kinds of edges.
FIRST = {"object": 0, "goal": 1, "fact": 3, "fluent": 4, "belief": 7, "world": 19, "row": 21}
PLACES = 4  # of arguments that are told apart; the last stands for all further ones
WHO, CHILD, ABOUT, HOLDS, AT, POSSIBLE = range(2 * PLACES, 2 * PLACES + 6)

Parts = tuple[list[list[int]], Counter[tuple[object, object, int]]]


class Graph:
    """The graph of an e-state, or what is in the graphs of all of them.

    Attributes:
        nodes: by what they stand for: kind, state and types.
        edges: in one direction.
    """

    def __init__(self, task: Task, tables: FeatureTables, encoding: Relational, estate: EState | None) -> None:
        self._task, self._tables, self._shown = task, tables, encoding.types_per_node
        self.nodes: dict[tuple[object, ...], list[int]] = {}
        order = sorted(range(len(estate.valuations)), key=lambda w: w not in estate.designated) if estate else []
        self._worlds = order[:MAX_WORLDS]
        somewhere = frozenset[str]().union(*(estate.valuations[w] for w in self._worlds)) if estate else frozenset()
        atoms = estate and Atoms(task, tables, estate)
        types = iter(types_of(tables, encoding.type_ids).tolist())
        for o in range(len(tables.objects)):
            self._add(("object", o), 0, next(types))
        for g in range(len(tables.goal)):
            self._add(("goal", g), atoms.true[g] if atoms else 0, next(types))
        for s in range(len(tables.fact_fine)):
            self._add(("fact", s), 0, next(types))
        if atoms and estate:
            for f, name in enumerate(task.fluents):
                own = next(types)
                if name in somewhere or tables.relevant_fluent[f]:
                    self._add(("fluent", f), atoms.truth[f], own)
            for i, held in enumerate(atoms.held):
                for f, belief in enumerate(held):
                    own = next(types)
                    if atoms.is_present(("belief", i, f)):
                        self._add(("belief", i, f), 4 * atoms.truth[f] + belief, own)
        self.edges = [(node, *edge) for node in self.nodes for edge in self._of(node) if edge[0] in self.nodes]
        if estate:
            self._add_worlds(estate)

    def parts(self) -> Parts:
        """The nodes in order, and the edges in both directions."""
        number = {name: place for place, name in enumerate(self.nodes)}
        forth = [(number[one], number[other], kind) for one, other, kind in self.edges]
        back = [(other, one, kind + RELATIONS // 2) for one, other, kind in forth]
        return _parts(list(self.nodes.values()), [*forth, *back])

    def _add(self, name: tuple[object, ...], state: int, types: list[int]) -> None:
        kind = str(name[0])
        self.nodes[name] = [list(FIRST).index(kind), FIRST[kind] + state, *[*types, *[0] * self._shown][: self._shown]]

    def _of(self, node: tuple[object, ...]) -> Iterator[tuple[tuple[object, ...], int]]:
        """The edges of a node that is in every e-state or none."""
        tables = self._tables
        match node:
            case ("fluent", int(f)):
                yield from ((o, min(place, PLACES) - 1) for o, place in row(tables.fluent_edges, f))
            case ("fact", int(s)):
                yield from ((o, min(place, PLACES) - 1) for o, place in row(tables.fact_edges, s))
            case ("belief", int(i), f):
                yield ("object", int(tables.agent_object[i])), WHO
                yield ("fluent", f), ABOUT
            case ("goal", int(g)):
                formula, (ptr, child) = tables.goal[g], tables.goal_children
                is_leaf = formula.op is Op.FLUENT
                for o, label in row(tables.goal_edges, g):
                    yield o, PLACES + min(label & 0xFF, PLACES) - 1 if is_leaf else WHO
                yield from ((("goal", number), CHILD) for number in child[ptr[g] : ptr[g + 1]].tolist())
                if is_leaf:
                    yield ("fluent", self._task.fluents.index(formula.name)), ABOUT

    def _add_worlds(self, estate: EState) -> None:
        truth = [Evaluation(self._task.agents, estate).truth(formula) for formula in self._tables.goal]
        for w in self._worlds:
            self._add(("world", w), int(w in estate.designated), [])
            true = [("fluent", f) for f, name in enumerate(self._task.fluents) if name in estate.valuations[w]]
            true += [("goal", g) for g, at in enumerate(truth) if w in at]
            self.edges += [(("world", w), node, HOLDS) for node in true]
        for w in self._worlds:
            for i, rows in enumerate(estate.successors):
                name = "row", i, rows[w]
                self.edges.append((("world", w), name, AT))
                if name not in self.nodes:
                    self._add(name, 0, [])
                    self.edges.append((name, ("object", int(self._tables.agent_object[i])), WHO))
                    self.edges += [(name, ("world", v), POSSIBLE) for v in rows[w] if v in self._worlds]


def split_goal(batch: GraphBatch, index: int) -> Parts:
    """The nodes and edges of one of several graphs."""
    (first, last), (start, end) = batch.node_ptr[index : index + 2], batch.edge_ptr[index : index + 2]
    ends = (batch.edge_index[:, start:end] - first).tolist()
    edges = list(zip(*ends, batch.edge_label[start:end].tolist(), strict=True))
    return _parts(batch.nodes[first:last].tolist(), edges)


def _parts(nodes: list[list[int]], edges: list[tuple[int, int, int]]) -> Parts:
    """Nodes and edges, of which rows, which have no order, are known by their agent and worlds."""
    seen: dict[int, set[object]] = {number: set() for number, node in enumerate(nodes) if node[1] == FIRST["row"]}
    for a, b, kind in edges:
        if a in seen and kind in (WHO, POSSIBLE):
            seen[a].add((b, kind))
    names = [frozenset(seen[number]) if number in seen else number for number in range(len(nodes))]
    return nodes, Counter((names[a], names[b], kind) for a, b, kind in edges)


def types_of(tables: FeatureTables, type_ids: int) -> NDArray[np.int64]:
    """int64[m, 2]: the ids of the fine and the coarse types of all that may be a node, 0 for none."""
    fine = [tables.objects, tables.goal_fine, tables.fact_fine, tables.fluent_fine, tables.belief_fine.ravel()]
    coarse = [np.zeros_like(tables.objects), tables.goal_coarse, np.zeros_like(tables.fact_fine)]
    coarse += [tables.fluent_coarse, tables.belief_coarse.ravel()]
    pairs = zip(np.concatenate(fine).tolist(), np.concatenate(coarse).tolist(), strict=True)
    return np.array([[1 + colour % type_ids if colour else 0 for colour in pair] for pair in pairs], np.int64)
