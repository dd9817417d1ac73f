"""The suite `hard`: where its instances begin and end, its plans, its control, and going on after an interruption."""

import json
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import pytest

from domains import DOMAINS
from domains.domain import Growth, sizes
from domains.instances import kind_of
from epigym.errors import UsageError
from epigym.problem import domain_problem
from epigym.reference.semantics import subgoals, validate
from search.agents.limits import Limits
from tests.benchmarks.suites import hard
from tests.benchmarks.suites.__main__ import main
from tests.benchmarks.suites.hard import GIVEN_UP, HardInstance, Outcome
from tests.benchmarks.suites.hard_sizes import LINES
from tests.benchmarks.suites.tables import read_instances, store

DOMAIN = "coin_in_the_box"
LIMITS = Limits(time_limit=30.0, memory_limit="4GiB")
STRENGTH = dict(zip(hard.searches(), (3, 4, 4, 4, 4, 4, 5), strict=True))
"""The first step of the line at which each search fails."""


@pytest.fixture(autouse=True)
def line(monkeypatch: pytest.MonkeyPatch) -> Growth:
    """A line of small problems in the place of the domain's."""
    tiny = Growth(sizes("agents", [(number,) for number in (2, 2, 2, 2, 3, 3, 3, 3, 3)]), walk=(4, 12), subgoals=(3, 8))
    monkeypatch.setitem(LINES, DOMAIN, tiny)
    return tiny


class Generation:
    """Climbs with searches whose strength decides, and problems drawn in this process."""

    def __init__(self, strength: dict[str, int] = STRENGTH, failing: int = 0) -> None:
        self.strength, self.failing = strength, failing
        self.run: list[tuple[int, str]] = []  # step and label of every search

    def __call__(
        self, table: Path, limits: Limits = LIMITS
    ) -> tuple[list[HardInstance], list[HardInstance], list[HardInstance]]:
        """The steps below, the instances and the control."""
        hard.generate(DOMAIN, table, limits, sample=self.sample, search=self.search)
        instances = read_instances(table, HardInstance.read)
        names = "below", "hard", "hard_control"
        kinds = ([one for one in instances if kind_of(one.instance) == kind] for kind in names)
        below, kept, control = kinds
        return below, kept, control

    def sample(self, step: int, attempt: int) -> HardInstance:
        return hard.draw(DOMAIN, LINES[DOMAIN].at(step), step, hard.seed_of(step, attempt))

    def search(self, instance: HardInstance, labels: Iterable[str]) -> dict[str, Outcome]:
        solved = {label: instance.step < self.strength[label] and instance.step != self.failing for label in labels}
        self.run.extend((instance.step, label) for label in solved)
        return {label: Outcome("solved" if is_solved else "time_limit") for label, is_solved in solved.items()}


def test_rungs_go_from_the_first_failure_to_four_beyond_the_last_solved(tmp_path: Path) -> None:
    below, kept, _ = Generation()(tmp_path / "table.csv")
    assert [instance.instance for instance in below] == ["below_01", "below_02"]
    assert [instance.instance for instance in kept] == [f"hard_{step:02d}" for step in (3, 4, 5, 6, 7, 8)]
    assert [instance.is_solved for instance in kept] == [True, True, False, False, False, False]
    assert {status for instance in below for status in statuses(instance)} == {"solved"}


def test_a_search_that_failed_on_two_steps_in_a_row_is_not_run_again(tmp_path: Path) -> None:
    generation = Generation()
    _, kept, _ = generation(tmp_path / "table.csv")
    weakest, *others, strongest = hard.searches()
    assert [step for step, label in generation.run if label == weakest] == [1, 2, 3, 4]
    assert [step for step, label in generation.run if label == others[0]] == [1, 2, 3, 4, 5]
    assert [step for step, label in generation.run if label == strongest] == [1, 2, 3, 4, 5, 6]
    assert [instance.outcomes[weakest].status for instance in kept] == ["time_limit"] * 2 + [GIVEN_UP] * 4


def test_a_failure_between_two_successes_gives_nobody_up(tmp_path: Path) -> None:
    below, kept, control = Generation(dict.fromkeys(STRENGTH, 10), failing=2)(tmp_path / "table.csv")
    assert [instance.step for instance in below] == [1]
    assert [instance.step for instance in kept] == [2, 3, 4, 5, 6, 7, 8, 9]  # to the end of the line
    assert GIVEN_UP not in {status for instance in kept for status in statuses(instance)}
    assert len(control) == 8


def test_every_plan_is_valid_and_every_goal_false_at_the_start(tmp_path: Path) -> None:
    for instances in Generation()(tmp_path / "table.csv"):
        for instance in instances:
            parameters = json.loads(instance.parameters)
            task = domain_problem(DOMAIN, **parameters)
            assert parameters == LINES[DOMAIN].sizes[instance.step - 1] | {"goals": list(instance.goals)}
            assert not all(subgoals(task, task.initial))
            plan = instance.plan.split()
            assert validate(task, plan).valid
            assert not any(validate(task, plan[:length]).valid for length in range(len(plan)))
            assert instance.plan_length == len(plan) <= LINES[DOMAIN].at(instance.step)[1]
            assert 1 <= len(instance.goals) <= LINES[DOMAIN].at(instance.step)[2]
            assert instance.validated == "reference"


