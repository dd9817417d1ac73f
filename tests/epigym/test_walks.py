"""Random goals: reachable by their own walk, not reached at the start, the same for the same seed."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import domains
from epigym.errors import TaskError
from epigym.formula import FALSE, fluent
from epigym.language import parse_mastar
from epigym.reference import validate
from epigym.space import StateSpace
from epigym.task import Task
from epigym.walks import random_goal, random_walk

DOMAINS = list(domains.DOMAINS)


def vocabulary_task(domain: str) -> Task:
    return parse_mastar(domains.text(domain, goals=list(domains.DOMAINS[domain].vocabulary())))


@pytest.mark.parametrize("domain", DOMAINS)
def test_the_walk_is_a_plan_for_the_goal(domain: str) -> None:
    task = vocabulary_task(domain)
    space = StateSpace(task)
    for seed in range(20):
        drawn = random_goal(space, np.random.default_rng(seed), steps=1 + seed, size=1 + seed % 4)
        goal = tuple(task.goal[index] for index in drawn.subgoals)
        problem = StateSpace(replace(task, goal=goal))
        state = problem.initial
        assert not problem.is_goal([state])[0]
        for number, action in enumerate(drawn.plan):
            assert not problem.is_goal([state])[0], f"reached before action {number}"
            state = problem.successor(state, action)
        assert problem.is_goal([state])[0]
        names = [task.actions[action].name for action in drawn.plan]
        assert seed % 5 or validate(replace(task, goal=goal), names).valid
        assert 1 <= len(drawn.plan) <= 1 + seed
        assert 1 <= len(drawn.subgoals) <= 1 + seed % 4
        assert sorted(set(drawn.subgoals)) == list(drawn.subgoals)


@pytest.mark.parametrize("domain", DOMAINS)
def test_the_same_seed_draws_the_same_goal_whatever_the_space_has_met(domain: str) -> None:
    task = vocabulary_task(domain)
    fresh, met = StateSpace(task), StateSpace(task)
    met.expand(met.expand([met.initial]).target)
    for seed in range(5):
        draws = [random_goal(space, np.random.default_rng(seed), steps=8, size=3) for space in (fresh, met)]
        assert draws[0] == draws[1]
    different = {random_goal(fresh, np.random.default_rng(seed), steps=8, size=3) for seed in range(10)}
    assert len(different) > 1


def test_a_walk_visits_no_e_state_twice_and_follows_transitions() -> None:
    space = StateSpace(vocabulary_task("coin_in_the_box"))
    states, actions = random_walk(space, np.random.default_rng(1), steps=30)
    assert len(set(states)) == len(states) == len(actions) + 1 > 5
    assert [space.successor(state, action) for state, action in zip(states, actions, strict=False)] == states[1:]


def test_a_walk_ends_where_nothing_new_can_be_reached() -> None:
    space = StateSpace(vocabulary_task("assembly_line"))
    for seed in range(10):
        states, actions = random_walk(space, np.random.default_rng(seed), steps=1000)
        assert len(actions) < 1000
        assert np.isin(space.expand(states[-1:]).target, states).all()


def test_without_a_formula_to_change_there_is_no_goal() -> None:
    task = vocabulary_task("coin_in_the_box")
    space = StateSpace(replace(task, goal=(FALSE, fluent("tail"))))
    with pytest.raises(TaskError, match="no random goal: after 100 random walks"):
        random_goal(space, np.random.default_rng(0), steps=5, size=1)


@pytest.mark.parametrize("domain", DOMAINS)
def test_nobody_comes_to_believe_everything_in_the_domains(domain: str) -> None:
    space = StateSpace(vocabulary_task(domain))
    for seed in range(10):
        states, _ = random_walk(space, np.random.default_rng(seed), steps=40)
        assert not any(space.collapsed(state).any() for state in states)
