"""The metrics of finished training runs beside each other."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from epigym.errors import MissingError
from learn.model.runs import RUN_FILE

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


def read_runs(folder: Path) -> list[dict[str, Any]]:
    """The records of all finished runs below a folder, by domains and encoding.

    Raises:
        MissingError: when there is none.
    """
    records = [json.loads(path.read_text()) for path in sorted(folder.rglob(RUN_FILE))]
    if not records:
        raise MissingError(f"there is no finished run below {folder}: expected some {RUN_FILE} of learn.train")
    return sorted(records, key=lambda record: (record["domains"], record["problems"], record["encoding"]))


def compare(folder: Path) -> list[dict[str, Any]]:
    """One row for every finished run below a folder.

    Raises:
        MissingError: when there is none.
    """
    return [_row(record) for record in read_runs(folder)]


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
