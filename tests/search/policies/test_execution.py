"""Executions: actions and observations lead to the e-states of the environment."""

import random
from contextlib import suppress
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from epigym import EpistemicEnv, StateSpace, Task
from epigym.errors import InconsistentBeliefsError, TaskError, UsageError
from search.agents.limits import Limits
from search.agents.result import SearchStatus
from search.heuristics.belief_relaxation import RelaxedPlan
from search.policies.execution import Execution
from search.policies.planner import PolicyResult
from search.policies.policy import Policy
from search.policies.policy_search import BudgetExceededError, PolicySearch
from search.policies.validation import Node
from tests.helpers.episodes import check_episodes, find_strong
from tests.helpers.muddy_robots import muddy_robots
from tests.helpers.strategies import sensing_task, tasks
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
    with pytest.raises(TaskError, match=r"'repair_r1' .*: B\(r1, lit_r1\)"):
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


def strong_policy(task: Task, consistent_beliefs: bool) -> Policy | None:
    """A strong policy; None if there is none within 60 expansions."""
    with suppress(BudgetExceededError, InconsistentBeliefsError):
        space = StateSpace(task, consistent_beliefs=consistent_beliefs)
        found = PolicySearch(space, RelaxedPlan(space), Limits(max_expanded=60).start())
        return found.make_policy() if found.find_strong() else None
    return None


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
    assert {"yes", "no", "off"} <= check_episodes(find_strong(muddy_robots(3)), 20)
