"""Compare finished training runs: `python -m learn.compare runs=outputs/train/2026-01-31_12-00-00`."""

from __future__ import annotations

import json
import logging
from pathlib import Path
from typing import Any

from omegaconf import DictConfig
from rich.console import Console

from epigym.errors import EpigymError
from learn.command import run
from learn.model.runs import RUN_FILE
from learn.training.tables import write_table

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


if __name__ == "__main__":
    run(compare, "compare")
