"""Search and Rescue: plans that are known, what a report does, and what is drawn."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from epigym.envs.domain_env import DomainEnv
from epigym.reference.semantics import validate
from tests.helpers.drawn import (
    Wrong,
    assert_seeds_draw,
    assert_solvable,
    assert_told,
    assert_vocabulary,
    holds_after,
    read,
    shortest_plan,
)
from tests.helpers.episodes import check_episodes, find_strong

TWO: dict[str, Any] = {"locations": 2, "starts": ["l1", "l1", "l1"], "victim": "l2"}
WRONG: Wrong = [
    ({"locations": 1}, "locations must be a whole number from 2 to 12, got 1"),
    ({"shape": "rings"}, "unknown shape 'rings': did you mean 'ring'?"),
    ({"drones": 0}, "drones must be a whole number from 1 to 4, got 0"),
    ({"firefighters": 5}, "firefighters must be a whole number from 1 to 4, got 5"),
    ({"ambulances": "1"}, "ambulances must be a whole number from 1 to 4, got '1'"),
    ({"starts": ["l1"]}, "starts must list one of l1, l2, l3 for each of d1, f1, a1, got ['l1']"),
    ({"victim": "l0"}, "unknown location in victim 'l0': expected one of 'l1', 'l2', 'l3'"),
    ({"fires": ["l4"]}, "unknown name in fires 'l4': expected one of 'l1', 'l2', 'l3'"),
    (
        {"locations": 7, "fires": [f"l{number}" for number in range(1, 8)]},
        "number of fires must be a whole number from 0 to 6, got 7",
    ),
    ({"noticed": 0}, "noticed must be True or False, got 0"),
    ({"unknown": "l1"}, "unknown must be True or False, got 'l1'"),
    (
        {"unknown": True, "victim": "l1"},
        "victim cannot be given where its location is unknown: leave it out",
    ),
    ({"goal": "safe"}, "unknown goal 'safe': expected one of 'find', 'rescue'"),
    ({"seed": None}, "seed must be a whole number from 0 to 4294967295, got None"),
    ({"goals": [""]}, "goals must be one formula or a list of them, got ['']"),
]


def test_wrong_parameters_are_told() -> None:
    assert_told("search_and_rescue", WRONG)


@pytest.mark.parametrize(
    ("instance", "length"), [("sar_01_n1_nofire", 5), ("sar_02_n2_nofire", 7), ("sar_03_n1_fire", 7)]
)
def test_published_plans_have_the_known_lengths(instance: str, length: int) -> None:
    plan = shortest_plan(f"search_and_rescue/{instance}")
    assert plan is not None
    assert len(plan) == length


def test_published_plan() -> None:
    task = read("search_and_rescue/sar_01_n1_nofire")
    plan = ["move_d1_l1_l2", "move_a1_l1_l2", "look_for_victim_d1_l2", "report_victim_d1_l2", "rescue_a1_l2"]
    assert holds_after(task, plan)
    assert not holds_after(task, plan[:4])


@pytest.mark.parametrize(("noticed", "collapsed"), [(True, ()), (False, ("f1", "a1"))])
def test_a_report_is_incredible_when_nobody_noticed_the_search(noticed: bool, collapsed: tuple[str, ...]) -> None:
    task = read("search_and_rescue", **TWO, fires=[], noticed=noticed, goal="find")
    plan = ["move_d1_l1_l2", "look_for_victim_d1_l2", "report_victim_d1_l2"]
    found = validate(task, plan)
    assert found.valid
    assert found.collapsed == collapsed


def test_a_known_fire_is_looked_for_reported_and_put_out() -> None:
    plan = shortest_plan("search_and_rescue", **TWO, fires=["l2"])
    assert plan is not None
    assert len(plan) == 9
    fire = ["look_for_fire_d1_l2", "report_fire_d1_l2", "extinguish_f1_l2"]
    assert [step for step in plan if step in fire] == fire
    assert plan[-1] == "rescue_a1_l2"


@pytest.mark.parametrize(("shape", "steps"), [("line", 3), ("ring", 1), ("star", 1)])
def test_shapes_make_ways_shorter(shape: str, steps: int) -> None:
    goals = ["(at d1 l4)"]
    plan = shortest_plan("search_and_rescue", locations=4, shape=shape, starts=["l1"] * 3, goals=goals)
    assert plan is not None
    assert len(plan) == steps


def test_worlds_are_where_the_victim_may_be_and_what_may_burn() -> None:
    for locations, fires in ((2, []), (4, ["l2"]), (5, ["l1", "l4"])):
        task = read("search_and_rescue", locations=locations, fires=fires)
        assert len(task.initial.valuations) == (locations + 1) * 2 ** len(fires)


@pytest.mark.parametrize(
    "parameters",
    [{}, {"goal": "find", "drones": 2}, {"locations": 4, "shape": "star", "goal": "find"}, {"noticed": False}],
    ids=str,
)
def test_drawn_problems_have_plans(parameters: dict[str, Any]) -> None:
    assert_seeds_draw("search_and_rescue", range(4), **parameters)
    assert_solvable("search_and_rescue", range(4), **parameters)


def test_vocabulary_is_one_subgoal_each() -> None:
    assert_vocabulary("search_and_rescue", locations=2)
    assert_vocabulary("search_and_rescue", locations=3, drones=2, ambulances=2)
    assert_vocabulary("search_and_rescue/sar_06_n2_fire")


UNKNOWN: list[dict[str, Any]] = [
    {"locations": 2},
    {"fires": []},
    {"shape": "star", "fires": ["l2"]},
    {"goal": "find", "starts": ["l1", "l2", "l3"]},
    {"locations": 4, "shape": "ring", "drones": 2, "goal": "find"},
]


@pytest.mark.parametrize("parameters", UNKNOWN, ids=str)
def test_a_policy_rescues_a_victim_that_may_be_anywhere(parameters: dict[str, Any]) -> None:
    task = read("search_and_rescue", unknown=True, **parameters)
    assert len(task.initial.designated) == parameters.get("locations", 3)
    policy = find_strong(task)
    assert policy.leaves > 1
    assert {"sees_victim", "sees_nobody"} <= check_episodes(policy, 20)


def test_no_plan_rescues_a_victim_that_may_be_anywhere() -> None:
    assert shortest_plan("search_and_rescue", unknown=True, locations=2) is None


def test_policies_reach_random_goals() -> None:
    env = DomainEnv("search_and_rescue", locations=2, unknown=True, nature="sampled", random_goals=True)
    for seed in range(5):
        env.reset(seed=seed)
        policy = find_strong(env)
        while not env.is_goal():
            env.step(np.int64(env.action_names.index(policy.act(env.model()))))
        assert policy.depth
