"""The Lightning parts of a training run."""

from __future__ import annotations

import ctypes
import logging
import signal
import sys
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any, TypeVar

from hydra.core.hydra_config import HydraConfig
from lightning import Callback, LightningDataModule, LightningModule, Trainer
from lightning.fabric.utilities.exceptions import MisconfigurationException
from lightning.pytorch.callbacks import EarlyStopping, ModelCheckpoint, Timer, WeightAveraging
from lightning.pytorch.callbacks.early_stopping import EarlyStoppingReason
from lightning.pytorch.loggers import Logger
from lightning.pytorch.strategies.launchers.subprocess_script import _SubprocessScriptLauncher
from omegaconf import OmegaConf
from torch.optim.swa_utils import get_ema_multi_avg_fn

from epigym.config.registry import check
from epigym.config.sweeps import is_sweep
from epigym.config.targets import TARGET, make
from epigym.errors import UsageError
from epigym.io.files import write_text
from epigym.io.progress import Stage
from epigym.names import unknown
from learn.training.module import DivergedError, GineModule
from learn.training.options import CHECKPOINTS, LAST, OVERRIDES, Training, as_yaml
from learn.training.resuming import ChecksummedIO, Continuation

C = TypeVar("C", bound=Callback)
EarlyEnd = KeyboardInterrupt | DivergedError
"""The exceptions that end a training early."""

logger = logging.getLogger(__name__)

METRICS = {
    "loss": ("val/loss", "val/mae", "val/rmse", "val/r2", "val/within_half"),
    "search": ("val/problems", "val/solved", "val/expanded", "val/stopped"),
}
"""The metrics that a kind of validation logs beside `val/score` and `train/loss`."""
_POSITIVE = ("max_steps", "max_epochs", "limit_train_batches", "val_check_interval", "check_val_every_n_epoch")
_PRECISIONS = ("32-true", "16-mixed", "bf16-mixed")
_M_TRIM_THRESHOLD, _M_MMAP_MAX = -1, -4  # of malloc.h
_MEASURES = {"loss": "validation loss", "search": "search on the validation problems"}


def make_trainer(settings: Training, *extra: Callback) -> Trainer:
    """The trainer: checkpoints, averaged weights, one progress bar, and the callbacks and loggers of the settings.

    Args:
        settings: of the training.
        *extra: further callbacks.

    Raises:
        UsageError: when an option, a callback or a logger does not fit.
    """
    logging.getLogger("lightning.pytorch").setLevel(logging.WARNING)
    logging.getLogger("lightning.pytorch.profilers").setLevel(logging.INFO)
    warnings.filterwarnings("ignore", ".*does not have many workers.*")  # batches are made in this process on purpose
    warnings.filterwarnings("ignore", ".*treespec.*is deprecated.*")  # internal to Lightning and PyTorch
    warnings.filterwarnings("ignore", "Checkpoint directory .* exists and is not empty")  # when it is resumed
    options, callbacks = _choose_options(settings), _make_callbacks(settings, extra)
    loggers = [_make_instance(f"logger.{name}", one, Logger, settings) for name, one in settings.logger.items()]
    try:
        trainer = Trainer(**options, callbacks=callbacks, logger=loggers)
    except (ImportError, RuntimeError, TypeError, ValueError, MisconfigurationException) as error:
        accelerator, reason = options.get("accelerator", "auto"), str(error).partition("\n")[0]
        if accelerator not in ("auto", "cpu"):
            reason = f"{reason} give accelerator=auto or cpu, not {accelerator}"
        raise UsageError(f"trainer: {reason}") from error
    _require_usable(trainer, settings.validation.by)
    if settings.expert.problems and trainer.world_size > 1:
        raise UsageError(
            f"expert.problems: one process learns from it, not {trainer.world_size}: give trainer.devices=1"
        )
    trainer.strategy.checkpoint_io = ChecksummedIO()
    _prepare_processes(trainer, settings.run_dir)
    return trainer


