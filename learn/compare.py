"""Compare finished training runs: `python -m learn.compare runs=outputs/train/2026-01-31_12-00-00`."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from omegaconf import DictConfig
from rich.box import SIMPLE
from rich.console import Console
from rich.table import Table

from epigym.errors import EpigymError
from epigym.files import write_rows, write_text
from learn.command import run
from learn.runs import RUN_FILE

logger = logging.getLogger(__name__)

COLUMNS = {
    "R²": "val/r2",
    "MAE": "val/mae",
    "RMSE": "val/rmse",
    "within ½": "val/within_half",
    "median MAE": "median/mae",
    "SUB MAE": "unsatisfied/mae",
    "SUB R²": "unsatisfied/r2",
    "waiting": "train/waiting_share",
}
"""Headings of the table and the metrics below them; errors in steps on the validation samples."""


def read_runs(folder: Path) -> list[dict[str, Any]]:
    """The records of all finished runs below a folder, by domains and encoding.

    Raises:
        EpigymError: when there is none.
    """
    records = [json.loads(path.read_text()) for path in sorted(folder.rglob(RUN_FILE))]
    if not records:
        raise EpigymError(f"there is no finished run below {folder}: expected some {RUN_FILE} of learn.train")
    return sorted(records, key=lambda record: (record["domains"], record["problems"], record["encoding"]))


def compare(config: DictConfig) -> list[dict[str, Any]]:
    """Print the finished runs below a folder as a table; write it as `comparison.csv` and `comparison.md`.

    Args:
        config: the composed `conf/compare.yaml`.

    Returns:
        One row per run.

    Raises:
        EpigymError: when there is no finished run.
    """
    rows = [_row(record) for record in read_runs(Path(config.runs))]
    run_dir = Path(config.run_dir)
    Console().print(write_table(rows, run_dir / "comparison", "errors in steps on the validation samples"))
    logger.info("%s and comparison.md", run_dir / "comparison.csv")
    return rows


def write_table(rows: Sequence[Mapping[str, Any]], stem: Path, title: str) -> Table:
    """Write rows with equal columns as `<stem>.csv`, with all digits, and `<stem>.md`; return them for the screen."""
    write_rows(stem.with_suffix(".csv"), list(rows[0]), rows)
    write_text(stem.with_suffix(".md"), _markdown(rows))
    return _table(rows, title)


def _row(record: dict[str, Any]) -> dict[str, Any]:
    metrics = record["metrics"]
    return {
        "trained on": " + ".join(record["domains"] or record["problems"]),
        "encoding": record["encoding"],
        "seed": record["seed"],
        "samples": int(metrics["train/samples"]),
        "validated": int(metrics["val/samples"]),
        **{heading: metrics[name] for heading, name in COLUMNS.items()},
        "epochs": int(metrics["epochs"]),
        "seconds": round(record["seconds"]),
    }


def _table(rows: Sequence[Mapping[str, Any]], title: str) -> Table:
    table = Table(box=SIMPLE, padding=(0, 1, 0, 0), title=title)
    for name, value in rows[0].items():
        table.add_column(name, justify="left" if isinstance(value, str) else "right", overflow="fold")
    for row in rows:
        table.add_row(*map(_text, row.values()))
    return table


def _markdown(rows: Sequence[Mapping[str, Any]]) -> str:
    marks = ["---" if isinstance(value, str) else "--:" for value in rows[0].values()]
    lines = [list(rows[0]), marks, *([_text(value) for value in row.values()] for row in rows)]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def _text(value: Any) -> str:
    return f"{value:.3f}" if isinstance(value, float) else str(value)


if __name__ == "__main__":
    run(compare, "compare")
