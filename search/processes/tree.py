"""A process and all below it: what memory they hold and what time of the processor they took."""

from __future__ import annotations

from contextlib import suppress
from time import monotonic

import psutil

_SHARE = 0.01  # of the time, at most, goes into looking for new processes
_LEAST_SECONDS = 0.1


class ProcessTree:
    """A process and all below it, as they were when last looked at.

    Pages that processes share count for each.

    Args:
        pid: of the process.

    Attributes:
        memory: bytes of resident memory that they hold together.
    """

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self._processes: list[psutil.Process] = []
        with suppress(psutil.NoSuchProcess):
            self._processes = [psutil.Process(pid)]
        self._seconds: dict[psutil.Process, float] = {}
        self._next_search = monotonic() + _LEAST_SECONDS
        self.update()

    def update(self) -> None:
        """See what they hold; now and then, whether there are new ones."""
        if monotonic() >= self._next_search:
            self._search()
        self.memory = 0
        for process in self._processes:
            with suppress(psutil.NoSuchProcess):
                self.memory += process.memory_info().rss
                times = process.cpu_times()
                self._seconds[process] = times.user + times.system

    def kill(self) -> None:
        """Kill them all."""
        self._search()
        for process in self._processes:
            with suppress(psutil.NoSuchProcess):
                process.kill()

    def cpu_seconds(self, own: float | None) -> float:
        """Seconds of the processor that they took.

        Args:
            own: what the process itself said at its end.
        """
        seconds = {process.pid: spent for process, spent in self._seconds.items()}
        if own is not None:
            seconds[self._pid] = own
        return sum(seconds.values())

    def _search(self) -> None:
        """Find out again which processes there are."""
        start = monotonic()
        with suppress(psutil.NoSuchProcess, IndexError):
            root = self._processes[0]
            self._processes = [root, *root.children(recursive=True)]
        end = monotonic()
        self._next_search = end + max(_LEAST_SECONDS, (end - start) / _SHARE)
