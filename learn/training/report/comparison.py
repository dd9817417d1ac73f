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
from learn.training.options import DIVERGED, OVERRIDES, RUN_FILE
from learn.training.verdict import UNTRAINED

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
    "goal count MAE": "goal_count/mae",
    "goal count R²": "goal_count/r2",
    "waiting": "train/waiting_share",
}
"""Headings of the table and their metrics: errors in steps on the validation samples, and shares."""


SHOWN = ("folder", "trained on", "differs", "validation", "verdict", "p", "ratio")
"""The columns on the terminal."""


def compare_runs(folder: Path) -> list[dict[str, Any]]:
    """One row for every finished run below a folder, by training problems; of equal ones the best validation is first.

    `differs` has the overrides of the command line in which the runs differ, such as those of a sweep. `verdict`, `p`
    and `ratio` compare the network with the same search before training, on the problems that decide its verdict; they
    do not change the order. Damaged records are skipped with a warning. Metrics that no run has are omitted; those that
    one lacks are empty.

    Raises:
        MissingError: when there is no finished run.
    """
    rows = []
    paths = sorted(folder.rglob(RUN_FILE))
    for path, differs in zip(paths, _list_differences(paths), strict=True):
        try:
            record = read_checksummed(path, "train again, or delete it")
            rows.append((_make_key(record), _make_row(record, str(path.parent.relative_to(folder)), differs)))
        except (EpigymError, KeyError, TypeError, ValueError) as error:
            reason = error if isinstance(error, EpigymError) else f"{path}: {error!r}"
            logger.warning("skipped the record of a run, damaged or of an earlier version: %s", reason)
    if not rows:
        raise MissingError(f"there is no finished run below {folder}: expected some {RUN_FILE} of learn.train")
    ordered = [row for _, row in sorted(rows, key=itemgetter(0))]
    used = [name for name in ordered[0] if name in SHOWN or any(row[name] != "" for row in ordered)]
    return [{name: row[name] for name in used} for row in ordered]


def _list_differences(paths: Sequence[Path]) -> list[str]:
    """The overrides of each run that not all runs have."""
    files = [path.with_name(OVERRIDES) for path in paths]
    given = [yaml.safe_load(file.read_text(encoding="utf-8")) if file.exists() else [] for file in files]
    common = set.intersection(*map(set, given)) if given else set()
    return [" ".join(one for one in each if one not in common and not one.startswith("run_dir=")) for each in given]


def _make_key(record: Mapping[str, Any]) -> tuple[Any, ...]:
    metrics = record["metrics"]
    return record["domains"], _describe_training(record), "val/problems" in metrics, metrics["val/score"]


def _describe_training(record: Mapping[str, Any]) -> str:
    data = record["data"]
    what = " + ".join(record["domains"] or data.get("problems", ()))
    return what if data["kind"] == "published" else f"{what}, {data['data']['instances']} {data['kind']}"


def _describe_validation(metrics: Mapping[str, float]) -> str:
    if "val/problems" in metrics:
        return (
            f"{metrics['val/solved']:.0f} of {metrics['val/problems']:.0f}, {metrics['val/expanded']:,.0f} expansions"
        )
    return f"loss {metrics['val/score']:.3g}"


def _make_row(record: Mapping[str, Any], folder: str, differs: str) -> dict[str, Any]:
    metrics = record["metrics"]
    return {
        "folder": folder,
        "trained on": _describe_training(record),
        "differs": differs,
        "validation": _describe_validation(metrics) + (", then diverged" if record["stopped"] == DIVERGED else ""),
        **_describe_verdict(record["verdict"]),
        "encoding": record["encoding"],
        "objective": record["objective"],
        "base": record["base"],
        "seed": record["seed"],
        **{heading: int(metrics[name]) if name in metrics else "" for heading, name in COUNTS.items()},
        **{heading: metrics.get(name, "") for heading, name in COLUMNS.items()},
        "seconds": round(record["seconds"]),
    }


def _describe_verdict(verdict: Mapping[str, Any] | None) -> dict[str, Any]:
    """The word, and p and ratio of expansions beside the same search before training; empty where there is none."""
    blank = {"verdict": "", "p": "", "ratio": "", "low": "", "high": ""}
    if verdict is None:
        return blank
    found = verdict["tiers"][-1]["comparisons"].get(UNTRAINED)
    if found is None:
        return blank | {"verdict": verdict["word"]}
    low, high = found["interval"] or ("", "")
    ratio = "" if found["ratio"] is None else found["ratio"]
    return {"verdict": verdict["word"], "p": found["p"], "ratio": ratio, "low": low, "high": high}
