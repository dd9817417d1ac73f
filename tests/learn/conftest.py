"""Small data sets, and configurations composed from the real files."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from hydra import compose, initialize_config_module
from omegaconf import DictConfig

from learn.data.collecting import collect
from learn.data.dataset import DataSet

PROBLEM = "collaboration_communication/2_2_3_pl_6"  # 225 e-states
HASH = {"name": "hash", "width": 64}

Compose = Callable[..., DictConfig]


@pytest.fixture(autouse=True, scope="session")
def one_thread() -> None:
    torch.set_num_threads(1)


@pytest.fixture(scope="session")
def small_set(tmp_path_factory: pytest.TempPathFactory) -> DataSet:
    """The data set of a small problem under the hash encoding."""
    (data,) = collect([PROBLEM], "default", {"name": "exhaustive"}, HASH, tmp_path_factory.mktemp("outputs"))
    return data


@pytest.fixture
def compose_config(tmp_path: Path) -> Compose:
    """Composes `conf/<name>.yaml` with overrides, for a run in a folder of its own."""

    def make(name: str, *overrides: str, run: str = "run") -> DictConfig:
        folders = [f"outputs={tmp_path}", f"run_dir={tmp_path / run}"]
        with initialize_config_module("conf", version_base="1.3"):
            return compose(name, [*folders, *overrides])

    return make
