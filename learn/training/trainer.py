"""The Lightning parts of a training run."""

from __future__ import annotations

import logging
import time
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from lightning import Callback, LightningDataModule, LightningModule, Trainer
from lightning.fabric.utilities.exceptions import MisconfigurationException
from lightning.pytorch.callbacks import EarlyStopping, ModelCheckpoint, WeightAveraging
from lightning.pytorch.callbacks.early_stopping import EarlyStoppingReason
from lightning.pytorch.loggers import Logger, TensorBoardLogger
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from torch.optim.swa_utils import get_ema_multi_avg_fn

from epigym.config.targets import TARGET, make
from epigym.errors import UsageError
from epigym.io.files import write_text
from learn.training.options import CHECKPOINTS, LAST, Training, as_yaml, collect_given
from learn.training.resuming import ChecksummedIO, Continuation


class Criterion(NamedTuple):
    """The criterion that selects the best checkpoint.

    Attributes:
        monitor: name of the metric; the smaller, the better.
        measure: name of the criterion in messages.
        shown: format of the newest metrics in the progress bar, by their names.
    """

    monitor: str
    measure: str
    shown: str


BY_LOSS = Criterion("val/loss", "validation loss", "MAE {val/mae:.3f} steps, R² {val/r2:.2f}")
BY_SEARCH = Criterion(
    "val/score", "search on the validation problems", "{val/solved:.0f} solved, {val/expanded:.0f} expanded"
)


def make_trainer(settings: Training, validation: Criterion, *extra: Callback) -> Trainer:
    """The trainer: best checkpoint, early stopping, logs, one progress bar, and the user's callbacks and loggers.

    Args:
        settings: of the training.
        validation: criterion for the best checkpoint.
        *extra: further callbacks.
    """
    logging.getLogger("lightning.pytorch").setLevel(logging.WARNING)
    warnings.filterwarnings("ignore", ".*does not have many workers.*")  # batches are made in this process on purpose
    warnings.filterwarnings("ignore", ".*treespec.*is deprecated.*")  # internal to Lightning and PyTorch
    warnings.filterwarnings("ignore", ".*exists and is not empty")  # when a training is resumed
    run_dir = settings.run_dir
    checkpoints: dict[str, Any] = {"dirpath": run_dir / CHECKPOINTS, "enable_version_counter": False}
    callbacks: list[Callback] = [
        ModelCheckpoint(filename="best", monitor=validation.monitor, **checkpoints),
        # `save_last` writes only when the monitored metric improves, or in the middle of an epoch.
        ModelCheckpoint(filename=LAST, monitor=None, save_on_train_epoch_end=True, **checkpoints),
        # Not strict: a training may end before the first validation.
        EarlyStopping(monitor=validation.monitor, patience=settings.patience, strict=False),
        TrainingProgress(validation.shown),
        Continuation(),
        *_make_averaging(settings.model.averaging),
        *extra,
        *(_make_instance(one, Callback) for one in settings.callbacks),
    ]
    loggers = [
        TensorBoardLogger(run_dir, name="tensorboard", version="", default_hp_metric=False),
        *(_make_instance(one, Logger) for one in settings.loggers),
    ]
    ours: dict[str, Any] = {
        "default_root_dir": run_dir,
        "enable_progress_bar": False,
        "enable_model_summary": False,
        "num_sanity_val_steps": 0,
        "log_every_n_steps": 1,
    }
    options = {**ours, **collect_given(settings.trainer)}
    most, every = options.get("max_epochs") or -1, options.get("check_val_every_n_epoch") or 1
    if 0 < most < every:
        options["check_val_every_n_epoch"] = most
    try:
        trainer = Trainer(**options, callbacks=callbacks, logger=loggers)
    except (ImportError, TypeError, ValueError, MisconfigurationException) as error:
        raise UsageError(f"trainer: {error}") from error
    trainer.strategy.checkpoint_io = ChecksummedIO()
    return trainer


def _make_averaging(decay: float) -> list[Callback]:
    """The callback that averages weights for validation and checkpoints; none for a decay of 0."""
    average: Any = get_ema_multi_avg_fn
    return [WeightAveraging(use_buffers=False, multi_avg_fn=average(decay))] if decay else []


def write_settings(trainer: Trainer, settings: Training) -> None:
    """Write the settings into the folder of the run."""
    if trainer.is_global_zero:
        write_text(settings.run_dir / "config.yaml", as_yaml(settings))


