"""Resuming of trainings from the checkpoint of the end of an epoch, with the result of an uninterrupted training.

The order of an epoch's batches depends on the seed and the epoch only (`learn.training.data_module`). The rest of the
state is in the checkpoint: the state of Lightning, the random generators, and the metrics.
"""

from __future__ import annotations

import io
import random
import struct
import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from lightning import Callback, LightningModule, Trainer
from lightning.fabric.plugins import CheckpointIO

from epigym.errors import CheckpointError, EpigymError
from epigym.io.checksummed import DIGITS, append_checksum, read_checksummed_bytes
from epigym.io.files import AnyPath, replacing, write_rows
from learn.models.calibration import Calibration
from learn.models.gine.model import NetworkModel
from learn.training.module import GineModule
from learn.training.options import LAST

_STATE = "continuation"


def require_end_of_epoch(path: Path) -> None:
    """Check that training can go on from a checkpoint.

    Raises:
        CheckpointError: when it is damaged, or was written in the middle of an epoch.
    """
    content = read_checkpoint(path)
    try:
        progress = content["loops"]["fit_loop"]["epoch_progress"]["current"]
        is_end = progress["ready"] == progress["processed"] and _STATE in content
    except (KeyError, TypeError):
        is_end = False
    if not is_end:
        raise CheckpointError(f"{path} is not of the end of an epoch of learn.train: go on from its {LAST}")


def write_checkpoint(content: Mapping[str, Any], path: AnyPath) -> None:
    """Write plain values and tensors with a checksum, atomically.

    The file is an archive of `torch.save` with the checksum as its comment.
    """
    file = io.BytesIO()
    torch.save(content, file)
    archive = file.getvalue()
    assert archive.endswith(b"\0\0"), "the length of its comment"
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    with replacing(path) as temporary:
        temporary.write_bytes(append_checksum(archive[:-2] + struct.pack("<H", DIGITS)))


def read_checkpoint(path: AnyPath) -> dict[str, Any]:
    """Read the whole content of a checkpoint, with tensors on the CPU; nothing that it names is called.

    Raises:
        CheckpointError: when it is damaged, not a checkpoint of this program, or has weights that are not finite.
    """
    try:
        data = read_checksummed_bytes(path, "train again, or get it again from where it was made")
        content: dict[str, Any] = torch.load(io.BytesIO(data), map_location="cpu", weights_only=True)
        wrong = [name for name, tensor in content["state_dict"].items() if not tensor.isfinite().all()]
    except EpigymError as error:
        raise CheckpointError(str(error)) from None
    except Exception as error:  # reading arbitrary files may raise any exception
        raise CheckpointError(f"{path} is not a checkpoint of learn.train ({type(error).__name__})") from None
    if wrong:
        remedy = "train again with a lower learning rate"
        raise CheckpointError(f"{path} has weights that are no finite numbers in {wrong[0]}: {remedy}")
    return content


def keep_last_validation(path: Path, module: GineModule, history: History) -> None:
    """Add a validation after the last step, which is not part of the training, to its checkpoint.

    Args:
        path: the checkpoint of the last epoch; nothing is done where there is none.
        module: has the best validation score.
        history: has the metrics and the best network.
    """
    if path.exists():
        content = read_checkpoint(path)
        content["callbacks"][history.state_key] = history.state_dict()
        module.on_save_checkpoint(content)
        write_checkpoint(content, path)


class ChecksummedIO(CheckpointIO):
    """Reads and writes checkpoints for Lightning."""

    def save_checkpoint(self, checkpoint: dict[str, Any], path: AnyPath, storage_options: Any = None) -> None:
        """Write one."""
        write_checkpoint(checkpoint, path)

    def load_checkpoint(self, path: AnyPath, map_location: Any = None, weights_only: bool | None = None) -> Any:
        """Read one, onto the CPU."""
        return read_checkpoint(path)

    def remove_checkpoint(self, path: AnyPath) -> None:
        """Delete one."""
        Path(path).unlink(missing_ok=True)


class Continuation(Callback):
    """Stores further state in checkpoints and begins a new epoch when a training is resumed."""

    def __init__(self) -> None:
        self._random: dict[str, Any] | None = None

    def on_save_checkpoint(self, trainer: Trainer, pl_module: LightningModule, checkpoint: dict[str, Any]) -> None:
        """Add the random generators and the flag for early stopping."""
        checkpoint[_STATE] = {"stop": trainer.should_stop, "random": _get_random_state()}

    def on_load_checkpoint(self, trainer: Trainer, pl_module: LightningModule, checkpoint: dict[str, Any]) -> None:
        """Restore the flag for early stopping."""
        self._random = checkpoint[_STATE]["random"]
        trainer.should_stop = checkpoint[_STATE]["stop"]

    def on_train_start(self, trainer: Trainer, pl_module: LightningModule) -> None:
        """Restore the random generators and begin a new epoch.

        With a maximum number of steps, Lightning treats every checkpoint as one from the middle of an epoch.
        """
        if self._random is None:
            return
        _set_random_state(self._random)
        loop: Any = trainer.fit_loop
        if loop.epoch_progress.current.completed < loop.epoch_progress.current.processed:
            loop.epoch_progress.increment_completed()
        loop.epoch_loop.restarting = False
        for one in (loop, loop.epoch_loop, loop.epoch_loop.val_loop):
            one.reset_restart_stage()


