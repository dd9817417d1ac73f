"""The memory and CPU time of a process and its descendants."""

from __future__ import annotations

from contextlib import suppress
from time import monotonic

import psutil

_SHARE = 0.01  # of the time, at most, that looking for new processes takes
_LEAST_SECONDS = 0.1


class ProcessTree:
    """A process and its descendants, as of the last call of `update`.

    Pages that processes share count for each of them.

    Args:
        pid: the id of the process.

    Attributes:
        memory: bytes of resident memory of all processes.
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
        """Measure memory and CPU time; from time to time, look for new processes."""
        if monotonic() >= self._next_search:
            self._search()
        self.memory = 0
        for process in self._processes:
            with suppress(psutil.NoSuchProcess):
                self.memory += process.memory_info().rss
                times = process.cpu_times()
                self._seconds[process] = times.user + times.system

    def kill(self) -> None:
        """Kill all processes."""
        self._search()
        for process in self._processes:
            with suppress(psutil.NoSuchProcess):
                process.kill()

    def cpu_seconds(self, own: float | None) -> float:
        """CPU seconds of all processes.

        Args:
            own: the CPU seconds that the process itself reported at its end; None when it reported none.
        """
        seconds = {process.pid: spent for process, spent in self._seconds.items()}
        if own is not None:
            seconds[self._pid] = own
        return sum(seconds.values())

    def _search(self) -> None:
        """Look for new descendants."""
        start = monotonic()
        with suppress(psutil.NoSuchProcess, IndexError):
            root = self._processes[0]
            self._processes = [root, *root.children(recursive=True)]
        end = monotonic()
        self._next_search = end + max(_LEAST_SECONDS, (end - start) / _SHARE)
