"""Room Messages: plans that are known, who hears whom, and what is drawn."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from epigym.errors import TaskError
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
from tests.helpers.epddl_files import Case, competition_cases
from tests.helpers.equivalence import assert_same_task

ODD = ("sc-03-04", "sc-04-05")
WRONG: Wrong = [
    ({"agents": 13}, "agents must be a whole number from 2 to 12, got 13"),
    ({"rooms": 1}, "rooms must be a whole number from 2 to 20, got 1"),
    ({"places": [1, 2, 5]}, "places must list one of 1, 2, 3, 4 for each of a, b, c, got [1, 2, 5]"),
    ({"places": 2}, "places must list one of 1, 2, 3, 4 for each of a, b, c, got 2"),
    ({"both_ways": None}, "both_ways must be True or False, got None"),
    ({"misjudged": 1}, "misjudged must be True or False, got 1"),
    ({"informed": "d"}, "unknown name in informed 'd': expected one of 'a', 'b', 'c'"),
    ({"informed": ""}, "informed needs at least 1 of a, b, c, got 0"),
    ({"informed": "ab", "excluded": "b"}, "unknown name in informed 'b': expected one of 'a', 'c'"),
    ({"excluded": "abc"}, "number of excluded agents must be a whole number from 0 to 2, got 3"),
    ({"depth": 5}, "depth must be a whole number from 1 to 4, got 5"),
    ({"seed": 0.5}, "seed must be a whole number from 0 to 4294967295, got 0.5"),
    ({"goals": 3}, "goals must be one formula or a list of them, got 3"),
]


def test_wrong_parameters_are_told() -> None:
    assert_told("room_messages", WRONG)


@pytest.mark.reference
@pytest.mark.parametrize(
    "case", [case for case in competition_cases() if case.problem.stem in ODD], ids=lambda case: case.name
)
def test_odd_problems_are_as_published_but_for_a_relation(case: Case) -> None:
    theirs = case.ground().task
    first, second, *others = theirs.initial.successors
    assert second == (frozenset(), frozenset())
    mended = replace(theirs, initial=replace(theirs.initial, successors=(first, first, *others)))
    ours = read(f"room_messages/{case.problem.stem.replace('-', '_')}")
    assert_same_task(ours, mended, most_expanded=100, seconds=0.5)


@pytest.mark.parametrize("agents", [3, 4])
def test_published_plan_is_that_everybody_reads(agents: int) -> None:
    task = read(f"room_messages/sc_{agents:02}_{agents + 1:02}")
    plan = [f"read_{name}" for name in "abcd"[:agents]]
    assert holds_after(task, plan)
    assert not holds_after(task, plan[1:])
    assert len(shortest_plan(task.name) or ()) == agents


@pytest.mark.parametrize(("misjudged", "reach"), [(False, 1), (True, 3)])
def test_how_far_a_message_is_heard(misjudged: bool, reach: int) -> None:
    # Both are together when the one reads, so that the other knows of it; then it walks away to the right.
    for steps in range(6):
        goals = ["([b] (message))", f"(at b r{steps + 1})"]
        task = read("room_messages", agents=2, rooms=6, places=[1, 1], misjudged=misjudged, goals=goals)
        assert holds_after(task, ["read_a", *["right_b"] * steps, "tell_a"]) == (steps <= reach)


def test_nobody_tells_those_who_do_not_know_that_it_knows() -> None:
    task = read("room_messages", agents=2, rooms=4, places=[1, 2])
    with pytest.raises(TaskError, match="'tell_a' is not applicable"):
        holds_after(task, ["read_a", "tell_a"])


def test_closeness_may_count_one_way_at_the_start() -> None:
    for both_ways in (False, True):
        task = read("room_messages", agents=2, places=[2, 1], both_ways=both_ways)
        assert all("close_a_b" in valuation for valuation in task.initial.valuations)
        assert all(("close_b_a" in valuation) == both_ways for valuation in task.initial.valuations)


def test_goals_name_the_informed_in_a_ring_and_the_excluded() -> None:
    task = read("room_messages", agents=4, informed="acd", excluded="b", depth=2)
    assert list(map(str, task.goal)) == [
        "B(a, B(c, message))",
        "B(c, B(d, message))",
        "B(d, B(a, message))",
        "-B(b, message)",
    ]


def test_the_rightmost_room_has_nothing_to_read() -> None:
    assert shortest_plan("room_messages", agents=2, rooms=2, places=[2, 2], informed="a") == ["left_a", "read_a"]


@pytest.mark.parametrize(
    "parameters", [{}, {"rooms": 3, "excluded": "b"}, {"rooms": 2, "depth": 3}, {"misjudged": True}], ids=str
)
def test_drawn_problems_have_plans(parameters: dict[str, Any]) -> None:
    assert_seeds_draw("room_messages", range(4), **parameters)
    assert_solvable("room_messages", range(4), **parameters)


def test_vocabulary_is_one_subgoal_each() -> None:
    assert_vocabulary("room_messages", agents=2, rooms=2)
    assert_vocabulary("room_messages", agents=5, rooms=3)
    assert_vocabulary("room_messages/g_sc_03_05_s2031")
