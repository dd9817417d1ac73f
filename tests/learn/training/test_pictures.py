"""The pictures of trainings: plain numbers, one meaning for each colour, and lines that do not hide each other."""

from pathlib import Path

import numpy as np
import pytest
from matplotlib.figure import Figure

from learn.training.report import pictures

HISTORY = [
    {
        "step": 10 * epoch + 10, "epoch": epoch + 1, "train/loss": 1e-3 / (epoch + 1), "val/loss": 1e-3 / (epoch + 1),
        "val/mae": 1.5, "val/rmse": 1.5, "val/stopped": 0, "val/problems": 24, "val/solved": 20 + epoch,
        "val/expanded": 1e6 * (epoch + 1),
    }
    for epoch in range(2)
]  # fmt: skip
FIRST = {name: 0 if name in ("step", "epoch") else value for name, value in HISTORY[0].items() if name != "train/loss"}
"""Before training."""
COUNTED = ("step", "epoch", "solved", "true distance", "depth", "predicted")


@pytest.fixture
def figures(monkeypatch: pytest.MonkeyPatch) -> list[Figure]:
    """All pictures, of two epochs whose errors are equal."""
    drawn: list[Figure] = []
    monkeypatch.setattr(pictures, "_save", lambda figure, path: drawn.append(figure))
    pictures.draw_curves(HISTORY, HISTORY[-1], Path())
    pictures.draw_search_curves(HISTORY, HISTORY[-1], Path())
    pictures.draw_search_curves([FIRST, HISTORY[0]], HISTORY[0], Path())
    pictures.draw_rollouts([{"distances": [5, 20000], "depths": [1, 300]}], Path())
    pictures.draw_predictions(np.array([0.5, 1.0, 2.0]), np.array([0.0, 1.0, 2.0]), "")
    for figure in drawn:
        figure.draw_without_rendering()
    return drawn


def test_ticks_are_plain_and_what_is_counted_has_whole_ones(figures: list[Figure]) -> None:
    for axes in (axes for figure in figures for axes in figure.axes):
        labels = [tick.get_text() for axis in (axes.xaxis, axes.yaxis) for tick in axis.get_ticklabels()]
        assert not [label for label in labels if "e" in label or "$" in label]
        for axis in (axes.xaxis, axes.yaxis):
            if axis.get_label_text().startswith(COUNTED):
                assert [tick for tick in axis.get_majorticklocs() if tick != int(tick)] == []


def test_a_colour_means_one_kind_of_samples_and_no_line_hides_another(figures: list[Figure]) -> None:
    meaning = {}
    for axes in (axes for figure in figures[:3] for axes in figure.axes):
        lines = [line for line in axes.get_lines() if not str(line.get_label()).startswith("best network")]
        assert len({line.get_linestyle() for line in lines}) == len(lines)
        for line in lines:
            is_training = "training" in (line.get_label(), axes.get_ylabel().partition(" ")[0])
            assert meaning.setdefault(line.get_color(), is_training) == is_training
    assert sorted(meaning.values()) == [False, True]


def draw(monkeypatch: pytest.MonkeyPatch, history: list[dict[str, float]], best: dict[str, float]) -> list[Figure]:
    """The curves of a training that is validated by loss, and of one that is validated by search."""
    drawn: list[Figure] = []
    monkeypatch.setattr(pictures, "_save", lambda figure, path: drawn.append(figure))
    pictures.draw_curves(history, best, Path())
    pictures.draw_search_curves(history, best, Path())
    return drawn


@pytest.mark.parametrize(("scale", "steps"), [(1e-4, 1), (1, 2), (1.0001, 81), (7, 400), (1e6, 100_000)])
def test_each_axis_has_three_labelled_ticks(monkeypatch: pytest.MonkeyPatch, scale: float, steps: int) -> None:
    """Whatever the values are, and how many times one is another."""
    ends = {"step": steps, "val/solved": 1, "val/problems": 1, "val/expanded": 10 * scale, "val/mae": 3 * scale}
    drawn = draw(monkeypatch, [FIRST, {**HISTORY[0], **ends}, {**HISTORY[1], **ends}], HISTORY[0])
    for figure in drawn:
        figure.draw_without_rendering()
    for axis in (axis for figure in drawn for axes in figure.axes for axis in (axes.xaxis, axes.yaxis)):
        low, high = axis.get_view_interval()
        ticks = zip(axis.get_majorticklocs(), axis.get_ticklabels(), strict=True)
        shown = {label.get_text() for place, label in ticks if low <= place <= high}
        assert len(shown - {""}) >= 3


def test_no_curve_is_invisible_and_no_panel_has_one_dot(monkeypatch: pytest.MonkeyPatch) -> None:
    losses, search = draw(monkeypatch, [FIRST, HISTORY[0]], HISTORY[0])
    assert [axes.get_ylabel() for axes in search.axes] == [
        "solved of 24 validation problems", "expansions on 24 validation problems",
    ]  # fmt: skip
    [training] = [line for line in losses.axes[0].get_lines() if line.get_label() == "training"]
    assert (len(training.get_xdata()), training.get_marker()) == (1, "o")
    losses, search = draw(monkeypatch, HISTORY, HISTORY[0])
    assert search.axes[0].get_ylabel() == "training loss"
    losses, search = draw(monkeypatch, [FIRST], FIRST)
    assert [line.get_label() for line in losses.axes[0].get_lines()] == [
        "validation", "best network: epoch 0, step 0",
    ]  # fmt: skip


def test_validations_that_were_cut_short_are_open_marks_at_their_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    cut = {**HISTORY[1], "epoch": 3, "step": 30, "val/stopped": 1, "val/solved": 19, "val/expanded": 5e5}
    last = {**HISTORY[1], "epoch": 4, "step": 40}
    _, search = draw(monkeypatch, [FIRST, *HISTORY, cut, last], HISTORY[1])
    for axes, bound in zip(search.axes[1:], (19, 5e5), strict=True):
        whole, marks, best = axes.get_lines()
        assert list(whole.get_xdata()) == [0, 10, 20, 40]
        assert (list(marks.get_xdata()), list(marks.get_ydata())) == ([30], [bound])
        assert (marks.get_linestyle(), marks.get_markerfacecolor()) == ("None", "none")
        assert (best.get_label(), best.get_xdata()[0]) == ("best network: epoch 2, step 20", 20)
        legend = axes.get_legend()
        assert legend is not None
        assert [text.get_text() for text in legend.get_texts()][1] == "cut short: bound"
