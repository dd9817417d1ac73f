"""A training that was interrupted and gone on with is, bit by bit, the one that was not."""

import os
import pickle
import random
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from lightning import Callback, LightningModule, Trainer

from epigym.errors import CheckpointError, MissingError, UsageError
from epigym.io import progress
from epigym.io.checksummed import append_checksum, read_checksummed
from learn.data.dataset import DataSet
from learn.training.resuming import read_checkpoint, write_checkpoint
from tests.helpers.runs import PAPER, SEARCHED, Fit, assert_same, is_same, rows_of
from tests.helpers.strategies import damaged

STEPS = ("trainer.max_epochs=-1", "trainer.max_steps=14", "trainer.val_check_interval=3",
         "trainer.check_val_every_n_epoch=null", "model.schedule=cosine")  # fmt: skip


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


def cut(step: int = -1, *, at_end: bool = False) -> tuple[str, ...]:
    own = "+callbacks.cut"
    return f"{own}._target_={__name__}.Cut", f"{own}.step={step}", f"{own}.at_end={str(at_end).lower()}"


def metrics_of(run: Path) -> dict[str, float]:
    metrics = read_checksummed(run / "run.json", "")["metrics"]
    return {name: value for name, value in metrics.items() if name not in ("seconds", "train/waiting_share")}


def last_of(run: Path) -> Path:
    return run / "checkpoints" / "last.ckpt"


def assert_interrupted(
    fit: Fit, folder: Path, overrides: tuple[str, ...], epoch: int, of: int, *, at_end: bool = False
) -> None:
    """See that a training that is interrupted in an epoch, and after its last step, is as a whole one."""
    run = folder / "run"
    fit(*overrides, *cut(), run="whole")
    every = read_checkpoint(last_of(folder / "whole"))["global_step"] // of
    with pytest.raises(InterruptedError):
        fit(*overrides, *cut(epoch * every + 1))
    if at_end:
        with pytest.raises(InterruptedError):
            fit(*overrides, *cut(at_end=True), "ckpt_path=last")
    assert not (run / "run.json").exists()
    fit(*overrides, *cut(), "ckpt_path=last")
    assert_same(folder / "whole", run)
    assert is_same(metrics_of(folder / "whole"), metrics_of(run))


def test_interrupted_networks(fit: Fit, tmp_path: Path) -> None:
    assert_interrupted(fit, tmp_path, PAPER, 2, 4, at_end=True)


@pytest.mark.parametrize(
    "overrides",
    [
        # The last epoch before the interrupt has no calibration of its own.
        ("encoding=relational", "trainer.check_val_every_n_epoch=2"),
        ("encoding=map", "objective=distance", "validation=ranking", "base=none", "model.schedule=constant"),
    ],
)
def test_interrupted_networks_validated_by_search(fit: Fit, tmp_path: Path, overrides: tuple[str, ...]) -> None:
    assert_interrupted(fit, tmp_path, (*SEARCHED, *overrides), 3, 4)
    last = read_checkpoint(last_of(tmp_path / "run"))
    assert last["best"] is not None
    assert {"current_model_state", "averaging_state"} <= last.keys()
    assert not is_same(last["current_model_state"], last["state_dict"])


