"""A table of the metrics of finished training runs."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from operator import itemgetter
from pathlib import Path
from typing import Any

import yaml

from epigym.errors import EpigymError, MissingError
from epigym.io.checksummed import read_checksummed
from learn.training.options import OVERRIDES, RUN_FILE

logger = logging.getLogger(__name__)

COUNTS = {
    "solved": "val/solved",
    "problems": "val/problems",
    "expanded": "val/expanded",
    "samples": "train/samples",
    "validated": "val/samples",
    "epochs": "epochs",
}
"""Headings of the table and their metrics, whole numbers."""
COLUMNS = {
    "R²": "val/r2",
    "MAE": "val/mae",
    "RMSE": "val/rmse",
    "within ½": "val/within_half",
    "median MAE": "median/mae",
    "SUB MAE": "goal_count/mae",
    "SUB R²": "goal_count/r2",
    "waiting": "train/waiting_share",
}
"""Headings of the table and their metrics: errors in steps on the validation samples, and shares."""


def compare_runs(folder: Path) -> list[dict[str, Any]]:
    """One row for every finished run below a folder, sorted by domains and encoding.

    The last column has the overrides of the command line in which the runs differ, such as those of a sweep. Damaged
    records are skipped with a warning. Metrics that no run has are omitted; those that one lacks are empty.

    Raises:
        MissingError: when there is no finished run.
    """
    rows = []
    paths = sorted(folder.rglob(RUN_FILE))
    for path, overrides in zip(paths, _list_differences(paths), strict=True):
        try:
            record = read_checksummed(path, "train again, or delete it")
            rows.append((_make_key(record), _make_row(record) | {"overrides": overrides}))
        except (EpigymError, KeyError, TypeError, ValueError) as error:
            reason = error if isinstance(error, EpigymError) else f"{path}: {error!r}"
            logger.warning("skipped the damaged record of a run: %s", reason)
    if not rows:
        raise MissingError(f"there is no finished run below {folder}: expected some {RUN_FILE} of learn.train")
    ordered = [row for _, row in sorted(rows, key=itemgetter(0))]
    used = [name for name in ordered[0] if any(row[name] != "" for row in ordered)]
    return [{name: row[name] for name in used} for row in ordered]


def _list_differences(paths: Sequence[Path]) -> list[str]:
    """The overrides of each run that not all runs have."""
    files = [path.with_name(OVERRIDES) for path in paths]
    given = [yaml.safe_load(file.read_text(encoding="utf-8")) if file.exists() else [] for file in files]
    common = set.intersection(*map(set, given)) if given else set()
    return [" ".join(one for one in each if one not in common) for each in given]


def _make_key(record: Mapping[str, Any]) -> tuple[Any, ...]:
    return record["domains"], _describe_training(record), record["encoding"]


def _describe_training(record: Mapping[str, Any]) -> str:
    data = record["data"]
    what = " + ".join(record["domains"] or data.get("problems", ()))
    return what if data["kind"] == "published" else f"{what}, {data['data']['instances']} {data['kind']}"


def _make_row(record: Mapping[str, Any]) -> dict[str, Any]:
    metrics = record["metrics"]
    return {
        "trained on": _describe_training(record),
        "encoding": record["encoding"],
        "objective": record["objective"],
        "base": record["base"],
        "seed": record["seed"],
        **{heading: int(metrics[name]) if name in metrics else "" for heading, name in COUNTS.items()},
        **{heading: metrics.get(name, "") for heading, name in COLUMNS.items()},
        "seconds": round(record["seconds"]),
    }
