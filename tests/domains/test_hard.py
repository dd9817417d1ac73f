"""The frozen table of the suite `hard`: its instances are where searches fail, its plans are plans; its generator."""

import json
from pathlib import Path

import pytest

from domains import DOMAINS
from domains.domain import Growth
from domains.instances import HARD, load_sizes, load_tables
from domains.suites import find_suite
from epigym.problem import domain_problem
from epigym.reference.semantics import validate
from epigym.space.space import StateSpace
from tests.benchmarks.suites.__main__ import main
from tests.benchmarks.suites.hard import GIVEN_UP, HardInstance, sample_instance, searches
from tests.benchmarks.suites.hard_sizes import LINES
from tests.benchmarks.suites.tables import read_instances
from tests.helpers.marks import slow_but
from tests.helpers.structures import follow

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
def test_suites_begin_and_end_where_searches_fail(domain: str) -> None:
    line = steps(domain)
    assert [instance.step for instance in line] == list(range(1, len(line) + 1))
    for instance in line:
        assert instance.outcomes.keys() == searches().keys()
        statuses = {one.status for one in instance.outcomes.values()}
        assert instance.is_kept == any(
            not one.is_solved for lower in line[: instance.step] for one in lower.outcomes.values()
        )
        assert instance.is_kept or statuses == {"solved"}
    for label in searches():  # each is given up after two failures in a row
        for number, instance in enumerate(line):
            before = [lower.outcomes[label] for lower in line[:number]][-2:]
            failed = len(before) == 2 and not any(one.is_solved for one in before)
            assert (instance.outcomes[label].status == GIVEN_UP) == failed
    if domain in HARD:  # four instances are beyond all searches
        assert not any(instance.is_solved for instance in line[-4:])
        assert any(instance.is_solved for instance in line[:-4])
    else:  # all sizes of the domain's growth
        assert len(line) == len(LINES[domain])


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


@pytest.mark.parametrize("domain", slow_but(LINES, "blocks_world", "collaboration_communication"))
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
        assert space.is_goal(follow(space, instance.plan.split())).tolist() == [False] * instance.plan_length + [True]


@pytest.mark.slow
def test_the_program_searches_and_goes_on_where_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out, before = tmp_path / "hard.csv", b""
    for steps in (1, 2, 2):
        growing = ({"agents": 2}, {"agents": 3})[:steps]
        monkeypatch.setitem(LINES, "coin_in_the_box", Growth(growing, walk=(4, 8), subgoals=(3, 6)))
        main(["hard", "--domain", "coin_in_the_box", "--out", str(out), "--parallel", "2"])
        instances = read_instances(out, HardInstance.read)
        assert [instance.instance for instance in instances] == ["below_01", "below_02"][:steps]
        for one in instances[-1].outcomes.values():
            assert one.is_solved
            assert int(one.expanded) > 0 <= float(one.seconds)  # with two decimals
        assert out.read_bytes().startswith(before)
        before = out.read_bytes()


@pytest.mark.parametrize("domain", slow_but(LINES, "coin_in_the_box", "search_and_rescue"))
def test_lines_grow(domain: str) -> None:
    once = list({str(size): size for size in LINES[domain].sizes}.values())
    tasks = [domain_problem(domain, **size) for size in (*once[:-1:4], once[-1])]
    extents = [len(task.initial.valuations) * len(task.actions) for task in tasks]
    assert extents == sorted(extents)
    assert extents[-1] >= 2 * extents[0]
    steps = [Growth(({},) * 5, walk=(10, 50), subgoals=(3, 11)).at(step) for step in (1, 2, 5)]
    assert steps == [({}, 10, 3), ({}, 20, 5), ({}, 50, 11)]


@pytest.mark.parametrize("domain", [name for name, domain in DOMAINS.items() if not domain.consistent_beliefs])
def test_no_plan_makes_beliefs_inconsistent(domain: str) -> None:
    for seed in range(4):
        instance = sample_instance(domain, ({}, 20, 6), 1, seed)
        assert validate(instance.task(), instance.plan.split(), consistent_beliefs=True).valid
