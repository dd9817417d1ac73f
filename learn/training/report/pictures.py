"""Pictures of rollouts and training runs, as PNG files."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray

from epigym.drawing.axes import use_log_scale
from epigym.io.files import replacing

_TRAINING, _VALIDATION = "#dd6b20", "#2b6cb0"  # colours by kind of samples
_SAMPLES = "#4a5568"
_BOUNDS = {"val/solved": "v", "val/expanded": "^"}  # marks: at most, at least
_MARKED = 40  # most points of a curve that have marks


class _Curve(NamedTuple):
    metric: str
    label: str
    colour: str
    line: str = "-"


class _Panel(NamedTuple):
    label: str
    curves: Sequence[_Curve]
    most: float | None = None  # of what is counted; None: a logarithmic axis


def draw_curves(history: Sequence[Mapping[str, float]], best: Mapping[str, float], path: Path) -> None:
    """Training and validation loss and the validation errors over the optimizer steps.

    Args:
        history: rows of metrics, see `learn.training.resuming.History.rows`.
        best: the row of the best network.
        path: the PNG file.
    """
    losses = (
        _Curve("train/loss", "training", _TRAINING),
        _Curve("val/loss", "validation", _VALIDATION, "--"),  # dashes show what lies below
    )
    errors = (_Curve("val/mae", "MAE", _VALIDATION), _Curve("val/rmse", "RMSE", _VALIDATION, "--"))
    panels = (_Panel("loss (MSE of normalised distance)", losses), _Panel("validation error [steps]", errors))
    _save(_draw_panels(panels, history, best), path)


def draw_search_curves(history: Sequence[Mapping[str, float]], best: Mapping[str, float], path: Path) -> None:
    """Training loss, and solved validation problems and expansions on them, over the optimizer steps.

    Validations that were cut short are open marks at their bounds: triangles that point down for at most, up for at
    least.

    Args:
        history: rows of metrics, see `learn.training.resuming.History.rows`.
        best: the row of the best network.
        path: the PNG file.
    """
    count = best["val/problems"]
    problems = f"{count:.0f} validation problems"
    panels = (
        _Panel("training loss", [_Curve("train/loss", "training", _TRAINING)]),
        _Panel(f"solved of {problems}", [_Curve("val/solved", "validation", _VALIDATION)], count),
        _Panel(f"expansions on {problems}", [_Curve("val/expanded", "validation", _VALIDATION)]),
    )
    _save(_draw_panels(panels, history, best), path)


def _draw_panels(panels: Sequence[_Panel], history: Sequence[Mapping[str, float]], best: Mapping[str, float]) -> Figure:
    """Draw panels beside each other; those whose curves have one point at most are left out if there are others."""

    def has_line(panel: _Panel) -> bool:
        return any(sum(curve.metric in row for row in history) > 1 for curve in panel.curves)

    shown = list(filter(has_line, panels)) or panels
    figure = Figure(figsize=(5 * len(shown), 4), layout="constrained")
    for axes, panel in zip(figure.subplots(1, len(shown), squeeze=False)[0], shown, strict=True):
        for curve in panel.curves:
            if rows := [row for row in history if curve.metric in row]:
                _draw_curve(axes, curve, rows)
        chosen = f"best network: epoch {best['epoch']:.0f}, step {best['step']:,.0f}"
        axes.axvline(best["step"], color="0.6", linestyle=":", label=chosen)
        axes.set(xlabel="step", ylabel=panel.label)
        _count_on(axes, "x", max(row["step"] for row in history))
        if panel.most is None:
            use_log_scale(axes, "y")
        else:
            _count_on(axes, "y", panel.most)
        axes.legend(frameon=False)
    return figure


def _draw_curve(axes: Axes, curve: _Curve, rows: Sequence[Mapping[str, float]]) -> None:
    """Draw a metric, and as open marks its bounds where validations were cut short."""
    bounds = [row for row in rows if row.get("val/stopped") and curve.metric in _BOUNDS]
    whole = [row for row in rows if row not in bounds]
    axes.plot(
        *_list_points(whole, curve.metric),
        color=curve.colour,
        label=curve.label,
        linestyle=curve.line,
        marker="o" if len(whole) <= _MARKED else "",
        markersize=4,
    )
    if bounds:
        axes.plot(
            *_list_points(bounds, curve.metric),
            color=curve.colour,
            label="cut short: bound",
            linestyle="",
            marker=_BOUNDS[curve.metric],
            markerfacecolor="none",
        )


def _list_points(rows: Sequence[Mapping[str, float]], metric: str) -> tuple[list[float], list[float]]:
    return [row["step"] for row in rows], [row[metric] for row in rows]


def _count_on(axes: Axes, which: Literal["x", "y"], most: float) -> None:
    """Let an axis count from 0 to a number, with at least three ticks at whole numbers."""
    most = max(most, 2)
    axes.set(**{f"{which}lim": (-0.04 * most, 1.04 * most)})
    axis = axes.xaxis if which == "x" else axes.yaxis
    axis.set_major_locator(MaxNLocator(integer=True, nbins=8, min_n_ticks=3, steps=[1, 2, 5, 10]))
    axis.set_major_formatter("{x:,.0f}")


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


def draw_ratios(rows: Sequence[Mapping[str, Any]], path: Path) -> None:
    """Draw the expansions of networks as shares of those of the same search before training, with their intervals.

    Args:
        rows: see `learn.training.report.comparison.compare_runs`, the first one at the top.
        path: the PNG file.
    """
    figure = Figure(figsize=(9, 1.2 + 0.6 * len(rows)), layout="constrained")
    axes = figure.subplots()
    for place, row in enumerate(rows):
        is_sure = row["verdict"] in ("gain", "loss")
        if row["low"] != "":
            axes.plot([row["low"], row["high"]], [place, place], color=_VALIDATION)
        axes.plot(row["ratio"], place, "o", color=_VALIDATION, markerfacecolor=_VALIDATION if is_sure else "white")
    axes.axvline(1, color="0.6", linestyle=":")
    names = [f"{row['folder']} {row['differs']}: {row['verdict']}" for row in rows]
    axes.set_yticks(range(len(rows)), [textwrap.fill(name, 50) for name in names])
    axes.set(ylim=(len(rows) - 0.5, -0.5))
    use_log_scale(axes, "x")
    figure.supxlabel(
        "expansions as a share of those before training: geometric mean and 95 % interval; filled: p ≤ 0.05", size=9
    )
    _save(figure, path)


def _save(figure: Figure, path: Path) -> None:
    """Write a picture atomically; make its folder if necessary."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path) as temporary:
        figure.savefig(temporary, dpi=120, format="png")
