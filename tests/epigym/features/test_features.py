"""The features agree, colour for colour, with the twin that is written from their definition."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from epigym.errors import TaskError
from epigym.features.counts import FeatureRows, FeatureTables, RelationalFeatures, join, mix, set_colour
from epigym.problem import domain_problem, load_problem
from epigym.space.sampling import random_walk
from epigym.space.space import StateSpace
from epigym.task.formula import fluent
from epigym.task.task import EState, Task
from tests.helpers import strategies
from tests.helpers.tasks import coin, deluded
from tests.oracles import features as twin


def agree(space: StateSpace, tables: FeatureTables, states: list[int], level: int, worlds: bool) -> FeatureRows:
    """Compare e-states, and that each row is in order."""
    rows = RelationalFeatures(space, tables, level, worlds)(states)
    assert (rows.ptr.dtype, rows.colour.dtype, rows.value.dtype) == (np.int64, np.uint64, np.float32)
    assert rows.ptr[0] == 0
    assert len(rows.ptr) == len(states) + 1
    assert rows.ptr[-1] == len(rows.colour) == len(rows.value)
    for number, state in enumerate(states):
        part = slice(rows.ptr[number], rows.ptr[number + 1])
        expected = twin.features(space.task, tables, space.model(state).state, level, worlds)
        assert rows.colour[part].tolist() == sorted(expected)
        np.testing.assert_allclose(rows.value[part], [expected[key] for key in sorted(expected)], rtol=1.2e-7)
    return rows


def walked(space: StateSpace, seed: int, steps: int = 4) -> list[int]:
    try:
        return random_walk(space, np.random.default_rng(seed), steps=steps)[0]
    except TaskError:  # designated worlds disagree
        return [0]


@settings(max_examples=200)
@given(
    strategies.tasks() | strategies.tasks(agents=("c", "a", "b"), max_designated=4),
    st.integers(0, 2**32 - 1),
    st.sampled_from(twin.LEVELS),
)
def test_on_random_tasks(task: Task, seed: int, how: tuple[int, bool]) -> None:
    space = StateSpace(task)
    agree(space, twin.random_tables(task, seed), walked(space, seed), *how)


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
        agree(space, twin.random_tables(space.task, seed), walked(space, seed), *how)


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
        agree(space, twin.random_tables(space.task, worlds), [0], *how)


@pytest.mark.parametrize("children", [7, 8, 10])
@pytest.mark.parametrize("how", [(2, False), (0, True), (2, True)])
def test_on_many_worlds(children: int, how: tuple[int, bool]) -> None:
    space = StateSpace(domain_problem("active_muddy_child", children=children))
    assert space.world_counts([0]) > 2 ** (children - 1) - 2
    agree(space, twin.random_tables(space.task, children), [0], *how)


def test_of_agents_that_believe_everything() -> None:
    space = StateSpace(deluded())
    told = space.successor(space.successor(0, 0), 1)
    assert any(not row for rows in space.model(told).state.successors for row in rows)
    tables = distinct_tables(space.task)
    rows = agree(space, tables, [0, told], 0, False)
    [agent, about] = space.task.agents.index("b"), space.task.fluents.index("other")
    found = set(rows.colour[rows.ptr[1] :].tolist())
    assert join(int(tables.belief_fine[agent, about]), 4 * 1 + 3) in found
    for how in twin.LEVELS:
        agree(space, tables, [0, told], *how)


def test_of_atoms_that_the_goal_does_not_speak_of() -> None:
    """Of a fluent that is nowhere true, and nobody thinks so, nothing is refined unless it is relevant."""
    everywhere = (frozenset({0}),)
    task = Task("t", ("p",), ("a",), (), EState((frozenset(),), (everywhere,), (0,)), (fluent("p"),))
    tables = replace(
        distinct_tables(task), relevant_fluent=np.array([False]), relevant_belief=np.zeros((1, 1), dtype=np.bool_)
    )
    space = StateSpace(task)
    # Both types of three atoms; then the subformula and two objects.
    assert len(agree(space, tables, [0], 0, False).colour) == 6
    assert len(agree(space, tables, [0], 1, False).colour) == 6 + 3
    relevant = replace(tables, relevant_belief=np.ones((1, 1), dtype=np.bool_))
    assert len(agree(space, relevant, [0], 1, False).colour) == 6 + 4


def distinct_tables(task: Task) -> FeatureTables:
    """Every type is there once, and every part speaks of the last object."""
    agents, fluents, goals = len(task.agents), len(task.fluents), len(task.goal)
    numbers = iter(range(1, 10**6))

    def fresh(*shape: int) -> NDArray[np.uint64]:
        return np.array([next(numbers) for _ in range(int(np.prod(shape)))], dtype=np.uint64).reshape(shape)

    def one_each(rows: int) -> twin.Edges:
        return np.arange(rows + 1), np.full(rows, agents, dtype=np.int32), fresh(rows)

    return FeatureTables(
        agent_object=np.arange(agents, dtype=np.int32),
        objects=fresh(agents + 1),
        fluent_fine=fresh(fluents),
        fluent_coarse=fresh(fluents),
        belief_fine=fresh(agents, fluents),
        belief_coarse=fresh(agents, fluents),
        goal=task.goal,
        goal_fine=fresh(goals),
        goal_coarse=fresh(goals),
        fact_fine=fresh(0),
        relevant_fluent=np.ones(fluents, dtype=np.bool_),
        relevant_belief=np.ones((agents, fluents), dtype=np.bool_),
        fluent_edges=one_each(fluents),
        goal_edges=one_each(goals),
        fact_edges=one_each(0),
        goal_children=(np.zeros(goals + 1, dtype=np.int64), np.zeros(0, dtype=np.int32)),
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


def test_equal_colours_of_different_atoms_are_added_up() -> None:
    space = StateSpace(coin())
    tables = distinct_tables(space.task)
    same = {name: np.full_like(getattr(tables, name), 7) for name in FIELDS}
    rows = agree(space, replace(tables, **same), [0], 0, False)
    atoms = len(space.task.fluents) * (1 + len(space.task.agents)) + len(space.task.goal)
    assert rows.value.sum() == 2 * atoms
    assert len(rows.colour) < 8


FIELDS = ("fluent_fine", "fluent_coarse", "belief_fine", "belief_coarse", "goal_fine", "goal_coarse")


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
    space = StateSpace(coin())
    tables = replace(distinct_tables(space.task), **changes)
    with pytest.raises(ValueError, match=reason):
        RelationalFeatures(space, tables, 0, False)


def test_other_levels_are_refused() -> None:
    space = StateSpace(coin())
    with pytest.raises(ValueError, match="levels"):
        RelationalFeatures(space, distinct_tables(space.task), 3, False)


def test_a_goal_about_something_else_is_refused() -> None:
    space = StateSpace(coin())
    tables = replace(distinct_tables(space.task), goal=(fluent("head"), fluent("tail")))
    with pytest.raises(TaskError, match="head"):
        RelationalFeatures(space, tables, 0, False)


def test_colours_that_never_change() -> None:
    """The first two numbers that splitmix64 makes of the seed 0 are published."""
    golden = 0x9E3779B97F4A7C15
    assert mix(0) == 0
    assert mix(golden) == 0xE220A8397B1DCDAF
    assert mix(2 * golden % 2**64) == 0x6E789E6AA1B965F4
    assert join(0, 0) == mix(0xE220A8397B1DCDAF)
    assert join(1, 2) != join(2, 1)
    assert set_colour([]) == 0
    assert set_colour([golden]) == mix(golden)
    assert set_colour([3, 1, 2, 1]) == set_colour([1, 2, 3]) == (mix(1) + mix(2) + mix(3)) % 2**64


@given(st.integers(0, 2**64 - 1), st.integers(0, 2**64 - 1))
def test_colours_of_pairs_and_sets(one: int, other: int) -> None:
    assert (mix(one), join(one, other)) == (twin.mix(one), twin.join(one, other))
    assert set_colour([one, other, one]) == twin.set_of({one, other})
