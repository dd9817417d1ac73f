"""Trainings with settings composed from the real files."""

import json
from functools import partial
from pathlib import Path

import pytest
import torch

from learn.train import Train, train
from learn.training import example
from tests.helpers.commands import compose
from tests.helpers.runs import Fit


@pytest.fixture(autouse=True, scope="session")
def one_thread() -> None:
    torch.set_num_threads(1)


@pytest.fixture
def fit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Fit:
    """Trains as the command does with some overrides, in a folder `run`; returns the metrics of the run."""

    # Searching afterwards would take longer than training.
    monkeypatch.setattr(example, "find_solved", partial(example.find_solved, nodes=30))

    def make(*overrides: str, run: str = "run") -> dict[str, float]:
        folder = tmp_path / run
        train(compose(Train, "train", f"run_dir={folder}", *overrides))
        metrics: dict[str, float] = json.loads((folder / "run.json").read_text())["metrics"]
        return metrics

    return make
