"""The log of a run, in the folder of the run."""

from __future__ import annotations

import logging
import sys
from pathlib import Path
from typing import TextIO

from epigym.io.locking import LOCK


class ConsoleLog(logging.StreamHandler[TextIO]):
    """Writes records to the console until its pipe is closed."""

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802
        """Raise the error of a closed pipe, which ends the command."""
        error = sys.exc_info()[1]
        if isinstance(error, BrokenPipeError):
            raise error
        super().handleError(record)


class RunLog(logging.FileHandler):
    """Writes records to a file once its folder is there and holds more than a lock; it never makes the folder.

    Args:
        filename: the file.
    """

    def __init__(self, filename: str) -> None:
        super().__init__(filename, encoding="utf-8", errors="replace", delay=True)
        self._earlier: list[logging.LogRecord] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Write a record and those before it, or keep it."""
        self._earlier.append(record)
        self._write()

    def close(self) -> None:
        """Write the records that are kept, and close the file."""
        self._write()
        super().close()

    def _write(self) -> None:
        folder = Path(self.baseFilename).parent
        if self._earlier and folder.is_dir() and [one.name for one in folder.iterdir()] != [LOCK]:
            for one in self._earlier:
                super().emit(one)
            self._earlier.clear()
