"""Consecutive Numbers: how many doubts it takes, which problems have no plan, and what is drawn."""

from __future__ import annotations

import pytest

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

WRONG: Wrong = [
    ({"agents": 9}, "agents must be a whole number from 2 to 8, got 9"),
    ({"agents": 4, "highest": 4}, "highest must be a whole number from 5 to 40, got 4"),
    ({"zero": "d"}, "unknown agent in zero 'd': expected one of 'a', 'b', 'c'"),
    ({"run": 4}, "run must be a whole number from 2 to 3, got 4"),
    ({"numbers": [3]}, "numbers must map agents to numbers, got [3]"),
    ({"numbers": {"d": 3}}, "unknown agent in numbers 'd': expected one of 'a', 'b', 'c'"),
    ({"numbers": {"a": 7}}, "the number of a in numbers must be a whole number from 0 to 6, got 7"),
    ({"numbers": {"a": 4}}, "numbers gives a a number that only b may hold: 4"),
    ({"numbers": {"a": 0, "b": 4}}, "numbers leaves no 3 agents with consecutive numbers: {'a': 0, 'b': 4}"),
    ({"learn": {}}, "learn must map agents to numbers, got {}"),
    ({"learn": {"b": -1}}, "the number of b in learn must be a whole number from 0 to 6, got -1"),
    ({"seed": 1.5}, "seed must be a whole number from 0 to 4294967295, got 1.5"),
    ({"goals": 7}, "goals must be one formula or a list of them, got 7"),
]


def test_wrong_parameters_are_told() -> None:
    assert_told("consecutive_numbers", WRONG)


@pytest.mark.parametrize(("agents", "highest"), [(2, 3), (2, 7), (3, 6), (5, 9)])
def test_there_is_a_world_for_every_lowest_number(agents: int, highest: int) -> None:
    task = read("consecutive_numbers", agents=agents, highest=highest)
    assert len(task.initial.valuations) == highest + 2 - agents


@pytest.mark.parametrize("highest", [3, 6])
def test_two_agents_exclude_all_numbers_but_the_neighbours(highest: int) -> None:
    for number in range(1, highest):
        zero = "ba"[number % 2]
        plan = shortest_plan("consecutive_numbers", agents=2, highest=highest, zero=zero, numbers={"b": number})
        assert plan is not None
        assert len(plan) == highest - 2


def test_plan_goes_from_the_ends_inwards() -> None:
    task = read("consecutive_numbers/cn_2_05")
    plan = ["doubt_b_a_n1", "doubt_a_b_n2", "doubt_b_a_n3"]
    assert holds_after(task, plan)
    assert not holds_after(task, plan[:2])


@pytest.mark.parametrize(("instance", "length"), [("cn_2_15", 8), ("cn_3_10", 4), ("cn_3_05", None), ("cn_4_10", None)])
def test_some_published_problems_have_no_plan(instance: str, length: int | None) -> None:
    plan = shortest_plan(f"consecutive_numbers/{instance}")
    assert (None if plan is None else len(plan)) == length


def test_the_highest_number_must_not_be_held() -> None:
    for agents, highest in ((3, 5), (4, 6)):
        held = {name: number for number in range(highest + 1 - agents, highest + 1) for name in "abcd"[number % agents]}
        assert shortest_plan("consecutive_numbers", agents=agents, highest=highest, numbers=held) is None
        assert shortest_plan("consecutive_numbers", agents=agents, highest=highest + 1, numbers=held)


@pytest.mark.parametrize(("agents", "highest"), [(2, 3), (2, 8), (3, 4), (3, 7), (4, 7), (5, 9)])
def test_drawn_problems_have_plans(agents: int, highest: int) -> None:
    assert_seeds_draw("consecutive_numbers", range(4), agents=agents, highest=2 * agents + 5)
    assert_solvable("consecutive_numbers", range(4), agents=agents, highest=highest)


def test_vocabulary_is_one_subgoal_each() -> None:
    for agents, highest in ((2, 3), (3, 7)):
        assert_vocabulary("consecutive_numbers", agents=agents, highest=highest)
    assert_vocabulary("consecutive_numbers/cn_3_10")
