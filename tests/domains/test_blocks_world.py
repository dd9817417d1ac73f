"""The Blocks World: what is drawn, what is refused, and plans that are known."""

from __future__ import annotations

import warnings
from typing import Any

import pytest

import domains
from domains import DomainError
from epigym.problem import domain_problem, vocabulary
from epigym.reference.semantics import validate
from epigym.space.space import StateSpace
from search.agents.breadth_first import BreadthFirst
from search.agents.result import SearchStatus

SEVERAL: dict[str, Any] = {"tier": "several", "blocks": 3}
CLUMSY: dict[str, Any] = {"tier": "clumsy", "blocks": 3}
SIZES: list[dict[str, Any]] = [
    {},
    {"blocks": 2},
    SEVERAL,
    {"tier": "several", "blocks": 6, "tables": 3, "agents": 4, "worlds": 3, "wanted": 2, "ignorant": "bc"},
    CLUMSY,
    {"tier": "clumsy", "blocks": 5, "agents": 4, "clumsy": 2, "onlookers": 1, "deceived": "d"},
]
WRONG: list[tuple[dict[str, Any], str]] = [
    ({"tier": "sngle"}, "unknown tier 'sngle': did you mean 'single'?"),
    ({"blocks": 1}, "blocks must be a whole number from 2 to 60, got 1"),
    ({**SEVERAL, "blocks": 2}, "blocks must be a whole number from 3 to 60, got 2"),
    ({**SEVERAL, "tables": 4}, "tables must be a whole number from 2 to 3, got 4"),
    ({**SEVERAL, "agents": 9}, "agents must be a whole number from 2 to 8, got 9"),
    ({**CLUMSY, "clumsy": 0}, "clumsy must be a whole number from 1 to 2, got 0"),
    ({**CLUMSY, "onlookers": 2}, "onlookers must be a whole number from 0 to 1, got 2"),
    ({**SEVERAL, "worlds": 7}, "worlds must be a whole number from 1 to 6, got 7"),
    ({"start": ["b1, b2, b3, b4"] * 2}, "start must give 1 to 1 arrangements, got " + repr(["b1, b2, b3, b4"] * 2)),
    ({"start": "b1 b2"}, "start must name each of b1, b2, b3, b4 once, got 'b1 b2'"),
    ({**SEVERAL, "start": "b1 b2 b3"}, "start must be towers on 2 tables, such as 'b1 | b2', got 'b1 b2 b3'"),
    ({**SEVERAL, "start": ["b1 | x", "b1 | b2"]}, "unknown block in start 'x': expected one of 'b1', 'b2', 'b3'"),
    ({**SEVERAL, "ignorant": "d"}, "unknown name in ignorant 'd': expected one of 'a', 'b', 'c'"),
    ({**SEVERAL, "places": ["1"]}, "places must list one text for each of 3 agents, got ['1']"),
    ({**SEVERAL, "places": "123"}, "unknown name in places '3': expected one of '1', '2'"),
    ({**SEVERAL, "focus": "abd"}, "unknown name in focus 'd': expected one of 'a', 'b', 'c'"),
    ({**SEVERAL, "movers": "x"}, "unknown name in movers 'x': expected one of 'a', 'b', 'c'"),
    ({**SEVERAL, "zones": ["b1 |"]}, "zones must list one text for each of 2 worlds, got ['b1 |']"),
    ({"target": "b1 b1"}, "target must name blocks, each of them once, got 'b1 b1'"),
    ({"target": ""}, "target must name blocks, each of them once, got ''"),
    (
        {**SEVERAL, "start": "b1 | b2 b3", "target": "b1 |"},
        "start and target leave nothing to do: change one of them, or give goals",
    ),
    ({**SEVERAL, "deceived": "a"}, "unknown name in deceived 'a': expected one of 'b', 'c'"),
    ({**CLUMSY, "deceived": "c"}, "unknown name in deceived 'c': expected one of 'b'"),
    ({**SEVERAL, "wanted": 4}, "wanted must be a whole number from 1 to 3, got 4"),
    ({"seed": -1}, "seed must be a whole number from 0 to 2147483647, got -1"),
]
PLANS = {
    "bw_05": (
        "unstack_b4_b2 put_down_b4 unstack_b2_b5 put_down_b2 pick_up_b1 "
        "stack_b1_b2 pick_up_b4 stack_b4_b1 pick_up_b5 stack_b5_b4 pick_up_b3 "
        "stack_b3_b5"
    ),
    "bw_3_03_2": (
        "focus_b_a focus_c_c tell_block_a_c_b2_b1 unstack_a_b2_b1 put_down_a_b2_t1 pick_up_a_b1_t1 stack_a_b1_b2 "
        "pick_up_a_b3_t1 give_a_b_b3 focus_b_b put_down_b_b3_t2"
    ),
    "bw_3_04_2": "",
    "bw_4_05_2": "focus_d_a unstack_a_b3_b1 stack_a_b3_b4",
    "bw_3_3_2_clumsy": ("focus_b_a pick_up_a_b3_t1 give_a_c_b3 focus_a_c focus_b_c focus_c_c clumsy_stack_c_b3_b2_t2"),
}
"""Shortest plans of published problems, found by a published planner's breadth-first search."""


