"""Policies reach the goal in every episode of environments in which one designated world is actual."""

from __future__ import annotations

import random
from contextlib import suppress

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import search
from epigym.envs.env import EpistemicEnv
from epigym.errors import CollapseError
from epigym.space.space import StateSpace
from epigym.task.task import Task
from search.agents.limits import Limits
from search.heuristics.belief_relaxation import RelaxedPlan
from search.policies.planner import PolicyResult
from search.policies.policy import Policy
from search.policies.searching import LimitError, PolicySearch
from tests.helpers.muddy_robots import muddy_robots
from tests.helpers.strategies import sensing_task, tasks


def strong_policy(task: Task, consistent_beliefs: bool) -> Policy | None:
    """A strong policy; None where there is none, or it takes more than 60 expansions."""
    with suppress(LimitError, CollapseError):
        space = StateSpace(task, consistent_beliefs=consistent_beliefs)
        found = PolicySearch(space, RelaxedPlan(space), Limits(max_expanded=60).start())
        return found.policy() if found.strong() else None
    return None


def check_episodes(policy: Policy, episodes: int) -> set[str]:
    """Follow a policy in some episodes, each of which has to end at the goal; returns the outcomes met."""
    env = EpistemicEnv(policy.task, nature="sampled")
    assert policy.depth is not None
    met = set()
    for seed in range(episodes):
        env.reset(seed=seed)
        for _ in range(policy.depth):
            if env.is_goal():
                break
            action = env.action_names.index(policy.act(env.model()))
            *_, terminated, _, info = env.step(np.int64(action))
            assert not info["invalid_action"]
            assert terminated == env.is_goal()
            met.add(str(info["outcome"]))
        assert env.is_goal()
        assert env.actual in env.model().designated
    return met


@given(tasks(max_designated=3), st.booleans())
def test_policies_of_any_tasks_reach_the_goal(task: Task, consistent_beliefs: bool) -> None:
    if policy := strong_policy(task, consistent_beliefs):
        check_episodes(policy, 3)


def test_policies_that_sense_reach_the_goal() -> None:
    branching = 0
    for seed in range(120):
        if policy := strong_policy(sensing_task(random.Random(seed)), consistent_beliefs=bool(seed % 2)):
            check_episodes(policy, 8)
            branching += policy.leaves > 1
    assert branching > 15


def test_a_policy_without_a_linear_plan_reaches_the_goal() -> None:
    result = search.plan(muddy_robots(3), policy="strong", time_limit=60)
    assert isinstance(result, PolicyResult)
    assert result.policy is not None
    assert {"yes", "no", "off"} <= check_episodes(result.policy, 20)
