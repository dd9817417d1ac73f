"""Progress of stages that may take minutes: a bar on a terminal, elsewhere a line of the log every 30 seconds."""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Iterable, Iterator, Sized
from contextlib import ExitStack, suppress
from typing import TYPE_CHECKING, Self, TypeVar

if TYPE_CHECKING:
    from rich.progress import Progress

T = TypeVar("T")

INTERVAL = 30.0
"""Seconds between two lines of a stage where the output is no terminal."""

logger = logging.getLogger(__name__)


class Stage:
    """A stage of a command as a context manager; a stage within another one shares its line, or is a further bar.

    Only the first process of a distributed training shows it.

    Args:
        name: of the stage.
        total: its number of items.
        stays: whether the bar stays on the terminal after the end.

    Attributes:
        name: of the stage.
    """

    def __init__(self, name: str, total: float, *, stays: bool = False) -> None:
        self.name, self._text, self._total, self._stays = name, "", total, stays
        self._bar: Progress | None = None
        self._ending = ExitStack()

    def __enter__(self) -> Self:
        """Show the stage."""
        _open.append(self)
        if self is _open[0] and int(os.environ.get("LOCAL_RANK", 0)) == 0:
            self._start_display()
        self._bar = _open[0]._bar
        if self._bar is not None:
            self._row = self._bar.add_task(self.name, total=self._total, text="")
            if self is not _open[0]:
                self._ending.callback(self._bar.remove_task, self._row)
        return self

    def __exit__(self, *_: object) -> None:
        """End the stage, and those within it that an error has left."""
        if self in _open:  # unless an error has ended the stage around it, or this is a copy of the process
            del _open[_open.index(self) :]
            self._ending.close()

    def update(self, done: float, text: str) -> None:
        """Show how far the stage is.

        Args:
            done: number of finished items.
            text: the same in words.
        """
        self._text = text
        if self._bar is not None:
            self._bar.update(self._row, completed=done, text=text)

    def _start_display(self) -> None:
        """Start a bar, or a thread, as a single item may take minutes."""
        from rich import get_console
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

        console = get_console()
        if console.is_terminal or console.is_jupyter:
            name, text = (TextColumn(f"{{task.{field}}}", markup=False) for field in ("description", "fields[text]"))
            times = (TimeElapsedColumn(), TextColumn("left"), TimeRemainingColumn())
            self._bar = Progress(name, BarColumn(20), text, *times, console=console, transient=not self._stays)
            self._bar.start()
            self._ending.callback(self._bar.stop)
            return
        ended = threading.Event()
        thread = threading.Thread(target=self._write_lines, args=(ended,), daemon=True)
        thread.start()
        self._ending.callback(thread.join)
        self._ending.callback(ended.set)  # the last one is called first

    def _write_lines(self, ended: threading.Event) -> None:
        start = time.monotonic()
        with suppress(BrokenPipeError):  # which ends the command when it writes itself
            while not ended.wait(INTERVAL):
                if self in (stages := tuple(_open)):
                    parts = [f"{stage.name}: {stage._text}" for stage in stages]
                    logger.info("%s; %.0f s", "; ".join(parts), time.monotonic() - start)


_open: list[Stage] = []
"""The stages that have begun, each within the one before; only the first has a display of its own."""
os.register_at_fork(after_in_child=_open.clear)  # the display is left to the original process


def track(items: Iterable[T], name: str, unit: str = "problems", *, total: int | None = None) -> Iterator[T]:
    """Yield items as a stage that counts them.

    Args:
        items: the items.
        name: of the stage.
        unit: what they are, in the plural.
        total: their number, where it is not their length.
    """
    number = len(items) if total is None and isinstance(items, Sized) else total or 0
    with Stage(name, number) as stage:
        stage.update(0, f"0 of {number} {unit}")
        for done, item in enumerate(items, 1):
            yield item
            stage.update(done, f"{done} of {number} {unit}")
