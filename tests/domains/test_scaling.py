"""The scaling suite: how its goals are chosen, measured and stored."""

import json
from pathlib import Path

import pytest

import domains
from domains.instances import SCALING
from domains.suites import SUITES
from epigym.language import parse_mastar
from epigym.space.space import StateSpace
from epigym.task.formula import TRUE, considers_possible
from search.agents import run_agent
from search.agents.breadth_first import BreadthFirst
from tests.benchmarks.suites import scaling
from tests.benchmarks.suites.__main__ import main
from tests.benchmarks.suites.scaling import SIZES, ExploredProblem, ScalingInstance, Sizes
from tests.helpers.structures import follow

INSTANCES = scaling.read(SCALING)


@pytest.mark.parametrize("domain", ["assembly_line", "coin_in_the_box", "grapevine"])
def test_effort_in_sight_is_what_breadth_first_search_generates(domain: str) -> None:
    problem = ExploredProblem(domain, {}, 2000)
    efforts = 0
    for seed in range(12):
        goal = problem.sample_goal(seed, 8)
        text = domains.write(domain, goals=problem.formulas(goal))
        result = run_agent(BreadthFirst(), StateSpace(parse_mastar(text)))
        effort = problem.effort(goal)
        assert effort == (result.generated if effort is not None else None)
        assert (effort is None) == (problem.missing(goal) > 0)
        assert result.plan_length <= len(goal.plan) == len(problem.names(goal))
        efforts += effort is not None
    assert efforts > 3


def test_sampling_again_gives_the_same_instances() -> None:
    growing = [{"agents": 2}, {"agents": 3}, {"agents": 3}, {"agents": 4}, {"agents": 4}]
    sizes = Sizes(growing, lower=3, most_steps=8, look_ahead=2000, first_effort=50, lower_goals=30)
    instances = scaling.sample_instances("coin_in_the_box", sizes)
    assert scaling.sample_instances("coin_in_the_box", sizes) == instances
    assert [instance.instance for instance in instances[:3]] == ["scaling_01", "scaling_02", "scaling_03"]
    assert sorted(instance.instance for instance in instances[3:]) == ["scaling_04", "scaling_05"]
    assert [json.loads(instance.parameters)["agents"] for instance in instances] == [2, 3, 3, 4, 4]
    assert len({instance.parameters for instance in instances}) == 5
    problem = ExploredProblem("coin_in_the_box", {"agents": 4}, 2000)
    missing = {instance.instance: problem.missing(problem.sample_goal(instance.seed, 32)) for instance in instances[3:]}
    assert missing["scaling_05"] >= missing["scaling_04"] > 0


def test_the_program_writes_a_table_of_its_own(tmp_path: Path) -> None:
    before, out = SCALING.read_bytes(), tmp_path / "suites" / "scaling.csv"
    main(["scaling", "--domain", "grapevine", "--out", str(out), "--time-limit", "0"])
    table = scaling.read(out)
    assert [instance.instance for instance in table] == [instance.instance for instance in INSTANCES]
    assert {instance.status for instance in table if instance.domain == "grapevine"} == {"time_limit"}
    assert SCALING.read_bytes() == before
    assert set(SUITES["scaling"].test) == {f"{instance.domain}/{instance.instance}" for instance in INSTANCES}
    assert not set(SUITES["scaling"].test) & set(SUITES["scaling"].train)


@pytest.mark.parametrize("domain", SIZES)
def test_the_frozen_ladder_climbs(domain: str) -> None:
    instances = [instance for instance in INSTANCES if instance.domain == domain]
    assert [one.instance for one in instances] == [f"scaling_{n:02d}" for n in range(1, len(instances) + 1)]
    solved = [instance for instance in instances if instance.status == "solved"]
    assert len(instances) >= 12
    assert len(instances) - len(solved) >= 4
    assert float(solved[0].seconds) < 1
    lower = instances[: SIZES[domain].lower]
    assert lower == solved[: len(lower)]
    efforts = [int(instance.generated) for instance in lower]
    growth = (efforts[-1] / efforts[0]) ** (1 / (len(efforts) - 1))
    assert 2 < growth < 3
    for instance in instances:
        assert instance.status in ("solved", "time_limit", "memory_limit")
        assert not instance.plan_length or int(instance.plan_length) <= int(instance.walk_length)


@pytest.mark.parametrize(
    "instances",
    [
        pytest.param([one for one in INSTANCES if int(one.walk_length) <= 30], id="short walks"),
        pytest.param([one for one in INSTANCES if int(one.walk_length) > 30], id="long walks", marks=pytest.mark.slow),
    ],
)
def test_the_witness_reaches_the_goal(instances: list[ScalingInstance]) -> None:
    wrong = []
    for instance in instances:
        name = f"{instance.domain}/{instance.instance}"
        space = StateSpace(parse_mastar(domains.write(name)))
        states = follow(space, instance.witness.split())
        goal = space.is_goal([states[0], states[-1]]).tolist()
        consistent = space.query(considers_possible(agent, TRUE) for agent in space.task.agents)(states[-1:]).all()
        if goal != [False, True] or not consistent:
            wrong.append((name, goal, consistent))
    assert wrong == []
    assert {one.domain for one in instances} == set(SIZES)
