"""Where the public benchmark files are; the tests that read them carry the marker `reference`."""

import csv
import os
import warnings
from pathlib import Path

from epigym.errors import ProblemWarning
from epigym.language import load
from epigym.task.task import Task

ROOT = Path(__file__).parents[2]
SHARED = (ROOT / os.environ.get("EPIGYM_SHARED", "../shared")).resolve()
BENCHMARKS = SHARED / "benchmarks"


def mastar_files() -> list[Path]:
    """All mA* problems, sorted; empty when the benchmarks are absent."""
    return sorted((BENCHMARKS / "mastar").glob("*/*/*.txt"))


def table(name: str) -> list[dict[str, str]]:
    """The rows of `reference/<name>.csv`; empty when the benchmarks are absent."""
    path = BENCHMARKS / "reference" / f"{name}.csv"
    if not path.exists():
        return []
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def load_published_task(row: dict[str, str]) -> Task:
    """The task of a row of `expected_mastar`; some of the texts contradict themselves, which only warns."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ProblemWarning)
        return load(BENCHMARKS / "mastar" / row["domain"] / row["split"] / f"{row['instance']}.txt")
