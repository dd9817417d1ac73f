"""The metrics of finished training runs beside each other."""

from __future__ import annotations

from collections.abc import Mapping
from operator import itemgetter
from pathlib import Path
from typing import Any

from epigym.errors import MissingError
from learn.models.runs import RUN_FILE, read_records

COLUMNS = {
    "R²": "val/r2",
    "MAE": "val/mae",
    "RMSE": "val/rmse",
    "within ½": "val/within_half",
    "median MAE": "median/mae",
    "SUB MAE": "open_goals/mae",
    "SUB R²": "open_goals/r2",
    "waiting": "train/waiting_share",
}
"""Headings of the table and the metrics below them; errors in steps on the validation samples."""


def compare(folder: Path) -> list[dict[str, Any]]:
    """One row for every finished run below a folder, by domains and encoding; a damaged record is skipped, and named.

    Raises:
        MissingError: when there is none.
    """
    rows = read_records(folder, lambda _, record: (_order(record), _row(record)))
    if not rows:
        raise MissingError(f"there is no finished run below {folder}: expected some {RUN_FILE} of learn.train")
    return [row for _, row in sorted(rows, key=itemgetter(0))]


def _order(record: Mapping[str, Any]) -> tuple[Any, ...]:
    return record["domains"], record["problems"], _trained_on(record), record["encoding"]


def _trained_on(record: Mapping[str, Any]) -> str:
    drawn = record.get("distribution")
    return " + ".join(record["domains"] or record["problems"]) + (f", {drawn['draws']} drawn" if drawn else "")


def _row(record: Mapping[str, Any]) -> dict[str, Any]:
    metrics = record["metrics"]
    return {
        "trained on": _trained_on(record),
        "encoding": record["encoding"],
        "seed": record["seed"],
        "samples": int(metrics["train/samples"]),
        "validated": int(metrics["val/samples"]),
        **{heading: metrics[name] for heading, name in COLUMNS.items()},
        "epochs": int(metrics["epochs"]),
        "seconds": round(record["seconds"]),
    }
