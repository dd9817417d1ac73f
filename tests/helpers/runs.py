"""Folders of trainings: their metrics, and whether two are alike."""

import csv
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

from learn.training.resuming import read_checkpoint

PROBLEM = "collaboration_communication/2_2_3_pl_6"  # 225 e-states
HASH = {"name": "hash", "width": 64}
PAPER = ("recipe=paper", f"problem={PROBLEM}", "trainer=cpu", "data.batch_size=40", "trainer.max_epochs=4")
"""A training of the paper's network, four steps an epoch."""
SEARCHED = ("domain=consecutive_numbers", "trainer=cpu", "data.instances=2", "data.expansions=8", "data.batch_size=64",
            "validation.problems=2", "validation.nodes=20", "model.network.width=4", "model.network.layers=2",
            "trainer.max_epochs=4", "trainer.check_val_every_n_epoch=1")  # fmt: skip
"""A training that is validated by search, of a second."""

Fit = Callable[..., dict[str, float]]


def rows_of(run: Path) -> list[dict[str, float]]:
    """The metrics of a training, without those that a row does not have."""
    with (run / "metrics.csv").open(newline="") as file:
        return [{name: float(value) for name, value in row.items() if value} for row in csv.DictReader(file)]


def is_same(first: Any, second: Any) -> bool:
    """Whether two values are equal, tensors bit by bit."""
    if isinstance(first, torch.Tensor):
        return first.dtype == second.dtype and torch.equal(first, second)
    if isinstance(first, dict):
        return first.keys() == second.keys() and all(is_same(first[name], second[name]) for name in first)
    if isinstance(first, list | tuple):
        return len(first) == len(second) and all(map(is_same, first, second))
    return bool(first == second)


def drop_seconds(rows: list[dict[str, float]]) -> list[dict[str, float]]:
    return [{name: value for name, value in row.items() if name != "seconds"} for row in rows]


def assert_same(first: Path, second: Path) -> None:
    """See that the folders of two runs hold the same checkpoints and metrics."""
    assert drop_seconds(rows_of(first)) == drop_seconds(rows_of(second))
    for name in ("best", "last"):
        one, two = (read_checkpoint(run / "checkpoints" / f"{name}.ckpt") for run in (first, second))
        assert one["global_step"] == two["global_step"]
        assert one.keys() == two.keys()
        for part in one.keys() - {"callbacks", "loops"}:  # these hold folders and seconds
            assert is_same(one[part], two[part]), (name, part)
