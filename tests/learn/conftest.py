"""Trainings with settings composed from the real files."""

import json
from pathlib import Path

import pytest
import torch

from learn.train import Train, train
from tests.helpers.commands import compose
from tests.helpers.runs import Fit


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