def _make_instance(settings: Mapping[str, Any], kind: type[Any]) -> Any:
    """Make an object of a user's class that derives from `kind`."""
    made = make(settings, None)
    if not isinstance(made, kind):
        raise UsageError(f"_target_={settings[TARGET]}: expected a class that derives from Lightning's {kind.__name__}")
    return made


def fit(
    trainer: Trainer, module: LightningModule, data: LightningDataModule, run_dir: Path, checkpoint: Path | None
) -> None:
    """Train, starting from a checkpoint if there is one.

    Raises:
        KeyboardInterrupt: when the training is interrupted; the message says how to resume it.
    """
    try:
        trainer.fit(module, data, ckpt_path=checkpoint and str(checkpoint))
    except SystemExit:  # raised by Lightning after a KeyboardInterrupt
        if not trainer.is_global_zero:
            raise
        is_kept = (run_dir / CHECKPOINTS / f"{LAST}.ckpt").exists()
        remedy = f"go on with resume=true run_dir={run_dir}" if is_kept else "no epoch was finished, nothing is kept"
        raise KeyboardInterrupt(remedy) from None


def describe_end(trainer: Trainer, epochs: int, measure: str) -> str:
    """Describe in one line when and why a training stopped.

    Args:
        trainer: trainer of the training.
        epochs: number of epochs begun.
        measure: name of the criterion for the best checkpoint.
    """
    early = next(one for one in trainer.early_stopping_callbacks if isinstance(one, EarlyStopping))
    interval = trainer.val_check_interval  # a share of an epoch, or a number of steps
    is_once = trainer.check_val_every_n_epoch == 1 and isinstance(interval, float) and interval == 1
    unit = "epochs" if is_once else "validations"
    if early.stopping_reason is EarlyStoppingReason.PATIENCE_EXHAUSTED:
        return f"early stopping after epoch {epochs}: no better {measure} for {early.patience} {unit}"
    if early.stopping_reason is EarlyStoppingReason.NON_FINITE_METRIC:
        return f"stopped after epoch {epochs}: the {measure} is no finite number"
    if 0 <= trainer.max_steps <= trainer.global_step:
        return f"step limit: {trainer.max_steps:,} steps, epoch {epochs}"
    if trainer.max_epochs is not None and 0 <= trainer.max_epochs <= trainer.current_epoch:
        return f"epoch limit: {trainer.max_epochs:,} epochs, {trainer.global_step:,} steps"
    return f"stopped by a callback after {trainer.global_step:,} steps, epoch {epochs}"


class TrainingProgress(Callback):
    """One bar for the whole training, with the newest validation metrics.

    Args:
        shown: format of the metrics, by their names.
    """

    def __init__(self, shown: str) -> None:
        self._shown = shown
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
            self._progress.update(task, description=f"{epoch}: {self._shown.format_map(metrics)}")

    def on_exception(self, trainer: Trainer, pl_module: LightningModule, exception: BaseException) -> None:
        """Stop the bar after an error, as Lightning does not call `teardown` then."""
        self._progress.stop()

    def teardown(self, trainer: Trainer, pl_module: LightningModule, stage: str) -> None:
        """Stop the bar."""
        self._progress.stop()


class WaitingTime(Callback):
    """Measures how long training steps wait for their batches.

    Attributes:
        waiting: seconds between the end of a step and the start of the next one of the same epoch.
        working: seconds inside steps.
    """

    def __init__(self) -> None:
        self._since = 0.0
        self.waiting = 0.0
        self.working = 0.0

    @property
    def share(self) -> float:
        """The share of the time of training steps that was spent waiting."""
        return self.waiting / max(self.waiting + self.working, 1e-9)

    def state_dict(self) -> dict[str, float]:
        """Both sums."""
        return {"waiting": self.waiting, "working": self.working}

    def load_state_dict(self, state_dict: dict[str, float]) -> None:
        """Restore both."""
        self.waiting, self.working = state_dict["waiting"], state_dict["working"]

    def on_train_epoch_start(self, trainer: Trainer, pl_module: LightningModule) -> None:
        """Start the clock."""
        self._since = time.perf_counter()

    def on_train_batch_start(self, trainer: Trainer, pl_module: LightningModule, batch: Any, batch_idx: int) -> None:
        """Add the waiting time."""
        now = time.perf_counter()
        self.waiting += now - self._since
        self._since = now

    def on_train_batch_end(
        self, trainer: Trainer, pl_module: LightningModule, outputs: Any, batch: Any, batch_idx: int
    ) -> None:
        """Add the working time."""
        now = time.perf_counter()
        self.working += now - self._since
        self._since = now
