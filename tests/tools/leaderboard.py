"""Re-execute submitted plans and policies, and compute the scores of the planners that found them.

python -m tests.tools.leaderboard                                 scores docs/results/submissions in leaderboard.csv
python -m tests.tools.leaderboard outputs/evaluate/hard hard      first submits the plans of an evaluation of a suite

A submission is a table `<planner>.csv` with the columns suite, problem, seconds and plan: names of actions with spaces
between them, or `<policy>.json` beside the table. Seconds are those that the planner reports; all else is computed.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Final, NamedTuple

from rich.console import Console

from domains.suites import find_suite
from epigym.config.packages import PLACE
from epigym.errors import UsageError
from epigym.io.files import read_json, read_rows, slug, write_rows
from epigym.io.tables import Table
from epigym.reference.semantics import validate
from epigym.task.task import Task
from search.evaluate import Evaluate
from search.evaluation.suites import Problem, problems_of
from search.policies.policy import Policy
from search.reports.metrics import score_lengths, score_seconds
from search.reports.outcomes import read_outcomes
from tests.helpers.commands import compose

FOLDER: Final = PLACE / "docs" / "results" / "submissions"
TABLE: Final = FOLDER.parent / "leaderboard.csv"
COLUMNS: Final = ("suite", "problem", "seconds", "plan")
SCORES: Final = ("suite", "planner", "problems", "solved", "invalid", "satisficing", "agile")

Row = Mapping[str, str]


class Entry(NamedTuple):
    """A submitted plan; its length is None when it is not valid."""

    suite: str
    problem: str
    planner: str
    seconds: float
    length: int | None


def main(arguments: Sequence[str]) -> None:
    """Submit the plans of an evaluation if one is given; then score all submissions.

    Raises:
        EpigymError: when a table, suite or problem is wrong.
    """
    if len(arguments) not in (0, 2):
        raise UsageError("expected nothing, or the folder of an evaluation and the name of its suite")
    if arguments:
        submit(Path(arguments[0]), arguments[1])
    rows = score_all(FOLDER)
    write_rows(TABLE, SCORES, rows)
    Console().print(Table("leaderboard", SCORES, [[str(row[name]) for name in SCORES] for row in rows]))


def submit(run: Path, suite_name: str) -> None:
    """Write the plans of each configuration of an evaluation to its table, in place of its plans of that suite."""
    for configuration, outcomes in read_outcomes([run]).table.items():
        table = FOLDER / f"{slug(configuration)}.csv"
        others = [row for row in read_rows(table, COLUMNS) if row["suite"] != suite_name] if table.exists() else []
        rows = [
            {"suite": suite_name, "problem": outcome.problem, "seconds": f"{(outcome.total_ms or 0) / 1000:.3f}",
             "plan": " ".join(read_json(outcome.file)["result"]["plan"])}
            for outcome in outcomes.values() if outcome.is_solved and outcome.file
        ]  # fmt: skip
        write_rows(table, COLUMNS, [*others, *rows])


def read_entries(folder: Path) -> Iterator[Entry]:
    """All submitted plans, re-executed."""
    for table in sorted(folder.glob("*.csv")):
        read = set()
        for row in read_rows(table, COLUMNS):
            problem = row["suite"], row["problem"]
            if problem in read:
                raise UsageError(f"{table}: {row['problem']} of {row['suite']} stands there twice: delete one line")
            read.add(problem)
            yield Entry(*problem, table.stem, float(row["seconds"]), measure_length(row, folder))


def score_all(folder: Path) -> list[dict[str, Any]]:
    """The rows of the leaderboard, by suite and number of problems solved."""
    suites: dict[str, dict[str, list[Entry]]] = defaultdict(lambda: defaultdict(list))
    for entry in read_entries(folder):
        suites[entry.suite][entry.planner].append(entry)
    rows = []
    for suite_name, planners in suites.items():
        lengths = {
            planner: {entry.problem: entry.length for entry in entries if entry.length is not None}
            for planner, entries in planners.items()
        }
        satisficing = score_lengths(lengths)
        for planner, entries in planners.items():
            agile = sum(score_seconds(entry.seconds) for entry in entries if entry.length is not None)
            solved = len(lengths[planner])
            counts = (len(find_problems(suite_name)), solved, len(entries) - solved)
            scores = (*counts, round(satisficing[planner], 2), round(agile, 2))
            rows.append(dict(zip(SCORES, (suite_name, planner, *scores), strict=True)))
    return sorted(rows, key=lambda row: (row["suite"], -row["solved"], row["planner"]))


def measure_length(row: Row, folder: Path) -> int | None:
    """Number of actions of a plan, or longest number that a policy takes; None when it is not valid."""
    problems = find_problems(row["suite"])
    if row["problem"] not in problems:
        raise UsageError(f"unknown problem {row['problem']!r} of suite {row['suite']!r}")
    task = problems[row["problem"]].load()
    if row["plan"].endswith(".json"):
        return measure_policy(task, folder / row["plan"])
    plan = row["plan"].split()
    return len(plan) if validate(task, plan).valid else None


def measure_policy(task: Task, file: Path) -> int | None:
    """The depth of a valid policy; of a cyclic one the number of its e-states."""
    policy = Policy.read(task, file)
    if not policy.validate().valid:
        return None
    return len(policy.nodes) if policy.is_cyclic else policy.depth


@cache
def find_problems(suite_name: str) -> Mapping[str, Problem]:
    """The test problems of a suite of `domains` or of `conf/suite`, by name."""
    if not (PLACE / "conf" / "suite" / f"{suite_name}.yaml").exists():
        find_suite(suite_name)  # names the suites that there are
    settings = compose(Evaluate, "evaluate", f"suite={suite_name}")
    return {problem.name: problem for problem in problems_of(settings.suite, settings.per_domain, settings.reading)}


if __name__ == "__main__":
    main(sys.argv[1:])
