"""Pairs to learn from: labels are exact, what is better is nearer, every expansion weighs the same."""

from __future__ import annotations

from collections import deque

import numpy as np
import pytest

from epigym.problem import load_problem
from epigym.space import StateSpace
from learn.data.labels import UNREACHABLE
from learn.data.pairs import Pairs, pairs_of

PROBLEMS = ("coin_in_the_box/pl_3", "assembly_line/b5_pl_5", "search_and_rescue/g_sar_21_n2_fire")


def pairs(name: str, *, seed: int = 0) -> Pairs:
    found = pairs_of(load_problem(name), expansions=25, max_states=20_000, seed=seed)
    assert found is not None
    return found


def steps_to_goal(space: StateSpace, start: int) -> int:
    """By breadth-first search from one e-state."""
    seen, queue = {start}, deque([(start, 0)])
    while queue:
        state, steps = queue.popleft()
        if space.is_goal([state])[0]:
            return steps
        for target in space.expand([state]).target.tolist():
            if target not in seen:
                seen.add(target)
                queue.append((target, steps + 1))
    return UNREACHABLE


@pytest.mark.parametrize("name", PROBLEMS)
def test_distances_are_those_of_a_search_from_each_e_state(name: str) -> None:
    found = pairs(name)
    for state, distance in list(zip(found.ids.tolist(), found.distance.tolist(), strict=True))[::7]:
        assert steps_to_goal(found.space, state) == distance


@pytest.mark.parametrize("name", PROBLEMS)
def test_what_is_better_is_nearer_than_what_is_worse(name: str) -> None:
    found = pairs(name)
    better, worse = found.distance[found.better], found.distance[found.worse]
    assert len(better) > 5
    assert (better != UNREACHABLE).all()
    assert ((worse == UNREACHABLE) | (better < worse)).all()


def test_every_expansion_weighs_the_same() -> None:
    weight = pairs("coin_in_the_box/pl_3").weight
    assert weight.sum() == pytest.approx(1)
    for one, count in zip(*np.unique(weight.round(12), return_counts=True), strict=True):
        pairs_of_it = 1 / (25 * one)  # of 25 expansions
        assert pairs_of_it == pytest.approx(round(pairs_of_it))
        assert count % round(pairs_of_it) == 0


def test_what_is_drawn_depends_on_the_seed_alone() -> None:
    one, again, other = (pairs("coin_in_the_box/pl_3", seed=seed) for seed in (1, 1, 2))
    assert one.ids.tolist() == again.ids.tolist()
    assert one.better.tolist() == again.better.tolist()
    assert one.ids.tolist() != other.ids.tolist()


def test_a_problem_with_too_many_e_states_gives_none() -> None:
    assert pairs_of(load_problem("coin_in_the_box/pl_3"), expansions=5, max_states=50, seed=0) is None
