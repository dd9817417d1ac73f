"""The figures of a report, as PNG and PDF, and as SVG for its page."""

from __future__ import annotations

from io import StringIO
from math import ceil
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from epigym.drawing.axes import use_log_scale
from epigym.io.files import replacing
from search.reports.metrics import bootstrap, interquartile_mean, iqm
from search.reports.outcomes import COSTS, SearchOutcome, SearchOutcomes, values_of

_AGGREGATED = ("expanded", "time", "length")
_DOTS = 150  # per inch, of a PNG
_WIDTH = 4.4  # inches: text of 10 points is legible on a phone, which is as wide
_LINE = 0.2  # inches, a line of text
_BARS = 0.8  # height of the bars of a domain, as a share of the distance of two domains
_BAR = 0.15  # inches, the height of a bar
_SIDE_BY_SIDE = 20  # most letters of labels that a legend has in two columns
_LEAST = 0.01  # least value on a logarithmic axis
_LINES = ("-", (0, (4, 2)), (0, (1, 1)))  # styles in turn, so that equal lines stay visible
_BORDER = 3  # times the largest number: the place of undecided problems


def draw_coverage(outcomes: SearchOutcomes) -> Figure:
    """Draw the share of solved problems by domain, a bar for each configuration; only problems with outcomes count."""
    domains = {**outcomes.domains, "all": outcomes.problems}
    labels = [_escape(name).replace("_", "\n") for name in domains]
    lines = max(label.count("\n") + 1 for label in labels)
    figure, axes = _make_figure(max(_BAR * len(outcomes.configurations) / _BARS, _LINE * lines) * len(domains) + 0.6)
    width = _BARS / len(outcomes.configurations)
    for number, name in enumerate(outcomes.configurations):
        numbers = [
            [len(of(name, problems)) for of in (outcomes.select_solved, outcomes.select)]
            for problems in domains.values()
        ]
        shares = [solved / max(found, 1) for solved, found in numbers]
        axes.barh(np.arange(len(domains)) + number * width, shares, width, label=_escape(name), color=_colour(number))
    axes.set_yticks(np.arange(len(domains)) + (_BARS - width) / 2, labels)
    top = (_BARS - width - 1) / 2
    axes.set(xlim=(0, 1), ylim=(top + len(domains), top), xlabel="solved")
    axes.xaxis.set_major_formatter("{x:.0%}")
    _add_legend(figure)
    return figure


def draw_aggregates(outcomes: SearchOutcomes) -> Figure:
    """Draw the IQM of nodes, time and plan length on the common problems, with 95 % bootstrap intervals."""
    shared = outcomes.find_common(outcomes.problems)
    height = len(_AGGREGATED) * (0.25 * len(outcomes.configurations) + 0.7) + 0.5
    figure = Figure(figsize=(_WIDTH, height), layout="constrained")
    panels = figure.subplots(len(_AGGREGATED), 1, sharey=True)
    for axes, measure in zip(panels, _AGGREGATED, strict=True):
        for number, name in enumerate(outcomes.configurations):
            values = values_of(outcomes.select_solved(name, shared), measure)
            if values:
                low, high = bootstrap(values, interquartile_mean)
                axes.plot([low, high], [number, number], color=_colour(number), linewidth=6, alpha=0.35)
                axes.plot(iqm(values).mean, number, "|", color=_colour(number), markersize=14, markeredgewidth=2)
        axes.set_xlabel(COSTS[measure].label)
        if measure != "length":
            use_log_scale(axes, "x")
        axes.grid(axis="x", alpha=0.3)
    panels[0].set_yticks(range(len(outcomes.configurations)), map(_escape, outcomes.configurations))
    panels[0].invert_yaxis()
    figure.suptitle(
        f"interquartile mean with 95 % interval\nover the {len(shared)} problems that all solved", fontsize="medium"
    )
    return figure


def draw_cactus(outcomes: SearchOutcomes, measure: str) -> Figure:
    """Draw the number of problems that each configuration solves within a budget of time or nodes."""
    figure, axes = _make_figure(3)
    for number, name in enumerate(outcomes.configurations):
        values = sorted(
            max(value, _LEAST) for value in values_of(outcomes.select_solved(name, outcomes.problems), measure)
        )
        if values:
            axes.step(
                [*values, values[-1]],
                range(len(values) + 1),
                where="pre",
                label=_escape(name),
                color=_colour(number),
                linestyle=_LINES[number % len(_LINES)],
            )
    use_log_scale(axes, "x")
    axes.yaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))
    axes.set(xlabel=COSTS[measure].label, ylabel="problems solved")
    axes.grid(alpha=0.3)
    _add_legend(figure)
    return figure


