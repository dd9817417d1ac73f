"""The progress bar of an exploration."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn


@contextmanager
def show_visits(description: str, limit: int, *, transient: bool = False) -> Iterator[Callable[[int], None]]:
    """Show a progress bar, which remains unless `transient`; yields its update by the number of visited e-states."""
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.completed} e-states"),
        TimeElapsedColumn(),
    )
    with Progress(*columns, transient=transient) as progress:
        task = progress.add_task(description, total=limit)
        yield lambda visited: progress.update(task, completed=visited)
        progress.update(task, total=progress.tasks[0].completed)
