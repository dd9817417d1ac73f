"""The leaderboard: submitted plans are executed again, and scores follow from those that hold."""

from collections.abc import Sequence
from pathlib import Path

import pytest

import search
from epigym.errors import UsageError
from epigym.io.files import read_rows, write_rows
from epigym.problem import load_problem
from tests.tools.leaderboard import COLUMNS, FOLDER, SCORES, TABLE, find_problems, score_all

PROBLEM = "coin_in_the_box/pl_2"


@pytest.fixture
def shortest() -> list[str]:
    """A shortest plan."""
    return list(search.plan(load_problem(PROBLEM), "bfs").plan or ())


def submit(folder: Path, planner: str, plans: Sequence[Sequence[str]], seconds: float = 1.0) -> None:
    names = list(find_problems("standard"))
    problems = [PROBLEM, *(name for name in names if name != PROBLEM)]
    rows = [{"suite": "standard", "problem": problem, "seconds": str(seconds), "plan": " ".join(plan)}
            for problem, plan in zip(problems, plans, strict=False)]  # fmt: skip
    write_rows(folder / f"{planner}.csv", COLUMNS, rows)


def test_a_longer_plan_scores_less_and_a_slower_one_is_less_agile(tmp_path: Path, shortest: list[str]) -> None:
    submit(tmp_path, "short", [shortest])
    submit(tmp_path, "long", [[shortest[0], shortest[0], *shortest[1:]]], seconds=300**0.5)
    long, short = score_all(tmp_path)
    assert (short["planner"], short["solved"], short["satisficing"], short["agile"]) == ("short", 1, 1, 1)
    assert (long["planner"], long["solved"], long["agile"]) == ("long", 1, 0.5)
    assert long["satisficing"] == round(len(shortest) / (len(shortest) + 1), 2)


def test_a_plan_that_misses_the_goal_counts_as_invalid(tmp_path: Path, shortest: list[str]) -> None:
    submit(tmp_path, "wrong", [shortest[:-1]])
    (row,) = score_all(tmp_path)
    assert (row["solved"], row["invalid"], row["satisficing"]) == (0, 1, 0)


def test_policies_are_executed_too(tmp_path: Path) -> None:
    task = load_problem(PROBLEM)
    policy = search.plan(task, policy="strong").policy
    assert policy is not None
    policy.write(tmp_path / "found.json")
    submit(tmp_path, "branching", [["found.json"]])
    (row,) = score_all(tmp_path)
    assert (row["solved"], row["satisficing"]) == (1, 1)


@pytest.mark.parametrize(("problem", "named"), [("coin_in_the_box/none", "none"), (f"{PROBLEM}", "twice")])
def test_errors_name_the_problem(tmp_path: Path, shortest: list[str], problem: str, named: str) -> None:
    row = {"suite": "standard", "problem": problem, "seconds": "1", "plan": " ".join(shortest)}
    write_rows(tmp_path / "x.csv", COLUMNS, [row, row])
    with pytest.raises(UsageError, match=named):
        score_all(tmp_path)


@pytest.mark.slow
def test_the_leaderboard_is_what_the_submissions_give() -> None:
    assert read_rows(TABLE, SCORES) == [{name: str(row[name]) for name in SCORES} for row in score_all(FOLDER)]