def test_the_control_is_as_large_has_goals_of_its_own_and_nobody_searches_it(tmp_path: Path) -> None:
    _, kept, control = Generation()(tmp_path / "table.csv")
    assert [instance.instance for instance in control] == [
        f"hard_control_{number:02d}" for number in range(1, len(kept) + 1)
    ]
    assert {instance.step for instance in control} <= {instance.step for instance in kept}
    assert len({(instance.step, instance.goals) for instance in (*kept, *control)}) == 2 * len(kept)
    assert not any(instance.outcomes for instance in control)


def test_started_again_it_goes_on_where_it_was(tmp_path: Path) -> None:
    whole, cut, generation = tmp_path / "whole.csv", tmp_path / "cut.csv", Generation()
    generation(whole)
    once = list(generation.run)
    content = whole.read_bytes()
    generation(whole)
    assert generation.run == once
    assert whole.read_bytes() == content
    rows = [row for row in read_instances(whole, dict) if row["instance"] not in ("hard_control_02", "hard_control_05")]
    store([row for row in rows if kind_of(row["instance"]) != "hard" or row["step"] in "345"], cut)
    again = Generation()
    again(cut)
    assert again.run == [one for one in once if one[0] > 5]
    assert cut.read_bytes() == content


def test_tables_of_other_limits_are_refused(tmp_path: Path) -> None:
    Generation()(tmp_path / "table.csv")
    with pytest.raises(UsageError, match=r"measured with --time-limit 30\.0 --memory-limit 4GiB: give these limits"):
        Generation()(tmp_path / "table.csv", replace(LIMITS, time_limit=31.0))


def test_the_program_searches_in_fact_and_equally_each_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tables = []
    for steps in (1, 2):
        growing = ({"agents": 2}, {"agents": 3})[:steps]
        monkeypatch.setitem(LINES, DOMAIN, Growth(growing, walk=(4, 8), subgoals=(3, 6)))
        out = tmp_path / str(steps) / "hard.csv"
        main(["hard", "--domain", DOMAIN, "--out", str(out), "--parallel", "2"])
        tables.append(
            [{key: row[key] for key in row if not key.endswith(".seconds")} for row in read_instances(out, dict)]
        )
        instances = read_instances(out, HardInstance.read)
        assert [instance.instance for instance in instances] == ["below_01", "below_02"][:steps]
        assert {status for instance in instances for status in statuses(instance)} == {"solved"}
        assert all(int(one.expanded) > 0 and float(one.seconds) > 0 for one in instances[-1].outcomes.values())
    assert tables[1][:1] == tables[0]


def test_without_time_no_search_solves_anything(tmp_path: Path) -> None:
    instance = hard.draw(DOMAIN, LINES[DOMAIN].at(1), 1, 0)
    found = hard.run_searches(instance, ["bfs", "lazy/h_ff"], Limits(time_limit=0.0, memory_limit="4GiB"))
    assert {label: one.status for label, one in found.items()} == dict.fromkeys(["bfs", "lazy/h_ff"], "time_limit")


def test_the_searches_are_those_that_are_promised() -> None:
    assert list(hard.searches()) == [
        "bfs", "hfs/goal_count", "hfs/split_goal_count", "bfws/split_goal_count", "hfs/c_pg", "lazy/h_ff",
        "hfs/landmarks",
    ]  # fmt: skip
    assert hard.searches()["lazy/h_ff"].agent["boost"] == 1000


def test_the_space_executes_plans_that_are_large_for_the_reference() -> None:
    at = LINES[DOMAIN].at(5)
    small = hard.draw(DOMAIN, at, 5, 0)
    assert hard.draw(DOMAIN, at, 5, 0, reference_worlds=2) == replace(small, validated="space")


@pytest.mark.parametrize("domain", LINES)
def test_lines_grow(domain: str) -> None:
    once = list({str(size): size for size in LINES[domain].sizes}.values())
    tasks = [domain_problem(domain, **size) for size in (*once[:-1:4], once[-1])]
    extents = [len(task.initial.valuations) * len(task.actions) for task in tasks]
    assert extents == sorted(extents)
    assert extents[-1] >= 2 * extents[0]


def test_walks_and_goals_grow_along_a_line() -> None:
    steps = [Growth(({},) * 5, walk=(10, 50), subgoals=(3, 11)).at(step) for step in (1, 2, 5)]
    assert steps == [({}, 10, 3), ({}, 20, 5), ({}, 50, 11)]


@pytest.mark.parametrize("domain", [name for name, domain in DOMAINS.items() if not domain.consistent_beliefs])
def test_no_plan_makes_beliefs_inconsistent(domain: str) -> None:
    for seed in range(4):
        instance = hard.draw(domain, ({}, 20, 6), 1, seed)
        assert validate(instance.task(), instance.plan.split(), consistent_beliefs=True).valid


def statuses(instance: HardInstance) -> list[str]:
    return [one.status for one in instance.outcomes.values()]
