"""The encoding `relational`: its graphs by hand, what they do not depend on, and its environments."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from random import Random
from typing import Any

import gymnasium
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from epigym import EState, LimitError, StateSpace, Task, _core, load_problem
from epigym.encoding.encoder import graph_instance
from epigym.encoding.relational import MAX_WORLDS, RELATIONS, Relational, RelationalEncoder, type_ids_of
from epigym.features.types import FeatureTypes
from epigym.space.rows import GraphBatch, join
from epigym.task.formula import Formula, believes, fluent
from tests.helpers import strategies
from tests.helpers.structures import add_structure, walk_by_other_names
from tests.helpers.tasks import coin
from tests.oracles.relational_graphs import Graph, split_goal, types_of

KNOWING = EState((frozenset({"p"}),), ((frozenset({0}),),), (0,))
BY_HAND = Task("by hand", ("p",), ("a",), (), KNOWING, (believes("a", fluent("p")),))
IDS = Relational().type_ids


def ids_of(*colours: np.uint64) -> list[int]:
    return [1 + int(colour) % IDS for colour in colours] + [0] * (2 - len(colours))


def test_a_graph_by_hand() -> None:
    """One agent that knows the one fluent, and nothing else: every node and every edge."""
    batch = RelationalEncoder(StateSpace(BY_HAND), Relational()).graphs([0])
    t = FeatureTypes(BY_HAND).tables
    assert batch.nodes.tolist() == [
        [0, 0, *ids_of(t.objects[0])],  # the agent
        [1, 2, *ids_of(t.goal_fine[0], t.goal_coarse[0])],  # p in the goal, which is so
        [1, 2, *ids_of(t.goal_fine[1], t.goal_coarse[1])],  # B(a, p) in the goal, which is so
        [3, 5, *ids_of(t.fluent_fine[0], t.fluent_coarse[0])],  # p, true in all designated worlds
        [4, 12, *ids_of(t.belief_fine[0, 0], t.belief_coarse[0, 0])],  # of that, what a believes: it is so
        [5, 20, 0, 0],  # the world, designated
        [6, 21, 0, 0],  # what a considers possible there
    ]
    who, child, about, holds, at, possible = range(8, 14)
    forth = {
        (2, 0, who), (2, 1, child), (1, 3, about), (4, 0, who), (4, 3, about), (5, 3, holds), (5, 1, holds),
        (5, 2, holds), (5, 6, at), (6, 5, possible), (6, 0, who),
    }  # fmt: skip
    back = {(target, source, relation + RELATIONS // 2) for source, target, relation in forth}
    edges = [(*ends, relation) for *ends, relation in zip(*batch.edge_index.tolist(), batch.edge_label, strict=True)]
    assert len(edges) == len(set(edges))
    assert set(edges) == forth | back
    assert (batch.node_ptr.tolist(), batch.edge_ptr.tolist()) == ([0, 7], [0, 22])


def assert_equal_graphs(encoder: RelationalEncoder, ids: Sequence[int], goal: Sequence[Formula] | None = None) -> None:
    """Graphs of the core are those of the oracle, one by one or together, and so is what is left without worlds."""
    space, encoding = encoder.space, encoder.encoding
    encoder = encoder if goal is None else encoder.under(goal)
    task = space.task if goal is None else replace(space.task, goal=tuple(goal))
    tables = FeatureTypes(task).tables
    found = encoder.graphs(ids)
    for index, state in enumerate(ids):
        assert split_goal(found, index) == Graph(task, tables, encoding, space.model(state).state).parts()
    assert split_goal(encoder.without_worlds(), 0) == Graph(task, tables, encoding, None).parts()
    for one, other in zip(found, join([encoder.graphs([state]) for state in ids]), strict=True):
        assert one.dtype == other.dtype
        assert np.array_equal(one, other)


@settings(max_examples=60)
@given(
    strategies.tasks() | strategies.tasks(agents=("c", "a", "b"), max_designated=4),
    strategies.formulas(),
    st.integers(0, 2**32 - 1),
)
def test_graphs_of_random_tasks_are_those_of_plain_python(task: Task, other: Formula, seed: int) -> None:
    for one in (task, add_structure(task, seed)):
        spaces, states = walk_by_other_names(one, seed)
        encoder = RelationalEncoder(spaces[0], Relational(types_per_node=2 + seed % 2, type_ids=1 + seed % 1000))
        assert_equal_graphs(encoder, states[0])
        assert_equal_graphs(encoder, states[0], [other])
        assert_equal_graphs(encoder, states[0], [])


@pytest.mark.parametrize(
    "problem",
    ["coin_in_the_box/pl_6", "grapevine/3_pl_4", "blocks_world", "consecutive_numbers", "search_and_rescue",
     pytest.param("active_muddy_child/amc_09_05_muddy", marks=pytest.mark.slow), "epistemic_gossip"],
)  # fmt: skip
def test_graphs_of_problems_are_those_of_plain_python(problem: str) -> None:
    space = StateSpace(load_problem(problem))
    ids = np.append(0, space.expand([0]).target)
    ids = np.append(ids, space.expand(ids[-1:]).target)[:40]
    encoder = RelationalEncoder(space, Relational())
    assert_equal_graphs(encoder, ids.tolist())
    assert_equal_graphs(encoder, ids.tolist(), space.task.goal[:1])


@pytest.mark.parametrize(("worlds", "designated"), [(60, 3), (64, 64), (90, 5), (90, 70)])
def test_worlds_that_are_nodes_are_those_of_plain_python(worlds: int, designated: int) -> None:
    """Any relations and several designated worlds, wherever these stand, on both sides of the limit."""
    names = tuple("pqrstuv"), ("a", "b")
    rng = Random(worlds + designated)
    for relations in ("any", "introspective"):
        estate = strategies.random_estate(rng, worlds, *names, relations=relations)
        estate = replace(estate, designated=tuple(sorted(rng.sample(range(worlds), designated))))
        goal = tuple(strategies.random_formula(rng, 3, *names) for _ in range(3))
        space = StateSpace(Task("many worlds", *names, (), estate, goal))
        assert_equal_graphs(RelationalEncoder(space, Relational()), [0, 0])


def test_tables_that_do_not_fit_are_refused() -> None:
    space = StateSpace(coin())
    tables = FeatureTypes(space.task).tables
    types = types_of(tables, 10)
    _core.RelationalGraphs(space.core, tables.pack(space), types)
    for wrong in (types[:-1], np.concatenate([types, types]), np.where(types == 0, -1, types)):
        with pytest.raises(ValueError, match="types of nodes do not fit"):
            _core.RelationalGraphs(space.core, tables.pack(space), wrong)
    ptr, objects, places = tables.goal_edges
    wrong_tables = replace(tables, goal_edges=(ptr, objects + 99, places))
    with pytest.raises(ValueError, match="edges of subformulas of the goal do not fit"):
        _core.RelationalGraphs(space.core, wrong_tables.pack(space), types)
    task = load_problem("grapevine/3_pl_4")
    space, tables = StateSpace(task), FeatureTypes(task).tables
    ptr, objects, places = tables.fluent_edges
    wrong_tables = replace(tables, fluent_edges=(ptr, objects, places - 1))
    with pytest.raises(ValueError, match="places of arguments do not fit"):
        _core.RelationalGraphs(space.core, wrong_tables.pack(space), types_of(tables, 10))


def test_ids_of_types() -> None:
    nodes = RelationalEncoder(StateSpace(BY_HAND), Relational()).graphs([0]).nodes
    assert nodes[:5, 2:].tolist() == [[29157, 0], [29195, 23763], [57228, 2497], [5438, 49275], [12844, 54200]]
    small, large = (
        RelationalEncoder(StateSpace(load_problem(f"coin_in_the_box/{name}")), Relational()).graphs([0]).nodes
        for name in ("pl_3", "pl_6")
    )
    shared = set(map(tuple, small.tolist())) & set(map(tuple, large.tolist()))
    assert {kind for kind, *_, last in shared if last} == {1, 3, 4}, "goals, fluents and beliefs of equal types"
    space = StateSpace(coin())
    two, three = (RelationalEncoder(space, Relational(types_per_node=columns)).graphs([0]).nodes for columns in (2, 3))
    assert (three[:, :4] == two).all()
    assert not three[:, 4].any()


def colours(batch: GraphBatch, index: int = 0) -> Counter[Any]:
    """A graph up to the order of its nodes and edges, by three rounds of colour refinement."""
    graph = graph_instance(batch, index)
    colour: list[Any] = [hash(tuple(row)) for row in graph.nodes.tolist()]
    for _ in range(3):
        heard: list[list[Any]] = [[] for _ in colour]
        for (source, target), relation in zip(graph.edge_links.tolist(), graph.edges.tolist(), strict=True):
            heard[target].append((relation, colour[source]))
        colour = [hash((own, tuple(sorted(others)))) for own, others in zip(colour, heard, strict=True)]
    return Counter(colour)


def assert_alike(task: Task, seed: int) -> None:
    """The same walk by other names meets the same graphs; where worlds are left out the order of fluents decides."""
    spaces, states = walk_by_other_names(task, seed)
    whole = spaces[0].world_counts(states[0]) <= MAX_WORLDS
    one, two = (RelationalEncoder(space, Relational()).graphs(own) for space, own in zip(spaces, states, strict=True))
    for index in np.flatnonzero(whole).tolist():
        assert colours(one, index) == colours(two, index)


@settings(max_examples=30)
@given(strategies.tasks() | strategies.tasks(agents=("c", "a", "b"), max_designated=4), st.integers(0, 2**32 - 1))
def test_names_and_orders_do_not_matter_in_random_tasks(task: Task, seed: int) -> None:
    assert_alike(task, seed)
    assert_alike(add_structure(task, seed), seed)


def test_ids_stay_in_their_range_and_are_known() -> None:
    space, encoding = StateSpace(coin()), Relational(type_ids=3)
    few = RelationalEncoder(space, encoding)
    assert set(few.graphs([0]).nodes[:, 2:].ravel().tolist()) == {0, 1, 2, 3}
    assert few.largest.tolist() == [6, 21, 3, 3]
    assert type_ids_of([FeatureTypes(space.task)], encoding) == [1, 2, 3]
    known = set(type_ids_of([FeatureTypes(space.task)], Relational()))
    assert set(RelationalEncoder(space, Relational()).graphs([0]).nodes[:, 2:].ravel().tolist()) - {0} <= known
    assert len(known) == len(np.unique(types_of(FeatureTypes(space.task).tables, IDS))) - 1


def test_settings_reach_environments_and_what_is_unknown_is_refused() -> None:
    choice = {"name": "relational", "types_per_node": 3, "type_ids": 50}
    env = gymnasium.make("epi/Grapevine-v0", encoding=choice)
    assert env.observation_space.node_space.high.tolist() == [6, 21, 50, 50, 50]
    assert env.observation_space.edge_space.n == RELATIONS
    assert env.reset(seed=0)[0] in env.observation_space
    with pytest.raises(LimitError, match="raise to types_per_node=2"):
        gymnasium.make("epi/Grapevine-v0", encoding=choice | {"types_per_node": 1})
