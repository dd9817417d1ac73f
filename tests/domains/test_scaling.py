"""The scaling ladder: how its goals are chosen, measured and stored."""

from __future__ import annotations

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
from tests.benchmarks.suites.scaling import SIZES, Quarry, Rung, Sizes
from tests.benchmarks.suites.tables import store

RUNGS = scaling.read(SCALING)
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
    rungs = scaling.draw("coin_in_the_box", sizes)
    assert scaling.draw("coin_in_the_box", sizes) == rungs
    assert [rung.instance for rung in rungs[:3]] == ["scaling_01", "scaling_02", "scaling_03"]
    assert sorted(rung.instance for rung in rungs[3:]) == ["scaling_04", "scaling_05"]
    assert [json.loads(rung.parameters)["agents"] for rung in rungs] == [2, 3, 3, 4, 4]
    assert len({rung.parameters for rung in rungs}) == 5
    quarry = Quarry("coin_in_the_box", {"agents": 4}, 2000)
    missing = {rung.instance: quarry.missing(quarry.draw(rung.seed, 32)) for rung in rungs[3:]}
    assert missing["scaling_05"] >= missing["scaling_04"] > 0


def _rung(number: int, *goals: str) -> Rung:
    return Rung("coin_in_the_box", f"scaling_{number:02d}", json.dumps({"goals": list(goals)}), 3, "x y", 2)


def test_measuring_fills_in_the_row_and_the_table_keeps_it(tmp_path: Path) -> None:
    [measured] = scaling.measure([_rung(1, "B(b, tail)")], LIMITS)
    assert (measured.status, measured.plan_length, measured.expanded, measured.generated) == ("solved", 3, 8, 37)
    assert (measured.time_limit_s, measured.memory_limit) == (60.0, "8GiB")
    assert measured.walk_length == 2
    [hard] = scaling.measure([_rung(2, "B(a, -tail)")], replace(LIMITS, time_limit=0.0))
    assert (hard.status, hard.plan_length) == ("time_limit", "")
    path = tmp_path / "table.csv"
    store(map(asdict, [measured, hard]), path)
    for rung, again in zip((measured, hard), scaling.read(path), strict=True):
        assert list(map(str, asdict(again).values())) == list(map(str, asdict(rung).values()))
    assert list(tmp_path.iterdir()) == [path]


def test_a_search_without_a_plan_decides_the_rungs_whose_goals_it_has_not_met() -> None:
    impossible, easy, vain = _rung(1, "B(a, -tail)"), _rung(2, "B(b, tail)"), _rung(3, "B(a, -tail)", "B(b, tail)")
    alone = [scaling.measure([rung], LIMITS)[0] for rung in (impossible, easy, vain)]
    assert [rung.status for rung in alone] == ["unsolvable", "solved", "unsolvable"]
    together = scaling.measure([impossible, easy, vain], LIMITS)
    assert [rung.instance for rung in together] == ["scaling_01", "scaling_03"]
    counts = [(rung.expanded, rung.generated, rung.distinct) for rung in alone]
    assert [(rung.expanded, rung.generated, rung.distinct) for rung in together] == [counts[0], counts[2]]
    assert [rung.instance for rung in scaling.measure([easy, vain], LIMITS)] == ["scaling_02"]


def test_every_rung_of_a_table_is_measured_there(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    rungs = [_rung(1, "B(b, tail)"), _rung(2, "B(a, -tail)"), _rung(3, "B(c, tail)"), _rung(4, "B(b, -tail)")]
    store(map(asdict, rungs), path)
    scaling.climb(["coin_in_the_box"], path, LIMITS)
    measured = scaling.read(path)
    assert [rung.instance for rung in measured] == [rung.instance for rung in rungs]
    assert [rung.status for rung in measured] == ["solved", "unsolvable", "solved", "unsolvable"]


def test_the_program_writes_a_table_of_its_own(tmp_path: Path) -> None:
    before, out = SCALING.read_bytes(), tmp_path / "suites" / "scaling.csv"
    main(["scaling", "--domain", "grapevine", "--out", str(out), "--time-limit", "0"])
    table = scaling.read(out)
    assert [rung.instance for rung in table] == [rung.instance for rung in RUNGS]
    assert {rung.status for rung in table if rung.domain == "grapevine"} == {"time_limit"}
    assert SCALING.read_bytes() == before


@pytest.mark.parametrize("domain", SIZES)
def test_the_frozen_ladder_climbs(domain: str) -> None:
    rungs = [rung for rung in RUNGS if rung.domain == domain]
    assert [rung.instance for rung in rungs] == [f"scaling_{number:02d}" for number in range(1, len(rungs) + 1)]
    solved = [rung for rung in rungs if rung.status == "solved"]
    assert len(rungs) >= 12
    assert len(rungs) - len(solved) >= 4
    assert float(solved[0].seconds) < 1
    lower = rungs[: SIZES[domain].lower]
    assert lower == solved[: len(lower)]
    efforts = [int(rung.generated) for rung in lower]
    growth = (efforts[-1] / efforts[0]) ** (1 / (len(efforts) - 1))
    assert 2 < growth < 3
    for rung in rungs:
        assert rung.status in ("solved", "time_limit", "memory_limit")
        assert not rung.plan_length or int(rung.plan_length) <= int(rung.walk_length)


@pytest.mark.parametrize("rung", RUNGS, ids=lambda rung: f"{rung.domain}-{rung.instance}")
def test_the_witness_reaches_the_goal(rung: Rung) -> None:
    space = StateSpace(parse_mastar(domains.write(f"{rung.domain}/{rung.instance}")))
    number = {action.name: index for index, action in enumerate(space.task.actions)}
    state = space.initial
    assert not space.is_goal([state])[0]
    for name in rung.witness.split():
        state = space.successor(state, number[name])
    assert space.is_goal([state])[0]
    assert space.query(considers_possible(agent, TRUE) for agent in space.task.agents)([state]).all()


def test_the_suite_is_the_table() -> None:
    assert set(SUITES["scaling"].test) == {f"{rung.domain}/{rung.instance}" for rung in RUNGS}
    assert not set(SUITES["scaling"].test) & set(SUITES["scaling"].train)
