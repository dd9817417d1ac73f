"""The log of a run, in the folder of the run."""

from __future__ import annotations

import logging
from pathlib import Path


class RunLog(logging.FileHandler):
    """Writes records to a file once its folder is there, which it never makes.

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
        if self._earlier and Path(self.baseFilename).parent.is_dir():
            for one in self._earlier:
                super().emit(one)
            self._earlier.clear()