def test_interrupted_aggregations(fit: Fit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("learn.training.expert.collecting.NODES", 1)  # the network solves nothing
    expert = ("expert.problems=2", "expert.aggregation=2", "expert.expansions=200")
    overrides = (*SEARCHED, "encoding=relational", "domain=gossip", "trainer.max_epochs=2", *expert)
    assert_interrupted(fit, tmp_path, overrides, 3, 6)
    record = read_checksummed(tmp_path / "run" / "run.json", "")
    plans, *rounds = record["data"]["added"]
    made = [DataSet(folder) for folder in (tmp_path / "run" / "rollouts").iterdir()]
    made.sort(key=lambda one: one.parent != plans)
    assert [one.parent for one in made] == [plans, made[0].key]
    assert record["metrics"]["train/plans"] == 1
    kept = made[: int(max(record["metrics"]["epoch"] - 1, 0) // 2)]
    assert rounds == [one.key for one in kept], "the card names what the kept network has seen"
    assert record["metrics"]["train/corrections"] == sum(map(len, kept))


def test_an_error_ends_the_stage_of_a_training(fit: Fit) -> None:
    with pytest.raises(InterruptedError):
        fit(*PAPER, *cut(1))
    assert not progress._open


def test_a_training_that_stopped_early_is_not_gone_on_with(fit: Fit, tmp_path: Path) -> None:
    still = (*PAPER, "trainer.max_epochs=50", "callbacks.early_stopping.patience=1", "model.optimizer.lr=1e-60",
             "model.network.dropout=0.0")  # fmt: skip
    metrics = fit(*still)
    assert metrics["epochs"] < 50
    last = last_of(tmp_path / "run").read_bytes()
    again = fit(*still, "ckpt_path=last")
    assert last_of(tmp_path / "run").read_bytes() == last
    assert again == metrics


def test_longer_than_it_was_to_be(fit: Fit, tmp_path: Path) -> None:
    fit(*PAPER, run="whole")
    fit(*PAPER, "trainer.max_epochs=2")
    fit(*PAPER, "ckpt_path=last")
    assert_same(tmp_path / "whole", tmp_path / "run")


def test_shorter_than_it_was_is_refused_and_leaves_the_record(fit: Fit, tmp_path: Path) -> None:
    fit(*SEARCHED, "trainer.max_epochs=2")
    record = (tmp_path / "run" / "run.json").read_bytes()
    with pytest.raises(UsageError, match=r"^trainer\.max_epochs=1: .*last\.ckpt is of epoch 2: give at least as many$"):
        fit(*SEARCHED, "trainer.max_epochs=1", "ckpt_path=last")
    assert (tmp_path / "run" / "run.json").read_bytes() == record


def test_resuming_takes_up_the_stored_weights(fit: Fit, tmp_path: Path) -> None:
    """In another folder."""
    fit(*PAPER, "trainer.max_epochs=1", run="start")
    last = last_of(tmp_path / "start")
    content = read_checkpoint(last)
    for group in content["optimizer_states"][0]["param_groups"]:
        group["lr"] = 0.0
    write_checkpoint(content, last)
    fit(*PAPER, "trainer.max_epochs=3", f"ckpt_path={last}", run="resumed")
    resumed = read_checkpoint(last_of(tmp_path / "resumed"))
    assert resumed["epoch"] == 2
    before, after = content["state_dict"], resumed["state_dict"]
    statistics = ("running_mean", "running_var", "num_batches_tracked")
    assert all(torch.equal(before[name], after[name]) for name in before if not name.endswith(statistics))
    assert not is_same(before, after), "batch statistics go on"


def test_a_training_is_not_overwritten_by_mistake(fit: Fit, tmp_path: Path) -> None:
    fit(*PAPER, "trainer.max_epochs=1")
    before = {path: path.read_bytes() for path in (tmp_path / "run").rglob("*") if path.is_file()}
    expected = rf"^run_dir={tmp_path}/run: there is a training: go on with ckpt_path=last, or name another$"
    with pytest.raises(UsageError, match=expected):
        fit(*PAPER)
    assert before == {path: path.read_bytes() for path in (tmp_path / "run").rglob("*") if path.is_file()}


def test_only_the_end_of_an_epoch_can_be_gone_on_from(fit: Fit, tmp_path: Path) -> None:
    own = "+callbacks.own"
    keep = (f"{own}._target_=lightning.pytorch.callbacks.ModelCheckpoint", f"{own}.every_n_train_steps=3",
            f"{own}.dirpath={tmp_path}", f"{own}.filename=middle")  # fmt: skip
    fit(*PAPER, *STEPS, "trainer.max_steps=3", *keep)
    middle = tmp_path / "middle.ckpt"
    with pytest.raises(CheckpointError, match=rf"^{middle} is not of the end of an epoch of learn\.train: go on from"):
        fit(*PAPER, *STEPS, f"ckpt_path={middle}", run="other")


def test_going_on_needs_a_checkpoint(fit: Fit, tmp_path: Path) -> None:
    with pytest.raises(
        MissingError, match=rf"^ckpt_path=last: there is no file {tmp_path}/run/checkpoints/last\.ckpt$"
    ):
        fit(*PAPER, "ckpt_path=last")


def test_a_damaged_checkpoint_is_not_gone_on_from(fit: Fit, tmp_path: Path) -> None:
    fit(*PAPER, "trainer.max_epochs=1")
    last = last_of(tmp_path / "run")
    content = bytearray(last.read_bytes())
    content[len(content) // 2] ^= 4
    last.write_bytes(content)
    with pytest.raises(CheckpointError, match=rf"^{last}: damaged or cut off, its content does not fit its sha256: "):
        fit(*PAPER, "ckpt_path=last")


class Malicious:
    """Makes a folder when it is unpickled."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __reduce__(self) -> tuple[Callable[..., object], tuple[str]]:
        return os.mkdir, (str(self.folder),)


def test_a_pickled_call_is_refused(fit: Fit, tmp_path: Path) -> None:
    path, trap = tmp_path / "trap.ckpt", tmp_path / "trap"
    path.write_bytes(append_checksum(pickle.dumps(Malicious(trap))))
    refusal = rf"^{path} is not a checkpoint of learn\.train \(\w+\)$"
    with pytest.raises(CheckpointError, match=refusal):
        fit(*PAPER, f"ckpt_path={path}")
    write_checkpoint({"state_dict": {}, "loops": Malicious(trap)}, path)
    with pytest.raises(CheckpointError, match=refusal):
        fit(*PAPER, f"ckpt_path={path}")
    assert not trap.exists()


@pytest.mark.parametrize("content", [None, 7, [], {}, {"state_dict": {}}, {"hyper_parameters": {}, "state_dict": {}}])
def test_other_content_is_one_line(fit: Fit, tmp_path: Path, content: Any) -> None:
    write_checkpoint(content, tmp_path / "own.ckpt")
    with pytest.raises(CheckpointError, match=rf"^{tmp_path}/own\.ckpt is not [^\n]+$"):
        fit(*PAPER, f"ckpt_path={tmp_path}/own.ckpt")


def test_weights_that_are_no_numbers_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "own.ckpt"
    write_checkpoint({"state_dict": {"network.x": torch.tensor([1.0, float("nan")])}}, path)
    remedy = r"has weights that are no finite numbers in network\.x: train again with a lower learning rate$"
    with pytest.raises(CheckpointError, match=remedy):
        read_checkpoint(path)


def test_it_is_a_file_of_torch_too(tmp_path: Path) -> None:
    write_checkpoint({"state_dict": {"x": torch.ones(2)}}, tmp_path / "own.ckpt")
    assert torch.equal(torch.load(tmp_path / "own.ckpt", weights_only=True)["state_dict"]["x"], torch.ones(2))
    with zipfile.ZipFile(tmp_path / "own.ckpt") as archive:
        assert archive.testzip() is None
    assert [path.name for path in tmp_path.iterdir()] == ["own.ckpt"]


@settings(max_examples=50, deadline=None)
@given(data=st.data())
def test_no_damage_of_a_checkpoint_passes(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    path = tmp_path_factory.getbasetemp() / "damaged.ckpt"
    write_checkpoint({"state_dict": {"x": torch.ones(20)}}, path)
    path.write_bytes(data.draw(damaged(path.read_bytes())))
    with pytest.raises(CheckpointError, match="damaged or cut off, its content does not fit its sha256: "):
        read_checkpoint(path)


def test_the_checkpoint_of_another_training_is_not_gone_on_from(fit: Fit, tmp_path: Path) -> None:
    first = (*SEARCHED, "encoding=relational", "base=h_ff", "trainer.max_epochs=1")
    fit(*first)
    last = last_of(tmp_path / "run")
    for other, different in (
        ("model.network.width=8 base=h_add model.optimizer.lr=0.5", "network, base, optimizer"),
        ("model.network.layers=3 base=none model.schedule=constant validation.nodes=7",
         "network, base, schedule, validation"),
        ("encoding.types_per_node=3 seed=7 data.seed=7", "encoding, types, data, validation"),
        ("encoding=hash objective=distance validation=ranking", "encoding, types, objective"),
        ("domain=coin_in_the_box", "types, domains, data"),
    ):  # fmt: skip
        with pytest.raises(CheckpointError, match=rf"^{last} is of a training with other settings \({different}\)"):
            fit(*first, *other.split(), f"ckpt_path={last}", run="other")
    assert not (tmp_path / "other" / "config.yaml").exists()


def test_identifiers_of_another_encoding_are_not_gone_on_with(fit: Fit, tmp_path: Path) -> None:
    """Networks of both have the same tensors."""
    few = (*SEARCHED, "base=h_ff", "trainer.max_epochs=1")
    fit(*few, "encoding=map")
    with pytest.raises(CheckpointError, match=r"is of a training with other settings \(encoding\)"):
        fit(*few, "encoding=hash", f"ckpt_path={last_of(tmp_path / 'run')}", run="other")


def test_samples_of_another_problem_are_not_gone_on_with(fit: Fit, tmp_path: Path) -> None:
    """Nothing but the data differs, as identifiers have no types."""
    fit(*PAPER, "trainer.max_epochs=1")
    last = last_of(tmp_path / "run")
    with pytest.raises(CheckpointError, match=r"is of a training with other settings \(data\)"):
        fit(*PAPER, "problem=collaboration_communication/2_2_3_pl_4", f"ckpt_path={last}", run="other")
    with pytest.raises(CheckpointError, match="is of a training with patience=30, not 7: give the same"):
        fit(*PAPER, "callbacks.early_stopping.patience=7", f"ckpt_path={last}", run="other")


def test_the_validation_after_the_last_step_is_remembered(fit: Fit, tmp_path: Path) -> None:
    fit(*PAPER, *STEPS)
    before = rows_of(tmp_path / "run")
    assert (before[-1]["step"], "val/score" in before[-1]) == (14, True)
    fit(*PAPER, *STEPS, "trainer.max_steps=20", "ckpt_path=last")
    assert rows_of(tmp_path / "run")[: len(before)] == before
