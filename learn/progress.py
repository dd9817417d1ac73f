"""Progress bars."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from lightning import Callback, LightningModule, Trainer
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn


@contextmanager
def visits(description: str, limit: int) -> Iterator[Callable[[int], None]]:
    """A bar for an exploration; yields the function that takes the number of e-states visited so far."""
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.completed} e-states"),
        TimeElapsedColumn(),
    )
    with Progress(*columns) as progress:
        task = progress.add_task(description, total=limit)
        yield lambda visited: progress.update(task, completed=visited)
        progress.update(task, total=progress.tasks[0].completed)


class TrainingProgress(Callback):
    """One bar for the whole training, with the newest validation metrics."""

    def __init__(self) -> None:
        """Make the bar; it appears when training starts."""
        self._progress = Progress(
            TextColumn("training"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("steps  {task.description}"),
            TimeElapsedColumn(),
            TimeRemainingColumn(),
        )

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
            text = "epoch {}  val loss {:.2e}  MAE {:.3f} steps  R² {:.3f}"
            values = (metrics["val/loss"], metrics["val/mae"], metrics["val/r2"])
            self._progress.update(task, description=text.format(trainer.current_epoch + 1, *values))

    def teardown(self, trainer: Trainer, pl_module: LightningModule, stage: str) -> None:
        """Leave the bar as it is, also after an error."""
        self._progress.stop()
