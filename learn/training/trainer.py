"""The Lightning parts of a training run."""

from __future__ import annotations

import logging
import time
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from lightning import Callback, LightningModule, Trainer
from lightning.pytorch.callbacks import EarlyStopping, ModelCheckpoint
from lightning.pytorch.loggers import CSVLogger, TensorBoardLogger
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from learn.model.target import Target
from learn.training.module import DistanceModule

CHECKPOINTS = "checkpoints"
"""Folder of `best.ckpt` and `last.ckpt` in the folder of a run."""


def make_module(values: Mapping[str, Any], domains: Sequence[str], problems: Sequence[str]) -> DistanceModule:
    """The module that `conf/train.yaml` describes.

    Args:
        values: the resolved configuration.
        domains: that the training problems belong to.
        problems: names of the training problems.
    """
    target = Target.between(**values["model"]["target"])
    return DistanceModule(
        encoding=values["encoding"],
        network=values["model"]["network"],
        target={"max_distance": target.max_distance, "alpha": target.alpha, "beta": target.beta},
        optimizer=values["model"]["optimizer"],
        schedule=values["model"]["schedule"],
        domains=list(domains),
        problems=list(problems),
        semantics=values["semantics"],
    )


def make_trainer(values: Mapping[str, Any], run_dir: Path, *extra: Callback) -> Trainer:
    """The trainer that `conf/train.yaml` describes: best checkpoint, early stopping, logs, one progress bar.

    Args:
        values: the resolved configuration.
        run_dir: where checkpoints and logs go.
        *extra: further callbacks.
    """
    logging.getLogger("lightning.pytorch").setLevel(logging.WARNING)
    warnings.filterwarnings("ignore", ".*does not have many workers.*")  # batches are cut in this process on purpose
    warnings.filterwarnings("ignore", ".*treespec.*is deprecated.*")  # between Lightning and PyTorch
    checkpoints: dict[str, Any] = {"dirpath": run_dir / CHECKPOINTS, "enable_version_counter": False}
    callbacks: list[Callback] = [
        ModelCheckpoint(filename="best", monitor="val/loss", **checkpoints),
        # `save_last` would write only when the monitored loss improves.
        ModelCheckpoint(filename="last", monitor=None, **checkpoints),
        EarlyStopping(monitor="val/loss", patience=values["patience"], strict=False),  # a training may end earlier
        TrainingProgress(),
        *extra,
    ]
    loggers = [
        CSVLogger(run_dir, name="csv", version=""),
        TensorBoardLogger(run_dir, name="tensorboard", version="", default_hp_metric=False),
    ]
    return Trainer(
        **values["trainer"],
        callbacks=callbacks,
        logger=loggers,
        default_root_dir=run_dir,
        enable_progress_bar=False,
        enable_model_summary=False,
        num_sanity_val_steps=0,
        log_every_n_steps=1,
    )


class TrainingProgress(Callback):
    """One bar for the whole training, with the newest validation metrics."""

    def __init__(self) -> None:
        """Make the bar; it appears when training starts."""
        columns = (TextColumn("training"), BarColumn(20), TextColumn("{task.description}"), TimeElapsedColumn())
        self._progress = Progress(*columns)

    def on_train_start(self, trainer: Trainer, pl_module: LightningModule) -> None:
        """Show the bar."""
        if trainer.is_global_zero:
            self._progress.start()
            self._progress.add_task("", total=trainer.estimated_stepping_batches, completed=trainer.global_step)

    def on_train_batch_end(
        self, trainer: Trainer, pl_module: LightningModule, outputs: Any, batch: Any, batch_idx: int
    ) -> None:
        """Advance the bar by one step."""
        for task in self._progress.task_ids:
            self._progress.advance(task)

    def on_validation_end(self, trainer: Trainer, pl_module: LightningModule) -> None:
        """Show the newest metrics."""
        metrics = {name: float(value) for name, value in trainer.callback_metrics.items()}
        for task in self._progress.task_ids:
            epoch = f"epoch {trainer.current_epoch + 1} of {trainer.max_epochs}"
            errors = f"MAE {metrics['val/mae']:.3f} steps, R² {metrics['val/r2']:.2f}"
            self._progress.update(task, description=f"{epoch}: {errors}")

    def teardown(self, trainer: Trainer, pl_module: LightningModule, stage: str) -> None:
        """Leave the bar as it is, also after an error."""
        self._progress.stop()


class WaitingTime(Callback):
    """Measures how long training steps wait for their batches.

    Attributes:
        waiting: seconds between the end of a step and the start of the next one of the same epoch.
        working: seconds inside steps.
    """

    def __init__(self) -> None:
        """Start with no steps."""
        self.waiting = 0.0
        self.working = 0.0
        self._since = 0.0

    @property
    def share(self) -> float:
        """The share of the time of training steps that was spent waiting."""
        return self.waiting / max(self.waiting + self.working, 1e-9)

    def on_train_epoch_start(self, trainer: Trainer, pl_module: LightningModule) -> None:
        """Start to wait for the first batch."""
        self._since = time.perf_counter()

    def on_train_batch_start(self, trainer: Trainer, pl_module: LightningModule, batch: Any, batch_idx: int) -> None:
        """The batch is there."""
        now = time.perf_counter()
        self.waiting += now - self._since
        self._since = now

    def on_train_batch_end(
        self, trainer: Trainer, pl_module: LightningModule, outputs: Any, batch: Any, batch_idx: int
    ) -> None:
        """The step is done."""
        now = time.perf_counter()
        self.working += now - self._since
        self._since = now
