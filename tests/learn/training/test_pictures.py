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
COUNTED = ("step", "epoch", "solved", "true distance", "depth", "predicted")


@pytest.fixture
def figures(monkeypatch: pytest.MonkeyPatch) -> list[Figure]:
    """All pictures, of two epochs whose errors are equal."""
    drawn: list[Figure] = []
    monkeypatch.setattr(pictures, "_save", lambda figure, path: drawn.append(figure))
    pictures.draw_curves(HISTORY, HISTORY[-1], Path())
    pictures.draw_search_curves(HISTORY, HISTORY[-1], Path())
    pictures.draw_search_curves(HISTORY[:1], HISTORY[0], Path())
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
        lines = [line for line in axes.get_lines() if line.get_label() != "best network"]
        assert len({line.get_linestyle() for line in lines}) == len(lines)
        for line in lines:
            is_training = "training" in (line.get_label(), axes.get_ylabel().partition(" ")[0])
            assert meaning.setdefault(line.get_color(), is_training) == is_training
    assert sorted(meaning.values()) == [False, True]
