"""The table of an evaluation, read back."""

from __future__ import annotations

import csv
from pathlib import Path

from search.evaluation.cell import MEASURED


def read_table(folder: Path) -> list[dict[str, str]]:
    with (folder / "results.csv").open(newline="") as file:
        return list(csv.DictReader(file))


def unmeasured(folder: Path) -> list[dict[str, str]]:
    return [{name: row[name] for name in row if name not in MEASURED} for row in read_table(folder)]