def _prepare_processes(trainer: Trainer, run_dir: Path) -> None:
    """Give the folder of the run to further processes, which start this command again.

    Raises:
        UsageError: when they are started in another way, or by a job of a multirun, which they would repeat.
    """
    launcher = trainer.strategy.launcher
    if launcher is None:
        return
    if not isinstance(launcher, _SubprocessScriptLauncher):
        raise UsageError("trainer.strategy: processes that are forked or spawned lose the network: give ddp")
    if is_sweep() and trainer.world_size > 1:
        raise UsageError("trainer.devices: several processes do not train a job of -m: start each job by a command")
    sys.argv.append(f"run_dir={run_dir}")


def _make_callbacks(settings: Training, extra: Sequence[Callback]) -> list[Callback]:
    folder, by = settings.run_dir / CHECKPOINTS, settings.validation.by
    callbacks = [
        # `save_last` writes only when a monitored metric improves, or in the middle of an epoch.
        ModelCheckpoint(folder, Path(LAST).stem, save_on_train_epoch_end=True, enable_version_counter=False),
        TrainingProgress(describe_errors if by == "loss" else describe_search),
        Continuation(),
        *_make_averaging(settings.model.averaging),
        *extra,
        *(_make_instance(f"callbacks.{name}", one, Callback, settings) for name, one in settings.callbacks.items()),
    ]
    _require_metrics(callbacks, by)
    return callbacks


def _require_usable(trainer: Trainer, by: str) -> None:
    """Check that a trainer takes steps, validates, and trains weights that a model can have.

    Raises:
        UsageError: when it does not.
    """
    share = trainer.limit_val_batches  # or a number; one batch has all problems for search
    if not share or (by == "search" and share < 1):
        raise UsageError(f"trainer.limit_val_batches={share:g}: validation chooses the network: leave it out")
    for name in _POSITIVE:
        if getattr(trainer, name) == 0:
            raise UsageError(f"trainer.{name}=0: no step would be taken or validated: give at least 1, or leave it out")
    if trainer.precision not in _PRECISIONS:
        known = ", ".join(_PRECISIONS)
        raise UsageError(f"trainer.precision={trainer.precision}: weights have 32 bits: give one of {known}")


def _choose_options(settings: Training) -> dict[str, Any]:
    """The arguments of the trainer but callbacks and loggers.

    Raises:
        UsageError: when one is unknown or of the wrong type.
    """
    for name in ("callbacks", "logger"):
        if name in settings.trainer:
            raise UsageError(f"trainer.{name}: give +{name}.mine._target_=module.Class in place of it")
    ours: dict[str, Any] = {
        "default_root_dir": settings.run_dir,
        "enable_progress_bar": False,
        "enable_model_summary": False,
        "num_sanity_val_steps": 0 if settings.checkpoint else -1,  # all: the first validation, before any step
        "log_every_n_steps": 1,
    }
    options = ours | check("trainer", Trainer, settings.trainer)
    most, every = options.get("max_epochs") or -1, options.get("check_val_every_n_epoch") or 1
    if 0 < most < every:
        options["check_val_every_n_epoch"] = most
    if settings.expert.aggregation:
        if most < 0:
            raise UsageError("expert.aggregation: each follows as many epochs as trainer.max_epochs=, which is missing")
        options["max_epochs"] = most * (1 + settings.expert.aggregation)
    return options


def _require_metrics(callbacks: Sequence[Callback], by: str) -> None:
    """Check the metrics that callbacks monitor; early stopping waits for its first validation.

    Raises:
        UsageError: when a strict one monitors a metric that is not logged.
    """
    known = ("train/loss", "val/score", *METRICS[by])
    for one in callbacks:
        name, is_strict = getattr(one, "monitor", None), getattr(one, "strict", True)
        if name is not None and is_strict and name not in known:
            raise UsageError(f"{type(one).__name__}: {unknown('metric', name, known)}; strict=false allows others")
        if isinstance(one, EarlyStopping):
            one.strict = False  # else Lightning fails where a training ends before its first validation


def _make_averaging(decay: float) -> list[Callback]:
    """The callback that averages weights for validation and checkpoints; none for a decay of 0."""
    average: Any = get_ema_multi_avg_fn
    return [WeightAveraging(use_buffers=False, multi_avg_fn=average(decay))] if decay else []


