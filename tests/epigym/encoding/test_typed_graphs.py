"""Typed graphs: their nodes and edges by hand."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from epigym.encoding.relational import KIND_OF, KINDS, MAX_WORLDS, RELATIONS, Relational, RelationalEncoder, type_ids_of
from epigym.features.types import FeatureTypes
from epigym.problem import load_problem
from epigym.space.space import StateSpace
from epigym.task.task import Task
from tests.helpers.tasks import coin, deluded

OBJECT, GOAL, FACT, FLUENT, BELIEF, WORLD, ROW = range(KINDS)
FIRST = np.searchsorted(KIND_OF, range(KINDS))  # the first state of each kind


class Graphs(NamedTuple):
    """Graphs by node and edge."""

    size: int
    graph: NDArray[np.int64]
    state: NDArray[np.int64]
    types: NDArray[np.int64]
    edges: NDArray[np.int64]
    relation: NDArray[np.int64]


def graphs_of(task: Task, ids: Sequence[int], space: StateSpace | None = None) -> Graphs:
    batch = RelationalEncoder(space or StateSpace(task), Relational()).graphs(np.array(ids, dtype=np.int32))
    graph = np.repeat(np.arange(len(ids)), np.diff(batch.node_ptr))
    return Graphs(len(ids), graph, batch.nodes[:, 1], batch.nodes[:, 2:], batch.edge_index, batch.edge_label)


def check_sound(graphs: Graphs) -> None:
    """Edges stay in their graph, and each has one back."""
    source, target = graphs.edges
    assert (graphs.graph[source] == graphs.graph[target]).all()
    assert (np.bincount(graphs.graph, minlength=graphs.size) > 0).all()
    assert ((graphs.relation >= 0) & (graphs.relation < RELATIONS)).all()
    forth = sorted(zip(source.tolist(), target.tolist(), graphs.relation.tolist(), strict=True))
    turned = (graphs.relation + RELATIONS // 2) % RELATIONS
    assert forth == sorted(zip(target.tolist(), source.tolist(), turned.tolist(), strict=True))
    assert len(set(forth)) == len(forth)


def edges_by_kind(graphs: Graphs, names: Sequence[str]) -> set[frozenset[tuple[str, str]]]:
    """The edges of each kind of one direction, by the names of their ends."""
    is_forth = graphs.relation < RELATIONS // 2
    return {
        frozenset((names[a], names[b]) for a, b in graphs.edges[:, is_forth & (graphs.relation == relation)].T)
        for relation in set(graphs.relation[is_forth].tolist())
    }


def test_the_graph_of_the_coin_by_hand() -> None:
    """At the start nobody knows how the coin lies; open is false everywhere, and no part of the goal speaks of it."""
    graphs = graphs_of(coin(), [0])
    check_sound(graphs)
    kinds = [OBJECT] * 2 + [GOAL] * 3 + [FLUENT] + [BELIEF] * 2 + [WORLD] * 2 + [ROW] * 2
    assert KIND_OF[graphs.state].tolist() == kinds
    own = (graphs.state - FIRST[kinds]).tolist()
    throughout, unsure = 1, 4 * 1 + 0
    assert own[:8] == [0, 0, 1, 0, 0, throughout, unsure, unsure]
    worlds = ["real", "other"] if own[8] else ["other", "real"]
    assert own[8:] == [world == "real" for world in worlds] + [0, 0]
    names = ["a", "b", "?tail", "?B", "?BB", "tail", "a:tail", "b:tail", *worlds, "row of a", "row of b"]
    assert edges_by_kind(graphs, names) == {
        frozenset({("?B", "b"), ("?BB", "a"), ("a:tail", "a"), ("b:tail", "b"), ("row of a", "a"), ("row of b", "b")}),
        frozenset({("?B", "?tail"), ("?BB", "?B")}),
        frozenset({("?tail", "tail"), ("a:tail", "tail"), ("b:tail", "tail")}),
        frozenset({("real", "tail"), ("real", "?tail")}),
        frozenset((world, row) for world in worlds for row in ("row of a", "row of b")),
        frozenset((row, world) for world in worlds for row in ("row of a", "row of b")),
    }


def test_what_agents_believe_is_in_the_states() -> None:
    """After a has looked it knows how the coin lies; what leaves an agent with nothing to believe in is a state too."""
    space = StateSpace(coin())
    looked = space.successor(space.successor(0, 0), 1)
    graphs = graphs_of(space.task, [looked], space)
    beliefs = graphs.state[KIND_OF[graphs.state] == BELIEF] - FIRST[BELIEF]
    true, unsure = 4 * 1 + 1, 4 * 1 + 0
    assert beliefs.tolist() == [true, true, true, unsure]  # a: open, tail; b: open, tail
    assert (KIND_OF[graphs.state] == ROW).sum() == 3  # a has one in each world, b the same in both
    space = StateSpace(deluded())
    end = space.successor(space.successor(0, 0), 1)
    graphs = graphs_of(space.task, [end], space)
    assert 4 * 1 + 3 in (graphs.state - FIRST[BELIEF])[KIND_OF[graphs.state] == BELIEF].tolist()


def test_arguments_and_facts_are_edges() -> None:
    """Every fluent that is a node has an edge to each of its arguments, and so has every static fact."""
    task = load_problem("consecutive_numbers")
    assert task.structure is not None
    assert task.structure.facts
    graphs = graphs_of(task, [0])
    check_sound(graphs)
    kinds = KIND_OF[graphs.state]
    source, target = graphs.edges[:, graphs.relation < RELATIONS // 2]
    to_object = kinds[target] == OBJECT
    tables = FeatureTypes(task).tables
    facts = np.flatnonzero(kinds == FACT)
    counts = np.bincount(source[to_object], minlength=len(kinds))
    assert counts[facts].tolist() == np.diff(tables.fact_edges[0]).tolist()
    assert (counts[kinds == FLUENT] > 0).all()
    first = facts[0]
    assert target[to_object & (source == first)].tolist() == tables.fact_edges[1][: counts[first]].tolist()


def test_types_are_colours_modulo_the_number_of_ids() -> None:
    task = coin()
    types, encoding = FeatureTypes(task), Relational()
    graphs = graphs_of(task, [0])
    tables, (_, _, tail, _, _, fluent, belief, *_) = types.tables, graphs.types.tolist()

    def ids(*colours: np.uint64) -> list[int]:
        return [1 + int(colour) % encoding.type_ids for colour in colours]

    assert tail == ids(tables.goal_fine[0], tables.goal_coarse[0])
    assert fluent == ids(tables.fluent_fine[1], tables.fluent_coarse[1])
    assert belief == ids(tables.belief_fine[0, 1], tables.belief_coarse[0, 1])
    assert graphs.types[0].tolist() == [*ids(tables.objects[0]), 0]
    kinds = KIND_OF[graphs.state]
    assert not graphs.types[(kinds == WORLD) | (kinds == ROW)].any()
    known = type_ids_of([types], encoding)
    assert known == sorted(set(known))
    assert set(graphs.types[graphs.types > 0].tolist()) <= set(known) <= set(ids(*map(np.uint64, types.definitions)))


def test_worlds_beyond_the_limit_are_left_out() -> None:
    task = load_problem("active_muddy_child/amc_09_05_muddy")
    space = StateSpace(task)
    assert space.world_counts([0])[0] > MAX_WORLDS
    graphs = graphs_of(task, [0, 0], space)
    check_sound(graphs)
    kinds = KIND_OF[graphs.state]
    assert np.bincount(graphs.graph[kinds == WORLD]).tolist() == [MAX_WORLDS] * 2
    assert (graphs.state[kinds == WORLD] == FIRST[WORLD] + 1).sum() == 2 * len(space.model(0).state.designated)
