"""Environments of domains: parameters, instances and random goals."""

from typing import Any

import gymnasium
import numpy as np
import pytest

import domains
from epigym.envs.domain_env import DomainEnv
from epigym.envs.registration import camel_case
from epigym.errors import EpigymError
from epigym.problem import domain_problem, vocabulary
from epigym.task.formula import and_

DOMAINS = list(domains.DOMAINS)


def make(domain: str = "coin_in_the_box", **arguments: Any) -> DomainEnv:
    return DomainEnv(domain, **arguments)


@pytest.mark.parametrize("domain", DOMAINS)
def test_the_task_is_that_of_the_domain(domain: str) -> None:
    for instance in (None, *domains.DOMAINS[domain].test[:1]):
        env = gymnasium.make(f"epi/{camel_case(domain)}-v0", instance=instance)
        assert env.unwrapped.task == domain_problem(f"{domain}/{instance}" if instance else domain)


def test_parameters_are_arguments_and_override_the_instance() -> None:
    assert make(agents=5).task == domain_problem("coin_in_the_box", agents=5)
    assert make(instance="pl_5", agents=4).task == domain_problem("coin_in_the_box/pl_5", agents=4)
    assert make(semantics="update_model").task != make().task


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"goal_steps": 0}, "goal_steps=0: expected at least 1"),
        ({"goal_size": 0}, "goal_size=0: expected at least 1"),
        ({"random_goals": "yes"}, "random_goals=yes: expected true or false"),
    ],
)
def test_wrong_arguments_are_explained(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(EpigymError, match=message):
        make(**arguments)


@pytest.mark.parametrize("domain", [name for name in DOMAINS if domains.DOMAINS[name].language == "EPDDL"])
def test_a_reading_of_mastar_is_refused_by_domains_in_epddl(domain: str) -> None:
    with pytest.raises(EpigymError) as caught:
        gymnasium.make(f"epi/{camel_case(domain)}-v0", semantics="efp")
    assert str(caught.value) == f"{domain} is written in EPDDL: semantics=efp does not apply to it"


@pytest.mark.parametrize("domain", DOMAINS)
def test_an_episode_ends_with_reward_minus_one_a_step_when_its_random_goal_is_reached(domain: str) -> None:
    env = make(domain, random_goals=True, goal_steps=2, goal_size=1)
    env.action_space.seed(0)
    reached = 0
    parts = {part for formula in vocabulary(domain)[1] for part in (formula, *formula.children)}
    for seed in range(12):
        _, info = env.reset(seed=seed)
        assert set(env.goal) <= parts
        assert not info["is_goal"]
        terminated = info["is_goal"]
        for _ in range(30):
            observation, reward, terminated, truncated, info = env.step(env.action_space.sample(info["action_mask"]))
            assert (reward, truncated, terminated) == (-1.0, False, info["is_goal"])
            assert terminated == env.model().holds(and_(*env.goal))
            assert observation in env.observation_space
            if terminated or not info["action_mask"].any():
                break
        reached += terminated
    assert reached


def test_a_random_goal_can_be_asked_for_at_reset() -> None:
    asked, always = make(), make(random_goals=True)
    asked.reset(seed=4, options={"goal": "random"})
    always.reset(seed=4)
    assert asked.goal == always.goal != asked.task.goal
    asked.reset()
    assert asked.goal == asked.task.goal
    always.reset(options={"goal": "B(a, tail)"})
    assert [str(part) for part in always.goal] == ["B(a, tail)"]


def test_observations_show_the_goal() -> None:
    env = make(random_goals=True)
    by_goal: dict[Any, bytes] = {}
    for seed in range(20):
        observation, _ = env.reset(seed=seed)
        shown = b"".join(np.asarray(part).tobytes() for part in observation)
        assert by_goal.setdefault(env.goal, shown) == shown
    assert len(set(by_goal.values())) == len(by_goal) > 3
