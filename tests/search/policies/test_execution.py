"""Executions: actions and observations lead to the e-states of the environment."""

import random
from dataclasses import replace

import numpy as np
import pytest

from epigym.envs.env import EpistemicEnv
from epigym.errors import TaskError, UsageError
from search.agents.result import SearchStatus
from search.policies.execution import Execution
from search.policies.planner import PolicyResult
from search.policies.policy import Policy
from search.policies.validation import Node
from tests.helpers.muddy_robots import muddy_robots
from tests.helpers.strategies import sensing_task
from tests.search.policies.test_policy_search import dice

ROBOTS = muddy_robots(2)


def test_it_follows_observed_outcomes() -> None:
    execution = Execution(ROBOTS)
    assert not execution.is_goal
    assert [str(one) for one in execution.apply("announce")] == ["some"]
    execution.observe("some")
    yes, no = execution.apply("ask_r1")
    assert (str(yes), no.event, execution.pending) == ("yes", 1, "ask_r1")
    assert not execution.holds("B(r2, lit_r2)"), "what is pending has not happened"
    execution.observe(no)
    assert execution.pending is None
    assert execution.holds("B(r2, lit_r2)")
    assert execution.estate.holds("B(r2, lit_r2)")


def test_it_reaches_the_e_states_of_the_environment() -> None:
    several = 0
    for seed in range(40):
        task = sensing_task(random.Random(seed))
        env, execution = EpistemicEnv(task, nature="sampled"), Execution(task)
        env.reset(seed=seed)
        rng = random.Random(seed)
        while not env.is_goal() and env.action_masks().any() and rng.random() < 0.9:
            action = rng.choice(np.flatnonzero(env.action_masks()).tolist())
            *_, info = env.step(np.int64(action))
            several += len(execution.apply(env.action_names[action])) > 1
            execution.observe(info["outcome"] if rng.random() < 0.5 else str(info["outcome"]))
            assert execution.estate == env.model()
        assert execution.is_goal == env.is_goal()
    assert several > 15


def test_replanning_leads_to_the_goal() -> None:
    rng = random.Random(1)
    for _ in range(4):
        execution = Execution(muddy_robots(3))
        execution.apply("announce")
        execution.observe("some")
        result = execution.replan(time_limit=60)
        assert result.policy is execution.policy is not None
        for _ in range(result.depth):
            if not execution.is_goal:
                execution.observe(rng.choice(execution.apply(execution.action)))
        assert execution.is_goal


def test_replanning_in_vain_keeps_the_policy() -> None:
    task = muddy_robots(2)
    hopeless = task.__class__(task.name, task.fluents, task.agents, task.actions[:1], task.initial, task.goal)
    execution = Execution(hopeless)
    assert execution.replan(time_limit=60).policy is None
    assert execution.policy is None


def test_errors_are_explained() -> None:
    execution = Execution(ROBOTS)
    with pytest.raises(UsageError, match="there is no policy: call replan"):
        _ = execution.action
    with pytest.raises(UsageError, match=r"unknown action 'anounce': did you mean 'announce'\?"):
        execution.apply("anounce")
    with pytest.raises(TaskError, match=r"'repair_r1' is not applicable: its condition does not hold: B\(r1, lit_r1\)"):
        execution.apply("repair_r1")
    with pytest.raises(UsageError, match="nothing to observe: apply an action first"):
        execution.observe("yes")
    execution.apply("bell")
    with pytest.raises(UsageError, match="unknown outcome of 'bell' 'maybe': expected one of 'no'"):
        execution.observe("maybe")


def test_events_of_one_name_are_told_apart() -> None:
    [throw] = dice().actions
    task = replace(
        dice(), actions=(replace(throw, events=tuple(replace(event, name="die") for event in throw.events)),)
    )
    for number, is_goal in ((0, True), (1, False)):
        execution = Execution(task)
        assert list(map(str, execution.apply("throw"))) == ["die 0", "die 1"]
        execution.observe(f"die {number}")
        assert execution.is_goal is is_goal


def test_an_invalid_policy_is_not_followed(monkeypatch: pytest.MonkeyPatch) -> None:
    policy = Policy(dice(), (Node(None),))
    failed = PolicyResult(SearchStatus.ERROR, agent="policy", problem="dice", policy=policy)
    monkeypatch.setattr("search.policies.execution.plan", lambda *_, **__: failed)
    execution = Execution(dice())
    assert execution.replan("cyclic") is failed
    assert execution.policy is None
