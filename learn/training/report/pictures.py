"""Pictures of rollouts and training runs, as PNG files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray

from epigym.drawing.axes import use_log_scale
from epigym.io.files import replacing

_TRAINING, _VALIDATION = "#dd6b20", "#2b6cb0"  # colours by kind of samples
_SAMPLES = "#4a5568"


def draw_curves(history: Sequence[Mapping[str, float]], best: Mapping[str, float], path: Path) -> None:
    """Training and validation loss and the validation errors over the optimizer steps.

    Args:
        history: rows of metrics, see `learn.training.resuming.History.rows`.
        best: the row of the best network.
        path: the PNG file.
    """
    figure = Figure(figsize=(10, 4), layout="constrained")
    left, right = figure.subplots(1, 2)
    curves = (
        (left, "train/loss", "training", _TRAINING, "-"),
        (left, "val/loss", "validation", _VALIDATION, "--"),  # dashes show what lies below
        (right, "val/mae", "MAE", _VALIDATION, "-"),
        (right, "val/rmse", "RMSE", _VALIDATION, "--"),
    )
    for axes, name, label, colour, line in curves:
        rows = [row for row in history if name in row]
        axes.plot([row["step"] for row in rows], [row[name] for row in rows], label=label, color=colour, linestyle=line)
    left.set(xlabel="step", ylabel="loss (MSE of normalised distance)")
    right.set(xlabel="step", ylabel="validation error [steps]")
    for axes in (left, right):
        use_log_scale(axes, "y")
        axes.xaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))
        axes.axvline(best["step"], color="0.6", linestyle=":", label="best network")
        axes.legend(frameon=False)
    _save(figure, path)


def draw_search_curves(history: Sequence[Mapping[str, float]], best: Mapping[str, float], path: Path) -> None:
    """Training loss, and solved validation problems and expanded nodes, over the epochs.

    Args:
        history: rows of metrics, see `learn.training.resuming.History.rows`; stopped validations are omitted.
        best: the row of the best network.
        path: the PNG file.
    """
    figure = Figure(figsize=(12, 4), layout="constrained")
    loss, solved, expanded = figure.subplots(1, 3)
    ended = [row for row in history if row.get("val/stopped") == 0]
    curves = (
        (loss, "train/loss", "training loss", _TRAINING, [row for row in history if "train/loss" in row]),
        (solved, "val/solved", f"solved of {best['val/problems']:.0f} validation problems", _VALIDATION, ended),
        (expanded, "val/expanded", "nodes expanded on them", _VALIDATION, ended),
    )
    for axes, name, label, colour, rows in curves:
        axes.plot([row["epoch"] for row in rows], [row[name] for row in rows], color=colour, marker=".")
        axes.axvline(best["epoch"], color="0.6", linestyle=":", label="best network")
        axes.set(xlabel="epoch", ylabel=label)
        axes.xaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))
        axes.legend(frameon=False)
    solved.yaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))
    for axes in (loss, expanded):
        use_log_scale(axes, "y")
    _save(figure, path)


def draw_predictions(predicted: NDArray[np.floating], true: NDArray[np.floating], stem: str) -> None:
    """Draw predicted against true distances, and the mean absolute and mean error for each true distance.

    Args:
        predicted: float[k], in steps.
        true: float[k], in steps.
        stem: beginning of the paths of both PNG files, before `predictions.png` and `errors.png`.
    """
    classes = np.unique(true)
    groups = [predicted[true == value] for value in classes]
    largest = max(float(true.max()), float(predicted.max())) + 0.5
    figure = Figure(figsize=(6, 5.5), layout="constrained")
    axes = figure.subplots()
    axes.plot([0, largest], [0, largest], color="0.6", linestyle=":", label="exact")
    below = axes.get_xaxis_transform()
    axes.boxplot(groups, positions=classes, widths=0.6, manage_ticks=False, flierprops={"markersize": 2})
    for value, group in zip(classes, groups, strict=True):
        axes.text(value, 0.01, f"{len(group)}", transform=below, ha="center", size=7, color="0.4")
    axes.set(xlim=(-0.7, largest), ylim=(-0.5, largest))
    axes.set(xlabel="true distance [steps]", ylabel="predicted distance [steps]")
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))
    axes.legend(frameon=False, loc="upper left")
    _save(figure, Path(f"{stem}predictions.png"))

    errors = [group - value for value, group in zip(classes, groups, strict=True)]
    figure = Figure(figsize=(6, 4), layout="constrained")
    axes = figure.subplots()
    axes.bar(classes, [np.abs(error).mean() for error in errors], color=_VALIDATION, label="mean absolute error")
    axes.plot(classes, [error.mean() for error in errors], color="black", marker="o", label="mean error")
    axes.axhline(0, color="0.6", linewidth=0.8)
    axes.set(xlabel="true distance [steps]", ylabel="error [steps]")
    axes.xaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))
    axes.legend(frameon=False)
    _save(figure, Path(f"{stem}errors.png"))


def draw_rollouts(counts: Sequence[Mapping[str, Any]], path: Path) -> None:
    """Draw the number of samples at each distance and at each depth, over all problems of a data set.

    Args:
        counts: of the rows of the data set, see `learn.data.dataset.Row`.
        path: the PNG file.
    """
    figure = Figure(figsize=(9, 3.5), layout="constrained")
    for axes, name in zip(figure.subplots(1, 2), ("distances", "depths"), strict=True):
        total = [sum(column) for column in zip_longest(*(one[name] for one in counts), fillvalue=0)]
        axes.bar(range(len(total)), total, color=_SAMPLES)
        axes.set(xlabel={"distances": "steps to the nearest goal", "depths": "depth of the e-state"}[name])
        axes.set(ylabel="samples", ylim=(0.8, None))
        use_log_scale(axes, "y")
        axes.xaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))
    _save(figure, path)


def _save(figure: Figure, path: Path) -> None:
    """Write a picture atomically; make its folder if necessary."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path) as temporary:
        figure.savefig(temporary, dpi=120, format="png")
