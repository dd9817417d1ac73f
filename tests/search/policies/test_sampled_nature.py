"""Policies reach the goal in every episode of environments in which one designated world is actual."""

import random
from contextlib import suppress

from hypothesis import given
from hypothesis import strategies as st

from epigym.errors import InconsistentBeliefsError
from epigym.space.space import StateSpace
from epigym.task.task import Task
from search.agents.limits import Limits
from search.heuristics.belief_relaxation import RelaxedPlan
from search.policies.policy import Policy
from search.policies.policy_search import BudgetExceededError, PolicySearch
from tests.helpers.episodes import check_episodes, find_strong
from tests.helpers.muddy_robots import muddy_robots
from tests.helpers.strategies import sensing_task, tasks


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