class Best(NamedTuple):
    """The best network so far.

    Attributes:
        model: the network, with its calibration.
        step: of its validation, see `History.rows`.
    """

    model: NetworkModel
    step: int


class History(Callback):
    """The metrics of a training and its best network, stored in every checkpoint.

    The metrics are also written into a CSV file and passed to the loggers, with the same `epoch` and `step`.

    Args:
        path: the CSV file.

    Attributes:
        best: the network with the lowest `val/score`; None before the first validation.
        earlier: seconds of training before it was resumed.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._rows: dict[int, dict[str, float]] = {}
        self._start = time.perf_counter()
        self._stored: dict[str, Any] | None = None
        self.best: Best | None = None
        self.earlier = 0.0

    @property
    def rows(self) -> list[dict[str, float]]:
        """One row for each step that ended an epoch or was followed by a validation, and one before the first step.

        The metrics by name, with `epoch`, the number of epochs begun, and `step`, the number of optimizer steps, both 0
        before the first step, and, for validations, the `seconds` of training.
        """
        return [self._rows[step] for step in sorted(self._rows)]

    @property
    def best_row(self) -> dict[str, float]:
        """The row of the best network."""
        assert self.best is not None
        return self._rows[self.best.step]

    @property
    def seconds(self) -> float:
        """Seconds of training, including those before it was resumed."""
        return self.earlier + time.perf_counter() - self._start

    def is_validated(self, step: int) -> bool:
        """Whether a validation followed so many steps."""
        return "val/score" in self._rows.get(step, {})

    def on_fit_start(self, trainer: Trainer, pl_module: LightningModule) -> None:
        """Start the clock, and restore the best network."""
        self._start = time.perf_counter()
        if self._stored is not None:
            assert isinstance(pl_module, GineModule)
            weights = {name: tensor.numpy(force=True) for name, tensor in self._stored["weights"].items()}
            steps = Calibration(*self._stored["calibration"])
            self.best = Best(replace(pl_module.as_model(), weights=weights, steps=steps), self._stored["step"])

    def on_validation_end(self, trainer: Trainer, pl_module: LightningModule) -> None:
        """Add the metrics of validation, and keep the network if it is the best."""
        assert isinstance(pl_module, GineModule)
        row = self._add(trainer, {"seconds": self.seconds} | _collect_metrics(trainer, of_training=False))
        if self.best is None or row["val/score"] < self.best_row["val/score"]:
            self.best = Best(pl_module.validated, int(row["step"]))

    def on_train_epoch_end(self, trainer: Trainer, pl_module: LightningModule) -> None:
        """Add the metrics of the epoch."""
        self._add(trainer, _collect_metrics(trainer, of_training=True))

    def state_dict(self) -> dict[str, Any]:
        """The rows, the seconds of training and the best network, as plain values and tensors."""
        state: dict[str, Any] = {"rows": self.rows, "seconds": self.seconds, "best": None}
        if self.best is not None:
            model = self.best.model
            state["best"] = {
                "weights": {name: torch.from_numpy(array) for name, array in model.weights.items()},
                "calibration": [list(model.steps.values), list(model.steps.steps)],
                "step": self.best.step,
            }
        return state

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Restore them."""
        self._rows = {int(row["step"]): dict(row) for row in state_dict["rows"]}
        self.earlier, self._stored = state_dict["seconds"], state_dict["best"]

    def _add(self, trainer: Trainer, metrics: dict[str, float]) -> dict[str, float]:
        step, epoch = trainer.global_step, trainer.fit_loop.epoch_progress.current.ready
        row = self._rows.setdefault(step, {"epoch": float(epoch), "step": float(step)})
        row.update(metrics)
        for one in trainer.loggers:
            one.log_metrics({"epoch": row["epoch"], **metrics}, step)
            one.save()
        if trainer.is_global_zero:
            names = sorted({name for row in self.rows for name in row}, key=lambda name: ("/" in name, name))
            write_rows(self._path, names, self.rows)
        return row


def _collect_metrics(trainer: Trainer, *, of_training: bool) -> dict[str, float]:
    """The newest metrics of an epoch, or those of a validation."""
    metrics = trainer.callback_metrics.items()
    return {name: float(value) for name, value in metrics if name.startswith("train/") == of_training}


def _get_random_state() -> dict[str, Any]:
    """The generators of Python, NumPy and PyTorch, as plain values and tensors."""
    numpy: Any = np.random.get_state()  # noqa: NPY002 - a user's network or callback may use it
    name, keys, *rest = numpy
    return {
        "python": random.getstate(),
        "numpy": (name, keys.tolist(), *rest),
        "torch": torch.get_rng_state(),
        "cuda": torch.cuda.get_rng_state_all() if torch.cuda.is_initialized() else [],  # type: ignore[no-untyped-call]
    }


def _set_random_state(state: dict[str, Any]) -> None:
    random.setstate(state["python"])
    np.random.set_state(state["numpy"])  # noqa: NPY002
    torch.set_rng_state(state["torch"])
    if len(state["cuda"]) == torch.cuda.device_count() > 0:
        torch.cuda.set_rng_state_all(state["cuda"])
