"""Policies followed in environments in which one designated world is actual."""

import numpy as np

import search
from epigym.envs.env import EpistemicEnv
from epigym.space.search_problem import Source
from search.policies.planner import PolicyResult
from search.policies.policy import Policy


def find_strong(source: Source) -> Policy:
    """A strong policy, which there has to be."""
    result = search.plan(source, policy="strong", time_limit=60)
    assert isinstance(result, PolicyResult)
    assert result.policy is not None
    return result.policy


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
