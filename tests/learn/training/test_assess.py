import csv
import logging
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import learn.assess as command
from epigym.errors import EpigymError
from epigym.problem import load_problem
from epigym.space.space import StateSpace
from learn.data.explorers import ExplorerSettings
from learn.data.pairs import Pairs, make_rollout
from learn.models.calibration import Calibration
from learn.training.report import assessment
from tests.helpers.commands import compose
from tests.helpers.runs import PAPER, PROBLEM, SEARCHED, Fit

UNSOLVABLE = "selective_communication/10_8_pl_9"


@pytest.fixture(scope="module")
def rollout() -> Pairs:
    """All e-states of a problem, with their distances."""
    return make_rollout(load_problem(PROBLEM), ExplorerSettings("exhaustive"))


@pytest.fixture
def doubling(monkeypatch: pytest.MonkeyPatch, rollout: Pairs) -> None:
    """A network whose values are ten more than the true distance, and its steps twice the distance."""
    monkeypatch.setattr(assessment, "find_checkpoint", lambda path, domain: "some.ckpt")

    def double(path: str, space: StateSpace) -> Any:
        assert path == "some.ckpt"
        distance = dict(zip(rollout.ids.tolist(), rollout.distance.tolist(), strict=True))
        steps = Calibration((10.0, 20.0), (0.0, 20.0))
        return SimpleNamespace(steps=steps, score=lambda ids: np.array([10.0 + distance[one] for one in ids.tolist()]))

    monkeypatch.setattr(assessment, "open_scorer", double)


def run(folder: Path, *overrides: str) -> list[dict[str, str]]:
    """Assess in a folder; the rows of the table."""
    command.assess(compose(command.Assess, "assess", f"run_dir={folder / 'run'}", *overrides))
    with (folder / "run" / "assessment.csv").open(newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.usefixtures("doubling")
def test_errors_and_ranks_of_a_whole_problem(tmp_path: Path, rollout: Pairs) -> None:
    (row,) = run(tmp_path, f"problem={PROBLEM}", "explorer=exhaustive")
    distance = rollout.distance
    goal = rollout.space.query(rollout.space.task.goal)
    goal_count = np.sum(~goal(rollout.ids), axis=1)
    assert row["problem"] == PROBLEM
    numbers = {name: float(value) for name, value in row.items() if name != "problem"}
    assert numbers["samples"] == len(distance)
    assert numbers["steps"] == distance.max()
    assert numbers["MAE"] == pytest.approx(distance.mean())
    assert numbers["SUB MAE"] == pytest.approx(np.abs(distance - goal_count).mean())
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
        command.assess(compose(command.Assess, "assess"))
    with pytest.raises(EpigymError, match="did you mean 'grapevine'"):
        command.assess(compose(command.Assess, "assess", "domain=grapevin"))


@pytest.mark.parametrize("overrides", [PAPER, (*SEARCHED, "encoding=relational", "base=h_ff")])
def test_a_trained_network_is_assessed(fit: Fit, tmp_path: Path, overrides: tuple[str, ...]) -> None:
    fit(*overrides, "trainer.max_epochs=2", run="trained")
    checkpoint = f"checkpoint={tmp_path}/trained/checkpoints/best.ckpt"
    (row,) = run(tmp_path, f"problem={PROBLEM}", checkpoint, "explorer=exhaustive")
    assert float(row["samples"]) == 225
    assert np.isfinite([float(row["MAE"]), float(row["R²"])]).all()
    assert float(row["MAE"]) < 10