def _make_instance(place: str, chosen: Mapping[str, Any], kind: type[Any], settings: Training) -> Any:
    """Make an object of a class that derives from `kind`; a `save_dir` of null is the folder of the run."""
    own = {"save_dir": settings.run_dir} if chosen.get("save_dir", "") is None else {}
    try:
        made = make({**chosen, **own}, None)
    except UsageError as error:
        raise UsageError(f"{place}: {error}") from error
    except Exception as error:  # a user's class may raise any exception
        raise UsageError(f"{place}: {chosen[TARGET]}: {str(error).partition(chr(10))[0]}") from error
    if not isinstance(made, kind):
        raise UsageError(f"{place}: {chosen[TARGET]} does not derive from Lightning's {kind.__name__}")
    return made


def write_settings(settings: Training) -> None:
    """Write the settings, and the overrides of the command line, into the folder of the run."""
    write_text(settings.run_dir / "config.yaml", as_yaml(settings))
    if HydraConfig.initialized():
        overrides = OmegaConf.to_yaml(HydraConfig.get().overrides.task)
        write_text(settings.run_dir / OVERRIDES, overrides)


def _keep_freed_memory() -> None:
    """Keep the memory of freed tensors: glibc returns that of large ones, and the system clears its pages."""
    with suppress(AttributeError, OSError):  # another C library
        libc = ctypes.CDLL(None)
        libc.mallopt(_M_MMAP_MAX, 0), libc.mallopt(_M_TRIM_THRESHOLD, -1)


def fit(trainer: Trainer, module: GineModule, data: LightningDataModule, checkpoint: Path | None) -> EarlyEnd | None:
    """Train, starting from a checkpoint if there is one; returns the interrupt or the divergence that ended it."""
    _keep_freed_memory()
    return _catch_end(trainer, lambda: trainer.fit(module, data, ckpt_path=checkpoint and str(checkpoint)))


def validate_last(trainer: Trainer, module: GineModule, data: LightningDataModule) -> EarlyEnd | None:
    """Validate the averaged weights of the last step of a training that has ended; returns what `fit` does."""
    return _catch_end(trainer, lambda: trainer.validate(module, datamodule=data, verbose=False))


def _catch_end(trainer: Trainer, run: Callable[[], object]) -> EarlyEnd | None:
    handler = signal.getsignal(signal.SIGINT)
    try:
        run()
    except SystemExit:  # raised by Lightning after a KeyboardInterrupt; it ignores further ones from there on
        if not trainer.is_global_zero:
            raise
        signal.signal(signal.SIGINT, handler)
        _forget_processes(trainer)
        return KeyboardInterrupt()
    except DivergedError as error:
        return error
    return None


def _forget_processes(trainer: Trainer) -> None:
    """Keep Lightning, which has killed the other processes, from killing this one when it sees that they are gone."""
    launcher: Any = trainer.strategy.launcher
    if launcher is not None:
        launcher.procs.clear()


def validate_interrupted(trainer: Trainer, module: GineModule, data: LightningDataModule, seconds: int) -> None:
    """Validate the averaged weights of the last step of an interrupted training in this process alone.

    Args:
        trainer: whose training was interrupted.
        module: its module.
        data: its data.
        seconds: give up after so many seconds, or when interrupted again.
    """
    for one in _find_callbacks(trainer, WeightAveraging):
        one.on_train_end(trainer, module)
    logger.info("interrupted: validating the network of the last step, for at most %d s", seconds)
    previous = signal.signal(signal.SIGALRM, signal.default_int_handler)
    signal.alarm(seconds)
    try:
        trainer.validate(module, datamodule=data, verbose=False)
    except (DivergedError, KeyboardInterrupt, SystemExit):
        logger.info("its validation was given up")
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, previous)


def _find_callbacks(trainer: Trainer, kind: type[C]) -> list[C]:
    untyped: Any = trainer
    return [one for one in untyped.callbacks if isinstance(one, kind)]


