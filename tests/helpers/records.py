"""Records of evaluations, and the table of an evaluation, read back."""

import csv
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from epigym.language import Reading
from search.agents.limits import Limits
from search.evaluation.batch import RecordBatch
from search.evaluation.grid import make_records
from search.evaluation.record import MEASURED, Record
from search.evaluation.suites import Problem, list_problems
from search.planning.configuration import Choice, Configuration
from search.planning.options import SearchOptions

LIMITS = Limits(None, 60.0, 1 << 33)  # of memory more than what other tests left in this process


def record_of(
    problem: str | Problem, agent: Choice = "bfs", heuristic: Choice | None = None, limits: Limits = LIMITS, **more: Any
) -> Record:
    """The record of a problem as it is now."""
    found = list_problems([problem], more.pop("reading", Reading())) if isinstance(problem, str) else [problem]
    return make_records(found, [Configuration.of(agent, heuristic)], SearchOptions(limits, **more))[0]


def batch_of(records: Sequence[Record], folder: Path, parallel: int = 1, memory_limit: int = 1 << 30) -> RecordBatch:
    return RecordBatch(records, folder, parallel, wall_limit=60.0, memory_limit=memory_limit)


def read_table(folder: Path) -> list[dict[str, str]]:
    with (folder / "results.csv").open(newline="") as file:
        return list(csv.DictReader(file))


def read_outcomes(folder: Path) -> list[dict[str, str]]:
    return [{name: row[name] for name in row if name not in MEASURED} for row in read_table(folder)]
