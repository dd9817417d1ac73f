"""The features agree, colour for colour, with the twin that is written from their definition."""

import random
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from epigym import StateSpace, Task, TaskError, load_problem
from epigym.features.counts import Edges, FeatureTables, Lists, RelationalFeatures, join, set_colour
from epigym.space.signature import mix
from epigym.task.formula import fluent
from tests.helpers import strategies
from tests.helpers.structures import walk_states
from tests.helpers.tasks import coin, delusion
from tests.oracles import features as twin


def assert_agreement(space: StateSpace, tables: FeatureTables, states: list[int], level: int, worlds: bool) -> None:
    """Compare e-states, and that each row is in order."""
    rows = RelationalFeatures(space, tables, level, worlds)(states)
    assert (rows.ptr.dtype, rows.colour.dtype, rows.value.dtype) == (np.int64, np.uint64, np.float32)
    assert (rows.ptr[0], rows.ptr[-1], len(rows.ptr)) == (0, len(rows.colour), len(states) + 1)
    for number, state in enumerate(states):
        part = slice(rows.ptr[number], rows.ptr[number + 1])
        expected = twin.features(space.task, tables, space.model(state).state, level, worlds)
        assert rows.colour[part].tolist() == sorted(expected)
        np.testing.assert_allclose(rows.value[part], [expected[key] for key in sorted(expected)], rtol=1.2e-7)


RANDOM = given(
    strategies.tasks() | strategies.tasks(agents=("c", "a", "b"), max_designated=4),
    st.integers(0, 2**32 - 1),
    st.sampled_from(twin.LEVELS),
)


@pytest.mark.slow
@settings(max_examples=200)
@RANDOM
def test_on_more_random_tasks(task: Task, seed: int, how: tuple[int, bool]) -> None:
    compare_on_walk(task, seed, how)


@settings(max_examples=100)
@RANDOM
def test_on_random_tasks(task: Task, seed: int, how: tuple[int, bool]) -> None:
    compare_on_walk(task, seed, how)


def compare_on_walk(task: Task, seed: int, how: tuple[int, bool]) -> None:
    space = StateSpace(task)
    assert_agreement(space, twin.random_tables(task, seed), walk_states(space, seed), *how)


@pytest.mark.parametrize("how", twin.LEVELS)
@pytest.mark.parametrize(
    "problem",
    [
        "coin_in_the_box/pl_6",
        "grapevine/3_pl_4",
        "collaboration_communication/2_2_3_pl_4",
        "assembly_line/b5_pl_5",
        "selective_communication/4_2_pl_5",
        "epistemic_gossip/scaling_01",
        "blocks_world",
        "active_muddy_child",
    ],
)
def test_on_problems_of_the_domains(problem: str, how: tuple[int, bool]) -> None:
    space = StateSpace(load_problem(problem))
    for seed in range(3):
        assert_agreement(space, twin.random_tables(space.task, seed), walk_states(space, seed), *how)


@pytest.mark.parametrize("how", twin.LEVELS)
def test_of_agents_that_believe_everything(how: tuple[int, bool]) -> None:
    space = StateSpace(delusion())
    told = space.successor(space.successor(0, 0), 1)
    assert any(not row for rows in space.model(told).state.successors for row in rows)
    assert_agreement(space, twin.random_tables(space.task, 0), [0, told], *how)


@pytest.mark.parametrize("how", twin.LEVELS)
@pytest.mark.parametrize("worlds", [40, 100, 200, 400, 700])
def test_on_models_of_every_size(worlds: int, how: tuple[int, bool]) -> None:
    rng = random.Random(worlds)
    names = tuple(f"f{k}" for k in range(10))
    goal = tuple(strategies.random_formula(rng, 3, names, "ab") for _ in range(3))
    estate = strategies.random_estate(rng, worlds, names, "ab")
    designated = tuple(sorted(rng.sample(range(worlds), 5)))
    for found in (estate, replace(estate, designated=designated)):
        space = StateSpace(Task("large", names, ("a", "b"), (), found, goal))
        assert_agreement(space, twin.random_tables(space.task, worlds), [0], *how)


def coin_tables() -> FeatureTables:
    """Of two agents, fluents and subformulas, which all speak of the last of three objects."""

    def some(*shape: int) -> NDArray[np.uint64]:
        return np.zeros(shape, dtype=np.uint64)

    edges = Edges(np.arange(3), np.full(2, 2, dtype=np.int32), some(2))
    return FeatureTables(
        agent_object=np.arange(2, dtype=np.int32),
        objects=some(3),
        fluent_fine=some(2),
        fluent_coarse=some(2),
        belief_fine=some(2, 2),
        belief_coarse=some(2, 2),
        goal=coin().goal,
        goal_fine=some(2),
        goal_coarse=some(2),
        fact_fine=some(0),
        relevant_fluent=np.ones(2, dtype=np.bool_),
        relevant_belief=np.ones((2, 2), dtype=np.bool_),
        fluent_edges=edges,
        goal_edges=edges,
        fact_edges=Edges(np.zeros(1, dtype=np.int64), np.zeros(0, np.int32), some(0)),
        goal_children=Lists(np.zeros(3, dtype=np.int64), np.zeros(0, dtype=np.int32)),
    )