def describe_end(trainer: Trainer, epochs: int, by: str) -> str:
    """Describe in one line when and why a training stopped.

    Args:
        trainer: trainer of the training.
        epochs: number of epochs begun.
        by: kind of validation.
    """
    measure = _MEASURES[by]
    interval = trainer.val_check_interval  # a share of an epoch, or a number of steps
    is_once = trainer.check_val_every_n_epoch == 1 and isinstance(interval, float) and interval == 1
    unit = "epochs" if is_once else "validations"
    for early in trainer.early_stopping_callbacks:
        if isinstance(early, EarlyStopping) and early.stopping_reason is EarlyStoppingReason.PATIENCE_EXHAUSTED:
            return f"early stopping after epoch {epochs}: no better {measure} for {early.patience} {unit}"
        if isinstance(early, EarlyStopping) and early.stopping_reason is EarlyStoppingReason.NON_FINITE_METRIC:
            return f"stopped after epoch {epochs}: the {measure} is no finite number"
    if 0 <= trainer.max_steps <= trainer.global_step:
        return f"step limit: {trainer.max_steps:,} steps, epoch {epochs}"
    if trainer.max_epochs is not None and 0 <= trainer.max_epochs <= trainer.current_epoch:
        return f"epoch limit: {trainer.max_epochs:,} epochs, {trainer.global_step:,} steps"
    left = [one.time_remaining() for one in _find_callbacks(trainer, Timer)]
    if any(seconds is not None and seconds <= 0 for seconds in left):
        return f"time limit: {trainer.global_step:,} steps, epoch {epochs}"
    return f"stopped by a callback after {trainer.global_step:,} steps, epoch {epochs}"


def describe_errors(metrics: Mapping[str, float]) -> str:
    """A validation by loss in words."""
    return f"MAE {metrics['val/mae']:.3f} steps, R² {metrics['val/r2']:.2f}"


def describe_search(metrics: Mapping[str, float]) -> str:
    """A validation by search in words."""
    solved = f"{metrics['val/solved']:.0f} of {metrics['val/problems']:.0f} solved"
    return (
        f"at most {solved}, cut short"
        if metrics["val/stopped"]
        else f"{solved}, {metrics['val/expanded']:,.0f} expansions"
    )


class TrainingProgress(Callback):
    """One stage for the whole training, with the newest validation metrics.

    Args:
        describe: describes the metrics of a validation in words.
    """

    def __init__(self, describe: Callable[[Mapping[str, float]], str]) -> None:
        self._describe = describe
        self._validated = ""
        self._stage: Stage | None = None
        self._ending = ExitStack()

    def on_train_start(self, trainer: Trainer, pl_module: LightningModule) -> None:
        """Begin the stage; say that more batches are accumulated than an epoch has."""
        if trainer.is_global_zero:
            accumulated, batches = trainer.accumulate_grad_batches, trainer.num_training_batches
            if accumulated > batches:
                warnings.warn(
                    f"trainer.accumulate_grad_batches={accumulated} is more than the {batches:.0f} batches of an "
                    f"epoch: it acts as {batches:.0f}",
                    stacklevel=1,
                )
            stage = Stage("training", trainer.estimated_stepping_batches, stays=True)
            self._stage = self._ending.enter_context(stage)
            self._show(trainer)

    def on_train_batch_end(
        self, trainer: Trainer, pl_module: LightningModule, outputs: Any, batch: Any, batch_idx: int
    ) -> None:
        """Count the step."""
        self._show(trainer)

    def on_validation_end(self, trainer: Trainer, pl_module: LightningModule) -> None:
        """Show the newest metrics."""
        if self._stage is not None:
            metrics = {name: float(value) for name, value in trainer.callback_metrics.items()}
            self._validated = f", {self._describe(metrics)}"
            self._show(trainer)

    def on_exception(self, trainer: Trainer, pl_module: LightningModule, exception: BaseException) -> None:
        """End the stage after an error, as Lightning does not call `teardown` then."""
        self._ending.close()

    def teardown(self, trainer: Trainer, pl_module: LightningModule, stage: str) -> None:
        """End the stage."""
        self._ending.close()

    def _show(self, trainer: Trainer) -> None:
        if self._stage is not None:
            most = trainer.max_epochs or -1
            epoch = f"epoch {trainer.current_epoch + 1}" + (f" of {most}" if most > 0 else "")
            self._stage.update(trainer.global_step, f"{epoch}, step {trainer.global_step:,}{self._validated}")


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
