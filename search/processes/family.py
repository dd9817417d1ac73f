"""The processes below this one: what memory they hold and what time of the processor they took."""

from __future__ import annotations

from contextlib import suppress
from time import monotonic

import psutil

_SHARE = 0.02  # of the time, at most, goes into looking for new processes
_LEAST_SECONDS = 0.1


class Family:
    """This process and all below it, as they were when last looked at.

    Pages that processes share count for each.

    Attributes:
        together: bytes of resident memory that all hold together.
        most_together: the most that was seen.
    """

    def __init__(self) -> None:
        self.together = self.most_together = 0
        self._me = psutil.Process()
        self._below: dict[int, list[psutil.Process]] = {}  # of a job, by its process: this one and all below it
        self._memory: dict[psutil.Process, int] = {}
        self._seconds: dict[int, dict[psutil.Process, float]] = {}
        self._others: list[psutil.Process] = []
        self._next_search = monotonic() + _LEAST_SECONDS

    def add(self, pid: int) -> None:
        """Look at the process of a job from now on."""
        with suppress(psutil.NoSuchProcess):
            self._below[pid] = [psutil.Process(pid)]
        self._seconds[pid] = {}
        self.look()

    def look(self) -> None:
        """See what memory they hold; now and then, whether there are new processes."""
        start = monotonic()
        if start >= self._next_search:
            self._search()
            took = monotonic() - start
            self._next_search = start + max(_LEAST_SECONDS, took / _SHARE)
        self._memory = {}
        for pid, processes in self._below.items():
            for process in processes:
                with suppress(psutil.NoSuchProcess):
                    self._memory[process] = process.memory_info().rss
                    times = process.cpu_times()
                    self._seconds[pid][process] = times.user + times.system
        for process in (self._me, *self._others):
            with suppress(psutil.NoSuchProcess):
                self._memory[process] = process.memory_info().rss
        self.together = sum(self._memory.values())
        self.most_together = max(self.most_together, self.together)

    def memory(self, pid: int) -> int:
        """Bytes that the process of a job and those below it hold."""
        return sum(self._memory.get(process, 0) for process in self._below.get(pid, []))

    def kill(self, pid: int) -> None:
        """Kill the process of a job and all below it."""
        with suppress(psutil.NoSuchProcess):
            root = psutil.Process(pid)
            for process in (root, *root.children(recursive=True)):
                with suppress(psutil.NoSuchProcess):
                    process.kill()

    def forget(self, pid: int, own_seconds: float | None) -> float:
        """Look at the process of a job no more; the seconds of the processor that it and those below it took.

        Args:
            pid: of the process.
            own_seconds: what it said itself, at its end.
        """
        self._below.pop(pid, None)
        seconds = {process.pid: spent for process, spent in self._seconds.pop(pid, {}).items()}
        if own_seconds is not None:
            seconds[pid] = own_seconds
        return sum(seconds.values())

    def _search(self) -> None:
        """Find out again which processes there are."""
        all_below = self._me.children(recursive=True)
        parents = {}
        for process in all_below:
            with suppress(psutil.NoSuchProcess):
                parents[process.pid] = process.ppid()
        found: dict[int, list[psutil.Process]] = {pid: [] for pid in self._below}
        self._others = []
        for process in all_below:
            pid: int | None = process.pid
            while pid is not None and pid not in found:
                pid = parents.get(pid)
            (self._others if pid is None else found[pid]).append(process)
        self._below = found
