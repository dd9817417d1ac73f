"""The metrics of finished training runs beside each other."""

from __future__ import annotations

import logging
from operator import itemgetter
from pathlib import Path
from typing import Any

from epigym.errors import EpigymError, MissingError
from epigym.files import read_json
from learn.model.runs import RUN_FILE

logger = logging.getLogger(__name__)

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
    rows = []
    for path in sorted(folder.rglob(RUN_FILE)):
        try:
            record = read_json(path)
            row = _row(record)
            rows.append(((record["domains"], record["problems"], row["trained on"], record["encoding"]), row))
        except (EpigymError, KeyError, TypeError, ValueError) as error:
            logger.warning("skipped the damaged record of a run, %s: %r", path, error)
    if not rows:
        raise MissingError(f"there is no finished run below {folder}: expected some {RUN_FILE} of learn.train")
    return [row for _, row in sorted(rows, key=itemgetter(0))]


def _row(record: dict[str, Any]) -> dict[str, Any]:
    metrics = record["metrics"]
    drawn = record.get("distribution")
    return {
        "trained on": " + ".join(record["domains"] or record["problems"])
        + (f", {drawn['draws']} drawn" if drawn else ""),
        "encoding": record["encoding"],
        "seed": record["seed"],
        "samples": int(metrics["train/samples"]),
        "validated": int(metrics["val/samples"]),
        **{heading: metrics[name] for heading, name in COLUMNS.items()},
        "epochs": int(metrics["epochs"]),
        "seconds": round(record["seconds"]),
    }
