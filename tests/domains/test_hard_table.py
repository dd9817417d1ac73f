"""The frozen table of the suite `hard`: its instances are where searches fail, its plans are plans."""

import json

import pytest

from domains.instances import HARD, load_sizes, load_tables
from domains.suites import find_suite
from epigym.problem import domain_problem
from epigym.space.space import StateSpace
from tests.benchmarks.suites.hard import GIVEN_UP, HardInstance, searches
from tests.benchmarks.suites.hard_sizes import LINES
from tests.benchmarks.suites.tables import read_instances

INSTANCES = read_instances(HARD, HardInstance.read)
LEFT_OUT = {"consecutive_numbers"}  # every search solves every step of its line
HARD = {"active_muddy_child", "assembly_line", "blocks_world", "gossip", "grapevine", "room_messages"}
SMALL = 2_000  # worlds of the initial e-state and actions of a problem that is built here


def steps(domain: str) -> list[HardInstance]:
    return sorted(
        (instance for instance in INSTANCES if instance.domain == domain and not instance.is_control),
        key=lambda instance: instance.step,
    )


@pytest.mark.parametrize("domain", LINES)
def test_the_rungs_begin_where_a_search_first_fails(domain: str) -> None:
    line = steps(domain)
    assert [instance.step for instance in line] == list(range(1, len(line) + 1))
    for instance in line:
        assert instance.outcomes.keys() == searches().keys()
        statuses = {one.status for one in instance.outcomes.values()}
        assert instance.is_kept == any(
            not one.is_solved for lower in line[: instance.step] for one in lower.outcomes.values()
        )
        assert instance.is_kept or statuses == {"solved"}


@pytest.mark.parametrize("domain", LINES)
def test_a_search_is_given_up_after_two_failures_in_a_row_and_not_before(domain: str) -> None:
    line = steps(domain)
    for label in searches():
        for number, instance in enumerate(line):
            before = [lower.outcomes[label] for lower in line[:number]][-2:]
            failed = len(before) == 2 and not any(one.is_solved for one in before)
            assert (instance.outcomes[label].status == GIVEN_UP) == failed


@pytest.mark.parametrize("domain", sorted(HARD))
def test_four_rungs_are_beyond_all_searches(domain: str) -> None:
    assert not any(instance.is_solved for instance in steps(domain)[-4:])
    assert any(instance.is_solved for instance in steps(domain)[:-4])


@pytest.mark.parametrize("domain", sorted(LINES.keys() - HARD))
def test_where_none_is_the_line_ends_at_the_limits_of_the_parameters(domain: str) -> None:
    assert len(steps(domain)) == len(LINES[domain])


def test_both_suites_hold_as_many_problems_of_the_same_sizes() -> None:
    for domain in LINES:
        kept = [instance for instance in steps(domain) if instance.is_kept]
        control = [instance for instance in INSTANCES if instance.domain == domain and instance.is_control]
        assert len(kept) == len(control)
        assert bool(kept) == (domain not in LEFT_OUT)
        assert {instance.step for instance in control} <= {instance.step for instance in kept}
        assert len({(instance.step, instance.goals) for instance in (*kept, *control)}) == 2 * len(kept)
    names = {f"{instance.domain}/{instance.instance}" for instance in INSTANCES}
    named = set(find_suite("hard").test) | set(find_suite("hard_control").test)
    assert named == {name for name in names if "/below_" not in name}
    assert all(
        load_tables()[one.domain][one.instance] == json.loads(one.parameters)
        for one in INSTANCES
        if "below" not in one.instance
    )


@pytest.mark.parametrize("domain", LINES)
def test_sizes_and_plans_of_the_lowest_step_and_of_the_highest_that_is_small(domain: str) -> None:
    problems = [instance for instance in INSTANCES if instance.domain == domain]
    problems.sort(key=lambda instance: (instance.actions, instance.step))
    for instance in (problems[0], [instance for instance in problems if instance.actions <= SMALL][-1]):
        parameters = json.loads(instance.parameters)
        assert {**parameters, "goals": None} == {**LINES[domain].sizes[instance.step - 1], "goals": None}
        task = domain_problem(domain, **parameters)
        counts = len(task.fluents), len(task.agents), len(task.actions), len(task.goal)
        assert counts == (instance.fluents, instance.agents, instance.actions, len(instance.goals))
        assert counts == load_sizes().get(f"{domain}/{instance.instance}", counts)
        if len(task.initial.valuations) > SMALL:
            continue
        space = StateSpace(task, consistent_beliefs=True)
        number = {action.name: index for index, action in enumerate(task.actions)}
        states = [space.initial]
        for name in instance.plan.split():
            states.append(space.successor(states[-1], number[name]))
        assert space.is_goal(states).tolist() == [False] * instance.plan_length + [True]
