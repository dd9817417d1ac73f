from __future__ import annotations

import csv
import logging
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import learn.assess
from epigym.errors import EpigymError
from epigym.problem import load_problem
from learn.assess import assess, predict
from learn.data.dataset import DataSet
from learn.data.explorers import ExplorerSettings, explore
from learn.model.checkpoints import Trained
from learn.model.scorer import RegressorScorer
from tests.helpers.trained import random_regressor
from tests.learn.conftest import PROBLEM, Compose

UNSOLVABLE = "selective_communication/10_8_pl_9"


def test_predictions_are_the_scores_of_the_states(small_set: DataSet) -> None:
    space = explore(load_problem(PROBLEM), ExplorerSettings(name="exhaustive")).space
    model = random_regressor()
    scores = RegressorScorer(model, space).score(small_set.samples.state)
    assert scores.std() > 0.01
    assert np.abs(predict(model, small_set) - scores).max() < 1e-4


@pytest.fixture
def doubling(monkeypatch: pytest.MonkeyPatch) -> None:
    """A regressor that predicts twice the true distance."""
    monkeypatch.setattr(learn.assess, "chosen", lambda path, domain: "some.ckpt")
    monkeypatch.setattr(learn.assess, "load", lambda path: replace(random_regressor(), path=Path(path)))

    def double(trained: Trained, data: DataSet) -> np.ndarray:
        return 2 * data.samples.distance.astype(np.float32)

    monkeypatch.setattr(learn.assess, "predict", double)


@pytest.mark.usefixtures("doubling")
def test_errors_and_ranks_of_a_whole_problem(compose_config: Compose, tmp_path: Path, small_set: DataSet) -> None:
    (row,) = assess(compose_config("assess", f"problem={PROBLEM}", "explorer=exhaustive"))
    distance, open_goals = small_set.samples.distance, small_set.samples.open_goals
    assert row["samples"] == len(distance)
    assert row["steps"] == distance.max()
    assert row["MAE"] == pytest.approx(distance.mean())
    assert row["SUB MAE"] == pytest.approx(np.abs(distance - open_goals).mean())
    assert row["R²"] == pytest.approx(1 - np.square(distance).sum() / np.square(distance - distance.mean()).sum())
    assert row["rank"] == pytest.approx(1)
    assert 0 < row["SUB rank"] < 1
    with (tmp_path / "run" / "assessment.csv").open(newline="") as file:
        (stored,) = csv.DictReader(file)
    assert stored["problem"] == PROBLEM
    name = PROBLEM.replace("/", "_")
    pictures = {path.name for path in (tmp_path / "run").glob("*.png")}
    assert pictures == {f"{name}_predictions.png", f"{name}_errors.png"}


@pytest.mark.usefixtures("doubling")
def test_problems_without_a_goal_are_left_out(compose_config: Compose, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        (row,) = assess(compose_config("assess", f"problem=[{UNSOLVABLE},{PROBLEM}]", "explorer=exhaustive"))
    assert row["problem"] == PROBLEM
    assert f"{UNSOLVABLE} is left out: no goal of" in caplog.text
    with pytest.raises(EpigymError, match="no problem is left"):
        assess(compose_config("assess", f"problem={UNSOLVABLE}", "explorer=exhaustive"))


@pytest.mark.usefixtures("doubling")
def test_a_wrong_problem_is_an_error(compose_config: Compose) -> None:
    with pytest.raises(EpigymError, match="nowhere"):
        assess(compose_config("assess", f"problem=[{PROBLEM},grapevine/nowhere]", "explorer=exhaustive"))


def test_something_to_test_on_is_needed(compose_config: Compose) -> None:
    with pytest.raises(EpigymError, match="nothing to test on"):
        assess(compose_config("assess"))
    with pytest.raises(EpigymError, match="did you mean 'grapevine'"):
        assess(compose_config("assess", "domain=grapevin"))