def test_a_batch_is_its_e_states_one_by_one() -> None:
    space = StateSpace(load_problem("grapevine/3_pl_4"))
    targets = np.unique(space.expand([0]).target)
    features = RelationalFeatures(space, twin.random_tables(space.task, 0), 2, True)
    whole = features(targets)
    for number, state in enumerate(targets.tolist()):
        alone, part = features([state]), slice(whole.ptr[number], whole.ptr[number + 1])
        assert alone.colour.tolist() == whole.colour[part].tolist()
        assert alone.value.tolist() == whole.value[part].tolist()
    assert features([]).ptr.tolist() == [0]
    with pytest.raises(IndexError):
        features([0, len(space)])
    assert features(targets).value.tolist() == whole.value.tolist()


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"agent_object": np.array([0, 3], dtype=np.int32)}, "objects of agents"),
        ({"agent_object": np.array([0, -1], dtype=np.int32)}, "objects of agents"),
        ({"agent_object": np.array([0], dtype=np.int32)}, "objects of agents"),
        ({"objects": np.zeros(2, dtype=np.uint64)}, "edges of fluents"),
        ({"fluent_fine": np.zeros(1, dtype=np.uint64)}, "fluents"),
        ({"relevant_fluent": np.zeros(3, dtype=np.bool_)}, "fluents"),
        ({"belief_fine": np.zeros((1, 4), dtype=np.uint64)}, "agents and fluents"),
        ({"relevant_belief": np.zeros((2, 3), dtype=np.bool_)}, "agents and fluents"),
        ({"goal": (fluent("tail"),)}, "subformulas"),
        ({"goal_coarse": np.zeros(0, dtype=np.uint64)}, "subformulas"),
        ({"fact_fine": np.zeros(1, dtype=np.uint64)}, "edges of facts"),
        ({"fact_edges": (np.zeros(0, dtype=np.int64), np.zeros(0, np.int32), np.zeros(0, np.uint64))}, "of facts"),
        ({"goal_edges": (np.array([0, 1, 2]), np.array([0, 1], np.int32), np.zeros(1, np.uint64))}, "edges of sub"),
        ({"goal_edges": (np.array([0, 2, 1]), np.array([0], np.int32), np.zeros(1, np.uint64))}, "edges of sub"),
        ({"goal_edges": (np.array([1, 1, 2]), np.array([0, 0], np.int32), np.zeros(2, np.uint64))}, "edges of sub"),
        ({"fluent_edges": (np.array([0, 0, 1]), np.array([-1], np.int32), np.zeros(1, np.uint64))}, "of fluents"),
        ({"goal_children": (np.array([0, 0, 1]), np.array([2], np.int32))}, "children"),
        ({"goal_children": (np.array([0, 0, 1]), np.array([-1], np.int32))}, "children"),
        ({"goal_children": (np.array([0, 0]), np.zeros(0, np.int32))}, "children"),
    ],
)
def test_tables_that_do_not_fit_are_refused(changes: dict[str, Any], reason: str) -> None:
    tables = replace(coin_tables(), **changes)
    with pytest.raises(ValueError, match=reason):
        RelationalFeatures(StateSpace(coin()), tables, 0, False)


def test_an_array_with_other_axes_is_named() -> None:
    tables = replace(coin_tables(), fluent_fine=np.zeros((2, 2), dtype=np.uint64))
    with pytest.raises(TypeError, match="array 'fluent_fine' has a wrong type or number of axes"):
        tables.pack(StateSpace(coin()))


def test_levels_and_colours() -> None:
    with pytest.raises(ValueError, match="levels"):
        RelationalFeatures(StateSpace(coin()), coin_tables(), 3, False)
    with pytest.raises(TaskError, match="head"):
        replace(coin_tables(), goal=(fluent("head"), fluent("tail"))).pack(StateSpace(coin()))
    golden = 0x9E3779B97F4A7C15
    assert (mix(0), mix(golden), mix(2 * golden % 2**64)) == (0, 0xE220A8397B1DCDAF, 0x6E789E6AA1B965F4)
    assert join(0, 0) == mix(0xE220A8397B1DCDAF)
    assert join(1, 2) != join(2, 1)
    assert (set_colour([]), set_colour([golden])) == (0, mix(golden))
    assert set_colour([3, 1, 2, 1]) == set_colour([1, 2, 3]) == (mix(1) + mix(2) + mix(3)) % 2**64