@pytest.mark.parametrize(("parameters", "message"), WRONG)
def test_range_error(parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(DomainError) as caught:
        domains.text("blocks_world", **parameters)
    assert str(caught.value) == message


@pytest.mark.parametrize("parameters", SIZES, ids=str)
def test_the_seed_decides_what_is_drawn(parameters: dict[str, Any]) -> None:
    texts = [domains.text("blocks_world", **parameters, seed=seed) for seed in range(8)]
    assert texts == [domains.text("blocks_world", **parameters, seed=seed) for seed in range(8)]
    assert len(set(texts)) > 4


@pytest.mark.parametrize("parameters", SIZES, ids=str)
def test_problems_and_vocabularies_are_read_without_a_warning(parameters: dict[str, Any]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        task = domain_problem("blocks_world", **parameters)
        texts, formulas = vocabulary("blocks_world", **parameters)
    assert not StateSpace(task).is_goal([0])[0]
    assert all(name.isidentifier() for name in task.fluents)
    assert len(set(texts)) == len(set(formulas)) == len(texts)
    depths = {2} if parameters.get("tier") else {0}
    assert max(text.count("[") for text in texts) in depths


@pytest.mark.parametrize(
    "parameters",
    [
        *({"seed": seed} for seed in range(4)),
        *({**SEVERAL, "agents": 2, "worlds": 3, "wanted": 2, "seed": seed} for seed in range(4)),
        {**SEVERAL, "deceived": "c", "ignorant": "bc", "seed": 3},
        *({**CLUMSY, "agents": 2, "seed": seed} for seed in range(3)),
        {**CLUMSY, "deceived": "b", "seed": 0},
    ],
    ids=str,
)
def test_drawn_goals_can_be_reached_and_do_not_hold_at_first(parameters: dict[str, Any]) -> None:
    space = StateSpace(domain_problem("blocks_world", **parameters))
    assert not space.is_goal([0])[0]
    result = BreadthFirst().search(space)
    assert result.status is SearchStatus.SOLVED
    assert validate(space.task, result.plan or ()).valid


@pytest.mark.parametrize("name", PLANS)
def test_a_published_plan_works(name: str) -> None:
    assert validate(domain_problem(f"blocks_world/{name}"), PLANS[name].split()).valid


@pytest.mark.parametrize("name", ["bw_05", "bw_4_05_2"])
def test_no_plan_is_shorter_than_the_published_one(name: str) -> None:
    plan = BreadthFirst().search(StateSpace(domain_problem(f"blocks_world/{name}"))).plan
    assert plan is not None
    assert len(plan) == len(PLANS[name].split())


def test_a_start_and_a_target_are_what_they_say() -> None:
    task = domain_problem("blocks_world", blocks=3, start="b1 b3, b2", target="b2 b3")
    assert set(task.initial.valuations[0]) == {
        "on_table_b1",
        "on_b3_b1",
        "on_table_b2",
        "clear_b3",
        "clear_b2",
        "arm_empty",
    }
    assert {str(goal) for goal in task.goal} == {"on_table_b2", "on_b3_b2"}


def test_who_is_not_deceived_learns_of_the_new_place() -> None:
    parameters = {**SEVERAL, "start": "b1 b2 | b3", "target": "| b3 b2", "wanted": 3}
    for deceived, goal in (
        ("", {"C([a,b,c], on_b2_b3)"}),
        ("b", {"on_b2_b3", "B(b, on_b2_b1)", "B(c, on_b2_b3)"}),
        ("bc", {"on_b2_b3", "B(b, on_b2_b1)", "B(c, on_b2_b1)"}),
    ):
        task = domain_problem("blocks_world", **parameters, deceived=deceived)
        assert {str(subgoal) for subgoal in task.goal} == goal
    task = domain_problem("blocks_world", **parameters, deceived="c", ignorant="c")
    assert {str(subgoal) for subgoal in task.goal} == {"on_b2_b3", "B(b, on_b2_b3)", "-B(c, on_b2_b3)"}


def test_a_clumsy_agent_may_drop_the_block_on_the_table_of_the_tower() -> None:
    task = domain_problem("blocks_world", **CLUMSY, start="b1 b2 | b3", target="| b3 b2", deceived="b")
    assert [str(subgoal) for subgoal in task.goal] == [
        "(on_b2_b3 | on_table_b2_t2)",
        "B(b, on_b2_b1)",
        "B(c, (on_b2_b3 | on_table_b2_t2))",
    ]


def test_zones_take_the_place_of_movers() -> None:
    start = ["b1 b2 | b3", "b1 | b3 b2"]
    task = domain_problem("blocks_world", **SEVERAL, start=start, zones=start)
    able = [{fluent for fluent in valuation if fluent.startswith("can_move")} for valuation in task.initial.valuations]
    assert able == [
        {"can_move_a_b1", "can_move_a_b2", "can_move_b_b3", "can_move_c_b1", "can_move_c_b2"},
        {"can_move_a_b1", "can_move_b_b3", "can_move_b_b2", "can_move_c_b1"},
    ]


def test_every_actor_is_an_agent_and_a_single_robot_is_not_named() -> None:
    actors = domains.DOMAINS["blocks_world"].actors
    single = domain_problem("blocks_world", tier="single").structure
    assert single is not None
    assert set(single.actors) == {None}
    for tier, count in (("several", 7), ("clumsy", 7)):
        task = domain_problem("blocks_world", tier=tier)
        used = {schema: action for schema in actors for action in task.actions if action.name.startswith(f"{schema}_")}
        assert len(used) == count
        for schema, action in used.items():
            assert action.name.removeprefix(f"{schema}_").split("_")[actors[schema]] in task.agents
