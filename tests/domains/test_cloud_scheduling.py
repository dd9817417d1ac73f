"""Cloud Scheduling: plans that are known, what tenants learn, and what is drawn."""

from __future__ import annotations

from typing import Any

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

ONE: dict[str, Any] = {"tasks": 1, "owners": ["tenant1"]}
WRONG: Wrong = [
    ({"tasks": 7}, "tasks must be a whole number from 1 to 6, got 7"),
    ({"tenants": 0}, "tenants must be a whole number from 1 to 6, got 0"),
    ({"owners": ["tenant1"]}, "owners must list one of tenant1, tenant2 for each of task1, task2, got ['tenant1']"),
    (
        {"stages": ["new", "done"]},
        "stages must list one of new, scheduled, executing, failed for each of task1, task2, got ['new', 'done']",
    ),
    ({"large": ["task3"]}, "unknown name in large 'task3': did you mean 'task2' or 'task1'?"),
    ({"private": "no"}, "private must be True or False, got 'no'"),
    ({"confirmed": 1}, "confirmed must be True or False, got 1"),
    ({"seed": -1}, "seed must be a whole number from 0 to 4294967295, got -1"),
    ({"goals": []}, "goals must be one formula or a list of them, got []"),
]


def test_wrong_parameters_are_told() -> None:
    assert_told("cloud_scheduling", WRONG)


@pytest.mark.parametrize(
    ("instance", "length"),
    [
        ("cloud_01_len03", 3),
        ("cloud_02_len04", 4),
        ("cloud_03_len06", 6),
        ("cloud_04_len09", 9),
        ("cloud_05_len10", 10),
    ],
)
def test_published_plans_have_the_known_lengths(instance: str, length: int) -> None:
    plan = shortest_plan(f"cloud_scheduling/{instance}")
    assert plan is not None
    assert len(plan) == length


def test_published_plan() -> None:
    task = read("cloud_scheduling/cloud_01_len03")
    plan = ["observe_completion_task1", "validate_task1", "report_task1_tenant1"]
    assert holds_after(task, plan)
    assert not holds_after(task, plan[:2])


def test_plan_grows_with_what_is_left_to_do() -> None:
    for stage, length in {"new": 6, "failed": 5, "scheduled": 4, "executing": 3}.items():
        plan = shortest_plan("cloud_scheduling", **ONE, stages=[stage])
        assert plan is not None
        assert len(plan) == length


def test_a_task_is_rescheduled_once() -> None:
    again = ["(failed task1)", "(rescheduled task1)"]
    fails = ["reschedule_task1", "start_task1", "observe_failure_task1"]
    assert holds_after(read("cloud_scheduling", **ONE, stages=["failed"], goals=again), fails)
    assert shortest_plan("cloud_scheduling", **ONE, stages=["failed"], goals=[*again, "(scheduled task1)"]) is None


@pytest.mark.parametrize("formula", ["([tenant2] (completed task1))", "([observer] ([tenant1] (completed task1)))"])
def test_a_report_is_noticed_by_reporter_and_owner_alone(formula: str) -> None:
    assert shortest_plan("cloud_scheduling", **ONE, goals=[formula]) is None
    seen = ["([reporter] ([tenant1] (completed task1)))", "([scheduler] (not ([tenant1] (completed task1))))"]
    plan = shortest_plan("cloud_scheduling", **ONE, stages=["executing"], goals=seen)
    assert plan is not None
    assert plan[-1] == "report_task1_tenant1"


def test_options_add_goals() -> None:
    def goals(**options: bool) -> set[str]:
        return set(map(str, read("cloud_scheduling", **ONE, **options).goal))

    assert goals() - goals(private=False) == {"-B(tenant2, completed_task1)"}
    assert goals(confirmed=True) - goals() == {"B(reporter, B(tenant1, completed_task1))"}


@pytest.mark.parametrize(
    "parameters", [{}, {"tasks": 1, "tenants": 1}, {"tenants": 3, "confirmed": True, "private": False}], ids=str
)
def test_drawn_problems_have_plans(parameters: dict[str, Any]) -> None:
    assert_seeds_draw("cloud_scheduling", range(4), **parameters)
    assert_solvable("cloud_scheduling", range(4), **parameters)


def test_vocabulary_is_one_subgoal_each() -> None:
    assert_vocabulary("cloud_scheduling", tasks=1, tenants=1)
    assert_vocabulary("cloud_scheduling", tasks=3, tenants=3)
    assert_vocabulary("cloud_scheduling/cloud_04_len09")
