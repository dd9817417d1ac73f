"""Gossip: how many calls spread the secrets, who notices them, and what is drawn."""

from __future__ import annotations

import pytest

from domains.writing.epddl import atom, believes, knows_whether
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
    ({"agents": 1}, "agents must be a whole number from 2 to 13, got 1"),
    ({"agents": 2, "kind": "deceived"}, "agents must be a whole number from 3 to 13, got 2"),
    ({"kind": "privat"}, "unknown kind 'privat': did you mean 'private'?"),
    ({"goal": "impostor"}, "unknown goal 'impostor': expected one of 'all', 'single'"),
    ({"kind": "deceived", "goal": "single"}, "unknown goal 'single': expected one of 'all', 'impostor'"),
    ({"learner": "d"}, "unknown agent in learner 'd': expected one of 'a', 'b', 'c'"),
    ({"shared": 3}, "shared must be a list of pairs of two agents, got 3"),
    ({"shared": ["aa"]}, "shared must be a list of pairs of two agents, got ['aa']"),
    ({"shared": ["da"]}, "unknown agent in shared 'd': expected one of 'a', 'b', 'c'"),
    (
        {"kind": "deceived", "shared": [("a", "detective")]},
        "unknown owner of a secret in shared 'detective': expected one of 'a', 'impostor'",
    ),
    ({"seed": -1}, "seed must be a whole number from 0 to 4294967295, got -1"),
    ({"goals": []}, "goals must be one formula or a list of them, got []"),
]


def test_wrong_parameters_are_told() -> None:
    assert_told("gossip", WRONG)


@pytest.mark.parametrize("kind", ["basic", "private"])
def test_every_secret_is_told_to_everyone_who_lacks_it(kind: str) -> None:
    for parameters, length in (
        ({"agents": 2}, 2),
        ({"agents": 3}, 6),
        ({"agents": 3, "shared": ["ac", "ca", "cb"]}, 3),
        ({"agents": 3, "goal": "single"}, 2),
        ({"agents": 4, "goal": "single", "learner": "b", "shared": ["bd", "ab"]}, 2),
    ):
        assert len(shortest_plan("gossip", kind=kind, **parameters) or ()) == length


@pytest.mark.parametrize(("kind", "length"), [("basic", 1), ("private", None)])
def test_only_noticed_calls_tell_others_who_knows(kind: str, length: int | None) -> None:
    third = believes("c", knows_whether("b", atom("secret", "a")))
    plan = shortest_plan("gossip", kind=kind, goals=[third])
    assert (None if plan is None else len(plan)) == length


def test_all_friends_are_deceived_one_by_one() -> None:
    for agents in (3, 4, 5):
        assert len(shortest_plan("gossip", agents=agents, kind="deceived") or ()) == agents - 2


def test_the_impostor_is_deceived_by_earpieces_and_the_detective() -> None:
    assert shortest_plan("gossip/g_gos_03_imp_deceived") == [
        "lie_impostor_a",
        "give_earpiece_detective_a",
        "catch_detective_impostor",
    ]
    task = read("gossip/gos_04_imp_deceived")
    plan = ["lie_impostor_a", "lie_impostor_b", "give_earpiece_detective_a", "give_earpiece_detective_b"]
    assert not holds_after(task, plan)
    assert holds_after(task, [*plan, "catch_detective_impostor"])


@pytest.mark.parametrize(
    "parameters",
    [
        {"agents": 2},
        {"agents": 3},
        {"agents": 3, "goal": "single"},
        {"agents": 3, "kind": "private", "goal": "single"},
        {"agents": 3, "kind": "deceived", "goal": "impostor"},
        {"agents": 4, "kind": "deceived"},
    ],
    ids=str,
)
def test_drawn_problems_have_plans(parameters: dict[str, object]) -> None:
    assert_seeds_draw("gossip", range(5), **{**parameters, "agents": 4})
    assert_solvable("gossip", range(5), **parameters)


def test_seeds_leave_what_is_given() -> None:
    for seed in range(5):
        drawn = read("gossip", agents=4, goal="single", learner="b", shared=["bc"], seed=seed)
        assert drawn.goal == read("gossip", agents=4, goal="single", learner="b").goal
        assert drawn.initial == read("gossip", agents=4, shared=["bc"]).initial


@pytest.mark.parametrize("kind", ["basic", "private", "deceived"])
def test_vocabulary_is_one_subgoal_each(kind: str) -> None:
    for agents in (3, 5):
        assert_vocabulary("gossip", agents=agents, kind=kind)
    assert_vocabulary("gossip/gos_06_imp_deceived")
