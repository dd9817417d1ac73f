"""The command that lists sampled problems, and the problems that it sampled for the suite to test on."""

import csv
import json
from collections import Counter
from itertools import islice
from pathlib import Path

import pytest

from domains.instances import SAMPLED, load_sizes
from domains.suites import find_suite
from epigym.errors import UsageError
from epigym.problem import domain_problem, find_problems, load_problem
from epigym.task.packing import pack_task
from learn.data.distribution import COLUMNS, sample_problems
from learn.sample import Sample, sample
from tests.helpers.commands import compose
from tests.helpers.runs import Stages


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_problems_and_their_sizes_are_listed_and_the_problems_written(tmp_path: Path, stages: Stages) -> None:
    domain = "epistemic_gossip"
    sample(compose(Sample, "sample", f"domain={domain}", "instances=5", "seed=3", f"run_dir={tmp_path}"))
    listed = rows(tmp_path / "problems.csv")
    assert list(listed[0]) == list(COLUMNS)
    assert [row["instance"].split("_")[0] for row in listed] == ["train"] * 5 + ["validation"] * 5 + ["test"] * 5
    for row, problem in zip(listed, islice(sample_problems(domain, "train", 3), 5), strict=False):
        task = domain_problem(domain, **json.loads(row["parameters"]))
        assert (task.initial, task.actions, task.goal) == (
            problem.task.initial, problem.task.actions, problem.task.goal,
        )  # fmt: skip
        read = load_problem(str(tmp_path / domain / f"{row['instance']}.json"))
        assert (pack_task(read), read.structure) == (pack_task(problem.task), problem.task.structure)
        assert [int(row[name]) for name in ("fluents", "agents", "actions", "subgoals", "distance", "states")] == [
            len(task.fluents), len(task.agents), len(task.actions), len(task.goal), problem.distance, problem.states,
        ]  # fmt: skip
    assert [Path(name).stem for name in find_problems([str(tmp_path / domain)])] == sorted(
        row["instance"] for row in listed
    )
    train, validation, test = rows(tmp_path / "sizes.csv")
    assert [row["split"] for row in (train, validation, test)] == ["train", "validation", "test"]
    states = sorted(int(row["states"]) for row in listed[:5])
    assert (train["e-states"], train["median"]) == (f"{states[0]} to {states[-1]}", str(states[2]))
    assert int(train["attempts"]) == int(listed[4]["instance"].removeprefix("train_")) + 1
    assert (test["e-states"], test["median"], test["shortest"]) == ("", "", "")
    assert validation["actions"] == "20"
    assert stages["sampling"] == [f"{done} of 3 distributions" for done in range(4)]
    assert stages["epistemic_gossip, test"] == [f"{done} of 5 problems" for done in range(6)]


@pytest.mark.parametrize(
    ("override", "message"), [("domain=grapes", r"^unknown domain 'grapes'"), ("split=dev", r"^unknown split 'dev'")]
)
def test_what_there_is_not_is_one_line(override: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=message):
        sample(compose(Sample, "sample", override, f"run_dir={tmp_path}"))
    assert not list(tmp_path.iterdir())


def test_the_suite_has_twenty_problems_of_each_domain() -> None:
    assert set(Counter(name.partition("/")[0] for name in find_suite("sampled").test).values()) == {20}
    assert all(name.partition("/")[2].startswith("test_") for name in find_suite("sampled").test)


@pytest.mark.parametrize("domain", ["cloud_scheduling", "epistemic_gossip", "search_and_rescue"])
def test_the_suite_is_what_is_sampled(domain: str) -> None:
    frozen = [row for row in rows(SAMPLED) if row["domain"] == domain]
    for row, problem in zip(frozen, islice(sample_problems(domain, "test"), 6), strict=False):
        assert row == {name: str(value) for name, value in problem.row().items()}
        task = domain_problem(f"{domain}/{row['instance']}")
        assert (task.initial, task.goal) == (problem.task.initial, problem.task.goal)
        assert load_sizes()[f"{domain}/{row['instance']}"] == (
            len(task.fluents), len(task.agents), len(task.actions), len(task.goal),
        )  # fmt: skip
