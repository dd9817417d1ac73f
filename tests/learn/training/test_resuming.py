"""A training that was interrupted and gone on with is, bit by bit, the one that was not."""

from __future__ import annotations

import random
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from lightning import Callback, LightningModule, Trainer

from epigym.errors import CheckpointError, UsageError
from epigym.io.sealed import read_sealed
from learn import train as command
from learn.models.checkpoints import read_all
from learn.training import relational
from tests.helpers.commands import composed
from tests.helpers.runs import GINE, Fit, check_same
from tests.helpers.tasks import coin, counter

STEPS = ("trainer.max_epochs=-1", "trainer.max_steps=14", "trainer.val_check_interval=3",
         "trainer.check_val_every_n_epoch=null", "model.schedule=cosine")  # fmt: skip
RELATIONAL = ("domain=gossip", "model=relational", "model.draws=1", "model.validation=1", "model.expansions=10",
              "model.nodes=20", "model.width=8", "model.batch_size=64", "trainer=cpu",
              "trainer.max_epochs=4")  # fmt: skip


class Cut(Callback):
    """Ends a training in the middle of a step, or after its last one; draws from every generator before."""

    def __init__(self, step: int = -1, at_end: bool = False) -> None:
        self._step, self._at_end = step, at_end

    def on_train_batch_end(self, trainer: Trainer, module: LightningModule, *_: Any) -> None:
        with torch.no_grad():
            next(module.parameters()).add_(1e-4 * (random.random() + np.random.rand()))  # noqa: NPY002
        if trainer.global_step == self._step:
            raise InterruptedError

    def on_train_end(self, *_: Any) -> None:
        if self._at_end:
            raise InterruptedError


def cut(step: int = -1, *, at_end: bool = False) -> str:
    return f"callbacks=[{{_target_: {__name__}.Cut, step: {step}, at_end: {at_end}}}]"


def metrics_of(run: Path) -> dict[str, float]:
    metrics = read_sealed(run / "run.json", "")["metrics"]
    return {name: value for name, value in metrics.items() if name not in ("seconds", "train/waiting_share")}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("overrides", "steps"),
    [
        ((), (3, 9, 17)),
        (("trainer.val_check_interval=0.5",), (8,)),
        (("trainer.check_val_every_n_epoch=2",), (7, 13)),
        (STEPS, (3, 9, 12)),
    ],
)
def test_an_interrupted_regressor_becomes_what_it_would_have_been(
    fit: Fit, tmp_path: Path, overrides: tuple[str, ...], steps: tuple[int, ...]
) -> None:
    fit(*GINE, *overrides, cut(), run="whole")
    for step in steps:
        with pytest.raises(InterruptedError):
            fit(*GINE, *overrides, cut(step), "resume=true")
    with pytest.raises(InterruptedError):
        fit(*GINE, *overrides, cut(at_end=True), "resume=true")
    assert not (tmp_path / "run" / "run.json").exists()
    fit(*GINE, *overrides, cut(), "resume=true")
    check_same(tmp_path / "whole", tmp_path / "run")
    assert metrics_of(tmp_path / "whole") == metrics_of(tmp_path / "run")
    best = read_all(tmp_path / "run" / "checkpoints" / "best.ckpt")
    assert metrics_of(tmp_path / "run")["step"] == best["global_step"] - 1


def test_an_error_ends_the_progress_bar(fit: Fit) -> None:
    with pytest.raises(InterruptedError):
        fit(*GINE, cut(1))
    assert "rich.live" not in {type(thread).__module__ for thread in threading.enumerate()}


@pytest.mark.slow
def test_a_training_that_stopped_early_is_not_gone_on_with(fit: Fit, tmp_path: Path) -> None:
    still = (*GINE, "trainer.max_epochs=50", "patience=1", "model.optimizer.lr=0.0", "model.network.dropout=0.0")
    metrics = fit(*still)
    assert metrics["epochs"] < 50
    last = (tmp_path / "run" / "checkpoints" / "last.ckpt").read_bytes()
    again = fit(*still, "resume=true")
    assert (tmp_path / "run" / "checkpoints" / "last.ckpt").read_bytes() == last
    assert again == metrics


@pytest.mark.slow
def test_longer_than_it_was_to_be(fit: Fit, tmp_path: Path) -> None:
    fit(*GINE, run="whole")
    fit(*GINE, "trainer.max_epochs=2")
    fit(*GINE, "resume=true")
    check_same(tmp_path / "whole", tmp_path / "run")


@pytest.mark.slow
def test_an_interrupted_relational_network_becomes_what_it_would_have_been(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(relational, "drawn", lambda *arguments: [coin(), counter()])

    def train(run: str, *overrides: str) -> None:
        command.train(composed(command.Train, "train", f"run_dir={tmp_path / run}", *RELATIONAL, *overrides))

    train("whole", cut())
    total = read_all(tmp_path / "whole" / "checkpoints" / "last.ckpt")["global_step"]
    for step in (1, total // 2, total - 1):
        with pytest.raises(InterruptedError):
            train("run", cut(step), "resume=true")
    train("run", cut(), "resume=true")
    check_same(tmp_path / "whole", tmp_path / "run")


def test_a_training_is_not_overwritten_by_mistake(fit: Fit, tmp_path: Path) -> None:
    fit(*GINE, "trainer.max_epochs=1")
    before = {path: path.read_bytes() for path in (tmp_path / "run").rglob("*") if path.is_file()}
    expected = rf"^run_dir={tmp_path}/run: there is a training: go on with resume=true, or name another$"
    with pytest.raises(UsageError, match=expected):
        fit(*GINE)
    assert before == {path: path.read_bytes() for path in (tmp_path / "run").rglob("*") if path.is_file()}


def test_only_the_end_of_an_epoch_can_be_gone_on_from(fit: Fit, tmp_path: Path) -> None:
    with pytest.raises(InterruptedError):
        fit(*GINE, *STEPS, cut(4))
    best = tmp_path / "run" / "checkpoints" / "best.ckpt"
    with pytest.raises(CheckpointError, match=rf"^{best} is not of the end of an epoch of learn\.train: go on from"):
        fit(*GINE, *STEPS, f"ckpt_path={best}", run="other")


def test_a_damaged_checkpoint_is_not_gone_on_from(fit: Fit, tmp_path: Path) -> None:
    fit(*GINE, "trainer.max_epochs=1")
    last = tmp_path / "run" / "checkpoints" / "last.ckpt"
    content = bytearray(last.read_bytes())
    content[len(content) // 2] ^= 4
    last.write_bytes(content)
    with pytest.raises(CheckpointError, match=rf"^{last}: damaged or cut off, its content does not fit its sha256: "):
        fit(*GINE, "resume=true")


def test_what_takes_minutes_starts_anew(tmp_path: Path) -> None:
    given = f"ckpt_path={tmp_path}"
    with pytest.raises(UsageError, match=rf"^{given}: model=linear does not use it, only model=gine and model=relat"):
        composed(command.Train, "train", "model=linear", "domain=gossip", f"run_dir={tmp_path}", given)
