"""Active Muddy Child: whom one has to ask, and what is drawn."""

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
from tests.helpers.episodes import check_episodes, find_strong

WRONG: Wrong = [
    ({"children": 1}, "children must be a whole number from 2 to 16, got 1"),
    ({"children": 2, "muddy": ["c3"]}, "unknown name in muddy 'c3': expected one of 'c1', 'c2'"),
    ({"children": 2, "muddy": []}, "muddy needs at least 1 of c1, c2, got 0"),
    ({"certain": 1}, "certain must be True or False, got 1"),
    ({"children": 2, "muddy": ["c1", "c2"], "certain": 1}, "certain must be True or False, got 1"),
    ({"children": 2, "wise": "c3"}, "unknown child in wise 'c3': expected one of 'c1', 'c2'"),
    ({"seed": "x"}, "seed must be a whole number from 0 to 4294967295, got 'x'"),
    ({"goals": ""}, "goals must be one formula or a list of them, got ''"),
]


def test_wrong_parameters_are_told() -> None:
    assert_told("active_muddy_child", WRONG)


def test_all_other_muddy_children_are_asked() -> None:
    for muddy, asked in ((["c2"], 1), (["c2", "c3"], 2), (["c1", "c2", "c3"], 2), (["c2", "c3", "c4"], 3)):
        plan = shortest_plan("active_muddy_child", muddy=muddy)
        assert plan is not None
        assert sorted(plan) == [f"ask_{name}" for name in muddy if name != "c1"]
        assert len(plan) == asked


def test_published_plan() -> None:
    task = read("active_muddy_child/amc_03_02_clean")
    assert holds_after(task, ["ask_c2", "ask_c3"])
    assert not holds_after(task, ["ask_c2"])


@pytest.mark.parametrize("parameters", [{"certain": True}, {"certain": False}, {"wise": "c3"}], ids=str)
def test_drawn_problems_have_plans(parameters: dict[str, object]) -> None:
    assert_seeds_draw("active_muddy_child", range(5), children=5, **parameters)
    assert_solvable("active_muddy_child", range(5), children=3, **parameters)


def test_seeds_leave_what_is_given() -> None:
    given = read("active_muddy_child", muddy=["c2", "c4"])
    assert read("active_muddy_child", muddy=["c2", "c4"], seed=3).initial == given.initial


def test_vocabulary_is_one_subgoal_each() -> None:
    assert_vocabulary("active_muddy_child", children=3)
    assert_vocabulary("active_muddy_child/amc_06_03_clean")


def test_a_policy_works_whoever_is_muddy() -> None:
    task = read("active_muddy_child", children=4, certain=False, muddy=[])
    assert task.initial.designated == tuple(range(15))
    policy = find_strong(task)
    assert {"knows", "wonders"} <= check_episodes(policy, 20)
    assert policy.leaves > 1
