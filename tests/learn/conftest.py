"""Trainings with settings composed from the real files."""

import json
from pathlib import Path

import pytest
import torch

from epigym.io.progress import Stage
from learn.train import Train, train
from tests.helpers.commands import compose
from tests.helpers.runs import Fit, Stages


@pytest.fixture(autouse=True, scope="session")
def one_thread() -> None:
    torch.set_num_threads(1)


@pytest.fixture
def fit(tmp_path: Path) -> Fit:
    """Trains as the command does with some overrides, in a folder `run`; returns the metrics of the run."""

    def make(*overrides: str, run: str = "run") -> dict[str, float]:
        folder = tmp_path / run
        train(compose(Train, "train", f"run_dir={folder}", *overrides))
        metrics: dict[str, float] = json.loads((folder / "run.json").read_text())["metrics"]
        return metrics

    return make


@pytest.fixture
def stages(monkeypatch: pytest.MonkeyPatch) -> Stages:
    """What the stages of a command show, by their names."""
    found: Stages = {}
    update = Stage.update

    def watch(stage: Stage, done: float, text: str) -> None:
        found.setdefault(stage.name, []).append(text)
        update(stage, done, text)

    monkeypatch.setattr(Stage, "update", watch)
    return found
