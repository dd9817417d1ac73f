"""What a training run leaves behind: the history, the metrics, the pictures and the record of the run."""

from __future__ import annotations

import csv
import platform
from collections.abc import Iterable, Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from epigym.files import write_json, write_rows
from learn.training.loaders import Selection
from learn.training.module import StepErrors


def read_history(path: Path) -> list[dict[str, float]]:
    """The metrics by optimizer step, from the file of Lightning's CSV logger, which may have several rows for a step.

    Args:
        path: its `metrics.csv`.

    Returns:
        One row for each step after which an epoch ended or the model was validated, which may be apart.
    """
    steps: dict[int, dict[str, float]] = {}
    with path.open(newline="") as file:
        for row in csv.DictReader(file):
            values = {name: float(value) for name, value in row.items() if value}
            steps.setdefault(int(values["step"]), {}).update(values)
    return [steps[step] for step in sorted(steps)]


def best_row(history: Sequence[Mapping[str, float]]) -> Mapping[str, float]:
    """The row of the smallest validation loss, which is that of the best checkpoint."""
    return min((row for row in history if "val/loss" in row), key=lambda row: row["val/loss"])


def write_history(history: Sequence[Mapping[str, float]], path: Path) -> None:
    """Write the rows as CSV, epoch and step first."""
    names = sorted({name for row in history for name in row}, key=lambda name: ("/" in name, name))
    write_rows(path, names, history)


def step_errors(predicted: torch.Tensor, true: torch.Tensor) -> dict[str, float]:
    """The metrics of `StepErrors` by name, of predicted and true distances in steps, float[k] each."""
    errors = StepErrors(sync_on_compute=False)
    errors.update(predicted, true)
    return {metric: float(value) for metric, value in errors.compute().items()}


def baselines(train: Selection, validation: Selection) -> dict[str, float]:
    """Errors in steps on the validation samples of two predictors that know nothing of graphs.

    Returns:
        Under `median/…` those of the median training distance, under `open_goals/…` those of the number of
        open goals.
    """
    true = torch.from_numpy(column(validation, "distance").astype(np.float32))
    median = torch.full_like(true, float(np.median(column(train, "distance"))))
    open_goals = torch.from_numpy(column(validation, "open_goals").astype(np.float32))
    metrics: dict[str, float] = {}
    for name, predicted in (("median", median), ("open_goals", open_goals)):
        metrics |= {f"{name}/{metric}": value for metric, value in step_errors(predicted, true).items()}
    return metrics


def column(selection: Selection, name: str) -> NDArray[Any]:
    """One column of the samples of a selection."""
    parts = [
        getattr(data.samples, name)[selection.row[selection.problem == number]]
        for number, data in enumerate(selection.sets)
    ]
    return np.concatenate(parts)


def write_record(record: Mapping[str, Any], path: Path) -> None:
    """Write the record of a finished run with the versions it ran under; the file appears complete or not at all."""
    versions = {name: version(name) for name in ("epigym", "lightning", "numpy", "torch", "torch-geometric")}
    write_json(path, {**record, "versions": {"python": platform.python_version(), **versions}})


def joined(predictions: Iterable[tuple[torch.Tensor, torch.Tensor]]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Predicted and true distances, float32[k] each, of all batches."""
    predicted, true = zip(*predictions, strict=True)
    return torch.cat(predicted).numpy(), torch.cat(true).numpy()
