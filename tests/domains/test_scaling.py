"""The scaling suite: how its goals are chosen, measured and stored."""

import json
from dataclasses import asdict, replace
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
from search.agents.limits import Limits
from tests.benchmarks.suites import scaling
from tests.benchmarks.suites.__main__ import main
from tests.benchmarks.suites.scaling import SIZES, Quarry, ScalingInstance, Sizes
from tests.benchmarks.suites.tables import store

INSTANCES = scaling.read(SCALING)
LIMITS = Limits(time_limit=60.0, memory_limit="8GiB")


@pytest.mark.parametrize("domain", ["assembly_line", "coin_in_the_box", "grapevine"])
def test_effort_in_sight_is_what_breadth_first_search_generates(domain: str) -> None:
    quarry = Quarry(domain, {}, 2000)
    efforts = 0
    for seed in range(12):
        goal = quarry.draw(seed, 8)
        text = domains.write(domain, goals=quarry.formulas(goal))
        result = run_agent(BreadthFirst(), StateSpace(parse_mastar(text)))
        effort = quarry.effort(goal)
        assert effort == (result.generated if effort is not None else None)
        assert (effort is None) == (quarry.missing(goal) > 0)
        assert result.plan_length is not None
        assert result.plan_length <= len(goal.plan) == len(quarry.names(goal))
        efforts += effort is not None
    assert efforts > 3


def test_a_lower_rung_is_the_drawn_goal_nearest_to_its_target() -> None:
    quarry = Quarry("grapevine", {}, 2000)
    drawn = quarry.draws(2, 60, 12)
    seed, goal = scaling.nearest(quarry, drawn, 700)
    assert (seed, goal) in drawn
    assert goal == quarry.draw(seed, 12)
    distances = [max(effort / 700, 700 / effort) for _, one in drawn if (effort := quarry.effort(one))]
    effort = quarry.effort(goal)
    assert effort is not None
    assert max(effort / 700, 700 / effort) == min(distances) < 1.5


def test_drawing_again_gives_the_same_rungs() -> None:
    growing = [{"agents": 2}, {"agents": 3}, {"agents": 3}, {"agents": 4}, {"agents": 4}]
    sizes = Sizes(growing, lower=3, most_steps=8, look_ahead=2000, first_effort=50, lower_draws=30)
    instances = scaling.draw("coin_in_the_box", sizes)
    assert scaling.draw("coin_in_the_box", sizes) == instances
    assert [instance.instance for instance in instances[:3]] == ["scaling_01", "scaling_02", "scaling_03"]
    assert sorted(instance.instance for instance in instances[3:]) == ["scaling_04", "scaling_05"]
    assert [json.loads(instance.parameters)["agents"] for instance in instances] == [2, 3, 3, 4, 4]
    assert len({instance.parameters for instance in instances}) == 5
    quarry = Quarry("coin_in_the_box", {"agents": 4}, 2000)
    missing = {instance.instance: quarry.missing(quarry.draw(instance.seed, 32)) for instance in instances[3:]}
    assert missing["scaling_05"] >= missing["scaling_04"] > 0


def _make_instance(number: int, *goals: str) -> ScalingInstance:
    return ScalingInstance("coin_in_the_box", f"scaling_{number:02d}", json.dumps({"goals": list(goals)}), 3, "x y", 2)


def test_measuring_fills_in_the_row_and_the_table_keeps_it(tmp_path: Path) -> None:
    [measured] = scaling.measure([_make_instance(1, "B(b, tail)")], LIMITS)
    assert (measured.status, measured.plan_length, measured.expanded, measured.generated) == ("solved", 3, 8, 37)
    assert (measured.time_limit_s, measured.memory_limit) == (60.0, "8GiB")
    assert measured.walk_length == 2
    [hard] = scaling.measure([_make_instance(2, "B(a, -tail)")], replace(LIMITS, time_limit=0.0))
    assert (hard.status, hard.plan_length) == ("time_limit", "")
    path = tmp_path / "table.csv"
    store(map(asdict, [measured, hard]), path)
    for instance, again in zip((measured, hard), scaling.read(path), strict=True):
        assert list(map(str, asdict(again).values())) == list(map(str, asdict(instance).values()))
    assert list(tmp_path.iterdir()) == [path]


def test_a_search_without_a_plan_decides_the_rungs_whose_goals_it_has_not_met() -> None:
    impossible, easy, vain = (
        _make_instance(1, "B(a, -tail)"),
        _make_instance(2, "B(b, tail)"),
        _make_instance(3, "B(a, -tail)", "B(b, tail)"),
    )
    alone = [scaling.measure([instance], LIMITS)[0] for instance in (impossible, easy, vain)]
    assert [instance.status for instance in alone] == ["unsolvable", "solved", "unsolvable"]
    together = scaling.measure([impossible, easy, vain], LIMITS)
    assert [instance.instance for instance in together] == ["scaling_01", "scaling_03"]
    counts = [(instance.expanded, instance.generated, instance.distinct) for instance in alone]
    assert [(instance.expanded, instance.generated, instance.distinct) for instance in together] == [
        counts[0],
        counts[2],
    ]
    assert [instance.instance for instance in scaling.measure([easy, vain], LIMITS)] == ["scaling_02"]


def test_every_rung_of_a_table_is_measured_there(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    instances = [
        _make_instance(1, "B(b, tail)"),
        _make_instance(2, "B(a, -tail)"),
        _make_instance(3, "B(c, tail)"),
        _make_instance(4, "B(b, -tail)"),
    ]
    store(map(asdict, instances), path)
    scaling.generate(["coin_in_the_box"], path, LIMITS)
    measured = scaling.read(path)
    assert [instance.instance for instance in measured] == [instance.instance for instance in instances]
    assert [instance.status for instance in measured] == ["solved", "unsolvable", "solved", "unsolvable"]


def test_the_program_writes_a_table_of_its_own(tmp_path: Path) -> None:
    before, out = SCALING.read_bytes(), tmp_path / "suites" / "scaling.csv"
    main(["scaling", "--domain", "grapevine", "--out", str(out), "--time-limit", "0"])
    table = scaling.read(out)
    assert [instance.instance for instance in table] == [instance.instance for instance in INSTANCES]
    assert {instance.status for instance in table if instance.domain == "grapevine"} == {"time_limit"}
    assert SCALING.read_bytes() == before


@pytest.mark.parametrize("domain", SIZES)
def test_the_frozen_ladder_climbs(domain: str) -> None:
    instances = [instance for instance in INSTANCES if instance.domain == domain]
    assert [instance.instance for instance in instances] == [
        f"scaling_{number:02d}" for number in range(1, len(instances) + 1)
    ]
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


@pytest.mark.parametrize("instance", INSTANCES, ids=lambda instance: f"{instance.domain}-{instance.instance}")
def test_the_witness_reaches_the_goal(instance: ScalingInstance) -> None:
    space = StateSpace(parse_mastar(domains.write(f"{instance.domain}/{instance.instance}")))
    number = {action.name: index for index, action in enumerate(space.task.actions)}
    state = space.initial
    assert not space.is_goal([state])[0]
    for name in instance.witness.split():
        state = space.successor(state, number[name])
    assert space.is_goal([state])[0]
    assert space.query(considers_possible(agent, TRUE) for agent in space.task.agents)([state]).all()


def test_the_suite_is_the_table() -> None:
    assert set(SUITES["scaling"].test) == {f"{instance.domain}/{instance.instance}" for instance in INSTANCES}
    assert not set(SUITES["scaling"].test) & set(SUITES["scaling"].train)
