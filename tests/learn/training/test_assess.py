from __future__ import annotations

import csv
import logging
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import learn.assess as door
from epigym.errors import EpigymError
from epigym.problem import load_problem
from epigym.space.space import StateSpace
from epigym.space.traversal import breadth_first
from learn.data.dataset import DataSet
from learn.models.checkpoints import Trained
from learn.models.gine.scorer import RegressorScorer
from learn.training.report import assessment
from learn.training.report.assessment import predict
from tests.helpers.commands import composed
from tests.helpers.runs import PROBLEM
from tests.helpers.trained import random_regressor

UNSOLVABLE = "selective_communication/10_8_pl_9"


def test_predictions_are_the_scores_of_the_states(small_set: DataSet) -> None:
    space = StateSpace(load_problem(PROBLEM))
    for _ in breadth_first(space):  # numbers e-states as they were when the samples were made
        pass
    model = random_regressor()
    scores = RegressorScorer(model, space).score(small_set.samples.state)
    assert scores.std() > 0.01
    assert np.abs(predict(model, small_set) - scores).max() < 1e-4


@pytest.fixture
def doubling(monkeypatch: pytest.MonkeyPatch) -> None:
    """A regressor that predicts twice the true distance."""
    monkeypatch.setattr(assessment, "chosen", lambda path, domain: "some.ckpt")
    monkeypatch.setattr(assessment, "load", lambda path: replace(random_regressor(), path=Path(path)))

    def double(trained: Trained, data: DataSet) -> np.ndarray:
        return 2 * data.samples.distance.astype(np.float32)

    monkeypatch.setattr(assessment, "predict", double)


def run(folder: Path, *overrides: str) -> list[dict[str, str]]:
    """Assess in a folder; the rows of the table."""
    door.assess(composed(door.Assess, "assess", f"outputs={folder}", f"run_dir={folder / 'run'}", *overrides))
    with (folder / "run" / "assessment.csv").open(newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.usefixtures("doubling")
def test_errors_and_ranks_of_a_whole_problem(tmp_path: Path, small_set: DataSet) -> None:
    (row,) = run(tmp_path, f"problem={PROBLEM}", "explorer=exhaustive")
    distance, open_goals = small_set.samples.distance, small_set.samples.open_goals
    assert row["problem"] == PROBLEM
    numbers = {name: float(value) for name, value in row.items() if name not in ("problem", "encoding")}
    assert numbers["samples"] == len(distance)
    assert numbers["steps"] == distance.max()
    assert numbers["MAE"] == pytest.approx(distance.mean())
    assert numbers["SUB MAE"] == pytest.approx(np.abs(distance - open_goals).mean())
    assert numbers["R²"] == pytest.approx(1 - np.square(distance).sum() / np.square(distance - distance.mean()).sum())
    assert numbers["rank"] == pytest.approx(1)
    assert 0 < numbers["SUB rank"] < 1
    name = PROBLEM.replace("/", "_")
    pictures = {path.name for path in (tmp_path / "run").glob("*.png")}
    assert pictures == {f"{name}_predictions.png", f"{name}_errors.png"}


@pytest.mark.usefixtures("doubling")
def test_problems_without_a_goal_are_left_out(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        (row,) = run(tmp_path, f"problem=[{UNSOLVABLE},{PROBLEM}]", "explorer=exhaustive")
    assert row["problem"] == PROBLEM
    assert f"{UNSOLVABLE} is left out: no goal of" in caplog.text
    with pytest.raises(EpigymError, match="no problem is left"):
        run(tmp_path, f"problem={UNSOLVABLE}", "explorer=exhaustive")


@pytest.mark.usefixtures("doubling")
def test_a_wrong_problem_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(EpigymError, match="nowhere"):
        run(tmp_path, f"problem=[{PROBLEM},grapevine/nowhere]", "explorer=exhaustive")


def test_something_to_test_on_is_needed() -> None:
    with pytest.raises(EpigymError, match="no problem is named"):
        door.assess(composed(door.Assess, "assess"))
    with pytest.raises(EpigymError, match="did you mean 'grapevine'"):
        door.assess(composed(door.Assess, "assess", "domain=grapevin"))
