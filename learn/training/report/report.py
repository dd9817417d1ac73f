"""The record of a training run, and the errors of baselines."""

from __future__ import annotations

import platform
import shlex
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from epigym.io.checksummed import write_checksummed
from epigym.io.tables import Table
from learn.models.files import MODEL_FILE
from learn.training.batches import StateSamples
from learn.training.module import StepErrors
from learn.training.options import RUN_FILE

_FILES = (MODEL_FILE, "curves.png", "predictions.png", "errors.png", "metrics.csv", RUN_FILE)
_LOGS = "events.out.tfevents.*"  # of TensorBoard


def measure_errors(predicted: torch.Tensor, true: torch.Tensor) -> dict[str, float]:
    """The metrics of `StepErrors` by name for predicted and true distances in steps, float[k] each."""
    errors = StepErrors(sync_on_compute=False)
    errors.update(predicted, true)
    return {metric: float(value) for metric, value in errors.compute().items()}


def measure_baselines(train: StateSamples, validation: StateSamples) -> dict[str, float]:
    """Measure errors in steps of two baselines on the validation samples.

    Returns:
        Metrics `median/…` of the median training distance, and `goal_count/…` of the goal count.
    """
    true = torch.from_numpy(validation.distance).float()
    median = torch.full_like(true, float(np.median(train.distance)))
    goal_count = torch.from_numpy(_count_goals(validation)).float()
    metrics: dict[str, float] = {}
    for name, predicted in (("median", median), ("goal_count", goal_count)):
        metrics |= {f"{name}/{metric}": value for metric, value in measure_errors(predicted, true).items()}
    return metrics


def _count_goals(samples: StateSamples) -> NDArray[np.int64]:
    """int64[k]: the number of unsatisfied subgoals of each sample."""
    counts = []
    for number, pairs in enumerate(samples.states.problems):
        holds = pairs.space.query(pairs.space.task.goal)
        counts.append(np.count_nonzero(~holds(pairs.ids[samples.row[samples.problem == number]]), axis=1))
    return np.concatenate(counts)


def write_record(record: Mapping[str, Any], path: Path) -> None:
    """Write the record of a finished run with the versions of packages and a checksum."""
    versions = {name: version(name) for name in ("epigym", "lightning", "numpy", "torch", "torch-geometric")}
    write_checksummed(path, {**record, "versions": {"python": platform.python_version(), **versions}})


def list_files(run_dir: Path) -> list[str]:
    """Lines that name the files of a training to look at, and the command that shows its logs if there are some.

    Args:
        run_dir: folder of the run.
    """
    names = [name for name in _FILES if (run_dir / name).exists()]
    lines = [f"files: {run_dir}/{{{','.join(names)}}}"]
    if any(run_dir.rglob(_LOGS)):
        lines.append(shlex.join(["tensorboard", "--logdir", str(run_dir)]))
    return lines


def make_metrics_table(metrics: Mapping[str, float]) -> Table:
    """The table of the kept network beside baselines."""
    if "val/problems" in metrics:
        rows = [
            [name, *_count(metrics, key)]
            for key, name in (("val", "network"), ("untrained", "before training"), ("last", "after the last step"))
            if f"{key}/solved" in metrics
        ]
        title = f"greedy search on {metrics['val/problems']:.0f} validation problems"
        note = (
            "the last validation was cut short when it could no longer be the best"
            if metrics.get("last/stopped")
            else ""
        )
        return Table(title, ("heuristic", "solved", "expanded"), rows, note=note)
    rows = []
    for key, name in (("val", "network"), ("median", "median distance"), ("goal_count", "goal count")):
        mae, rmse, r2, near = (metrics[f"{key}/{metric}"] for metric in ("mae", "rmse", "r2", "within_half"))
        rows.append([name, f"{mae:.3f}", f"{rmse:.3f}", f"{r2:.3f}", f"{near:.1%}"])
    titles = ("predictor", "MAE", "RMSE", "R²", "within half a step")
    return Table("errors on held-out samples, in steps", titles, rows)


def _count(metrics: Mapping[str, float], key: str) -> list[str]:
    """Solved problems and expansions of a validation, or the bounds that are known of one that was cut short."""
    most, least = ("at most ", "at least ") if metrics[f"{key}/stopped"] else ("", "")
    return [f"{most}{metrics[f'{key}/solved']:.0f}", f"{least}{metrics[f'{key}/expanded']:,.0f}"]