def draw_scatter(outcomes: SearchOutcomes, first: str, second: str) -> Figure:
    """Draw the nodes of two configurations on each problem; undecided problems lie on the border.

    Problems that one decided with an unknown number of nodes are left out.
    """
    pairs = [
        (domain, outcomes.table[first].get(problem), outcomes.table[second].get(problem))
        for domain, problems in outcomes.domains.items()
        for problem in problems
    ]
    known = [outcome.expanded for _, *both in pairs for outcome in both if outcome and outcome.expanded]
    border = _BORDER * max(known, default=1.0)
    figure, axes = _make_figure(_WIDTH)
    for number, domain in enumerate(outcomes.domains):
        points = [(_nodes(a, border), _nodes(b, border)) for name, a, b in pairs if name == domain and a and b]
        points = [point for point in points if None not in point]
        axes.plot(*np.array(points).reshape(-1, 2).T, "o", alpha=0.6, label=_escape(domain), color=_colour(number))
    axes.plot([1, border], [1, border], color="grey", linewidth=1)
    for line in (axes.axhline, axes.axvline):
        line(border, color="grey", linewidth=1, linestyle=":")
    axes.set(xlim=(0.7, 1.5 * border), ylim=(0.7, 1.5 * border), aspect="equal")
    use_log_scale(axes, "xy")
    axes.set(xlabel=f"expanded nodes of {_escape(first)}", ylabel=f"expanded nodes of {_escape(second)}")
    _add_legend(figure)
    return figure


def draw_ratios(outcomes: SearchOutcomes, baseline: str) -> Figure:
    """Draw nodes relative to a baseline against the baseline's plan length; lines join the medians."""
    figure, axes = _make_figure(3)
    for number, name in enumerate(outcomes.configurations):
        if name == baseline:
            continue
        by_length: dict[float, list[float]] = {}
        for outcome in outcomes.select_solved(baseline, outcomes.problems):
            for other in outcomes.select_solved(name, [outcome.problem]):
                if other.expanded and outcome.expanded and outcome.plan_length is not None:
                    by_length.setdefault(outcome.plan_length, []).append(other.expanded / outcome.expanded)
        points = [(length, ratio) for length, found in by_length.items() for ratio in found]
        axes.plot(*np.array(points).reshape(-1, 2).T, "o", alpha=0.3, color=_colour(number))
        lengths = sorted(by_length)
        axes.plot(
            lengths,
            [np.median(by_length[length]) for length in lengths],
            label=_escape(name),
            color=_colour(number),
            linestyle=_LINES[number % len(_LINES)],
        )
    axes.axhline(1, color="grey", linewidth=1)
    use_log_scale(axes, "y")
    axes.xaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))
    axes.set(xlabel=f"plan length of {_escape(baseline)}", ylabel=f"expanded nodes / those of {_escape(baseline)}")
    axes.grid(alpha=0.3)
    _add_legend(figure)
    return figure


def render_svg(figure: Figure) -> str:
    """The figure as an SVG document on a transparent ground; equal figures give equal texts."""
    with StringIO() as text, mpl.rc_context({"svg.hashsalt": "epigym"}):
        figure.savefig(text, format="svg", transparent=True, metadata={"Date": None})
        return text.getvalue()


def write_figure(figure: Figure, folder: Path, name: str) -> None:
    """Write a figure as PNG and PDF; equal figures give equal files."""
    folder.mkdir(parents=True, exist_ok=True)
    forms: dict[str, dict[str, Any]] = {"png": {"dpi": _DOTS}, "pdf": {"metadata": {"CreationDate": None}}}
    for form, options in forms.items():
        with replacing(folder / f"{name}.{form}") as file:
            figure.savefig(file, format=form, **options)


def _make_figure(height: float) -> tuple[Figure, Axes]:
    figure = Figure(figsize=(_WIDTH, height), layout="constrained")
    return figure, figure.subplots()


def _escape(text: str) -> str:
    """Escape a text, so that Matplotlib reads no formulas in it."""
    return text.replace("$", r"\$")


def _colour(number: int) -> tuple[float, float, float, float]:
    """Ten dark colours, then their light ones."""
    return mpl.colormaps["tab20"](2 * number % 20 + number // 10 % 2)


def _add_legend(figure: Figure) -> None:
    """Make the figure higher by a legend below its axes."""
    if labels := [label for axes in figure.axes for label in axes.get_legend_handles_labels()[1]]:
        columns = 2 if len(labels) > 1 and max(map(len, labels)) <= _SIDE_BY_SIDE else 1
        figure.set_figheight(figure.get_figheight() + _LINE * ceil(len(labels) / columns))
        figure.legend(frameon=False, loc="outside lower center", ncols=columns)


def _nodes(outcome: SearchOutcome, border: float) -> float | None:
    if not outcome.status.is_decided:
        return border
    return None if outcome.expanded is None else max(outcome.expanded, 1.0)
