"""Functions in processes of their own, with wall-clock and memory limits enforced from outside."""

from __future__ import annotations

import itertools
import multiprocessing
import os
import signal
import threading
import traceback
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from multiprocessing import forkserver, resource_tracker
from multiprocessing.connection import Connection, wait
from multiprocessing.context import ForkContext, ForkServerContext
from time import monotonic, process_time
from typing import Any

import psutil

from epigym.errors import EpigymError
from search.agents.result import SearchStatus

_POLL_SECONDS = 0.1
_OURS = {signal.SIGINT, signal.SIGTERM, signal.SIGUSR1, signal.SIGUSR2}
"""Signals that terminals and schedulers send to all processes and that only this one heeds, which ends the others."""
_SERVER = multiprocessing.get_context("forkserver")
_COPIES = multiprocessing.get_context("fork")


@dataclass(frozen=True, slots=True)
class Job:
    """A call to make in a process of its own.

    Attributes:
        key: names the job; any value.
        call: a function of a module, so that another process can import it.
        arguments: its arguments; they and the value it returns are pickled.
    """

    key: Any
    call: Callable[..., Any]
    arguments: tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Ending:
    """How the process of a job ended.

    Attributes:
        job: the job.
        value: what the call returned, or None when it did not return.
        failure: None when the call returned; else `time_limit`, `memory_limit` or `error`.
        message: one line about an error.
        detail: the traceback of an exception.
        seconds: from the start of the process to its end.
        peak_bytes: most resident memory that was seen from outside.
        cpu_seconds: CPU time of the process, and of its children as far as it was seen from outside.
    """

    job: Job
    value: Any
    failure: SearchStatus | None
    message: str
    detail: str
    seconds: float
    peak_bytes: int
    cpu_seconds: float


def supervise(
    jobs: Iterable[Job],
    *,
    parallel: int,
    wall_limit: float | None = None,
    memory_limit: int | None = None,
    shared_memory: int | None = None,
    preload: Sequence[str] = (),
    copies: bool = False,
) -> Generator[Ending, None, None]:
    """Run jobs, `parallel` at a time, and yield each as it ends; arguments as `watch`.

    Closing the iterator kills the jobs that are still running; so does the death of this process.
    """
    watched = watch(
        jobs,
        parallel=parallel,
        wall_limit=wall_limit,
        memory_limit=memory_limit,
        shared_memory=shared_memory,
        preload=preload,
        copies=copies,
    )
    with closing(watched) as endings:
        yield from (ending for ending in endings if ending is not None)


def watch(
    jobs: Iterable[Job],
    *,
    parallel: int,
    wall_limit: float | None = None,
    memory_limit: int | None = None,
    shared_memory: int | None = None,
    preload: Sequence[str] = (),
    copies: bool = False,
) -> Generator[Ending | None, None, None]:
    """The same, and after each tenth of a second in which nothing ended None: time to see whether anybody waits still.

    Args:
        jobs: what to run; the next one is taken when a place is free.
        parallel: number of processes at a time.
        wall_limit: seconds until a process is killed.
        memory_limit: bytes of resident memory, its children's included, at which a process is killed.
        shared_memory: bytes that all processes hold together at which the one that holds most is killed.
        preload: modules to import once for all processes; no effect when this process has had jobs before.
        copies: whether they are copies of this process, which has no threads, and so start at once; else they come
            from a process of their own, which imports everything anew.
    """
    if multiprocessing.get_start_method() not in multiprocessing.get_all_start_methods():
        multiprocessing.set_start_method("forkserver", force=True)  # joblib's own, which our processes do not know
    if not copies:
        _start_server(preload)
    context = _COPIES if copies else _SERVER
    waiting = iter(jobs)
    running: dict[Connection, _Process] = {}
    try:
        while True:
            for job in itertools.islice(waiting, parallel - len(running)):
                process = _Process(job, context)
                running[process.connection] = process
            if not running:
                return
            ready = wait(list(running), _POLL_SECONDS)
            if not ready:
                yield None
            for connection, process in list(running.items()):
                ending = process.collect() if connection in ready else process.check(wall_limit, memory_limit)
                if ending is not None:
                    del running[connection]
                    yield ending
            if shared_memory is not None and sum(process.memory for process in running.values()) >= shared_memory:
                connection, process = max(running.items(), key=lambda item: item[1].memory)
                del running[connection]
                yield process.stop(SearchStatus.MEMORY_LIMIT)
    finally:
        for process in running.values():
            process.kill()


def _start_server(preload: Sequence[str]) -> None:
    """Start the process that others come from; `_OURS` reach this process only, while the server imports as well."""
    _SERVER.set_forkserver_preload(list(preload))
    resource_tracker.ensure_running()  # else the server starts it, and that lets Ctrl-C through again
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _OURS)  # inherited by all that it starts
    try:
        forkserver.ensure_running()
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


class _Process:
    """A running job, seen from outside."""

    def __init__(self, job: Job, context: ForkContext | ForkServerContext) -> None:
        self.connection, sender = context.Pipe(duplex=False)
        self.memory = 0  # bytes, as last seen
        self._job = job
        self._start = monotonic()
        self._peak = 0
        self._cpu: dict[psutil.Process, float] = {}  # seconds, as last seen
        # Not a daemon: the jobs of the runner may be portfolios, which have processes of their own.
        self._process = context.Process(target=_enter, args=(sender, job), daemon=False)
        self._process.start()
        sender.close()
        self._watched = psutil.Process(self._process.pid)

    def collect(self) -> Ending:
        """The ending of a process that has something to say, or has died."""
        try:
            value, message, detail, self._cpu[self._watched] = self.connection.recv()
        except (EOFError, OSError):  # at its end, or while it was sending
            self._process.join()
            return self._ending(SearchStatus.ERROR, f"the process died with exit code {self._process.exitcode}")
        self._process.join()
        return self._ending(SearchStatus.ERROR if message else None, message, detail, value)

    def check(self, wall_limit: float | None, memory_limit: int | None) -> Ending | None:
        """The ending of a process that exceeds a limit, which kills it, or None."""
        self.memory = self._look()
        self._peak = max(self._peak, self.memory)
        if memory_limit is not None and self._peak >= memory_limit:
            return self.stop(SearchStatus.MEMORY_LIMIT)
        if wall_limit is not None and monotonic() - self._start >= wall_limit:
            return self.stop(SearchStatus.TIME_LIMIT)
        return None

    def kill(self) -> None:
        """Kill the process with all its children."""
        for process in self._tree():
            with suppress(psutil.NoSuchProcess):
                process.kill()
        self._process.join()
        self.connection.close()

    def stop(self, limit: SearchStatus) -> Ending:
        """The ending of a process that is killed at a limit."""
        self.kill()
        return self._ending(limit, f"killed from outside at the {limit.replace('_', ' ')}")

    def _ending(self, failure: SearchStatus | None, message: str = "", detail: str = "", value: Any = None) -> Ending:
        self.connection.close()
        seconds = monotonic() - self._start
        return Ending(self._job, value, failure, message, detail, seconds, self._peak, sum(self._cpu.values()))

    def _tree(self) -> list[psutil.Process]:
        with suppress(psutil.NoSuchProcess):
            return [self._watched, *self._watched.children(recursive=True)]
        return []

    def _look(self) -> int:
        """Note the CPU times of the process and its children; return the memory that they hold."""
        total = 0
        for process in self._tree():
            with suppress(psutil.NoSuchProcess):
                total += process.memory_info().rss
                times = process.cpu_times()
                self._cpu[process] = times.user + times.system
        return total


def _enter(sender: Connection, job: Job) -> None:
    """What a new process does: make the call and send its value, or the exception, to the parent."""
    threading.Thread(target=_die_with_parent, daemon=True).start()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the parent too, which ends its children
    try:
        outcome: tuple[Any, str, str] = (job.call(*job.arguments), "", "")
    except EpigymError as error:
        outcome = (None, str(error).partition("\n")[0], traceback.format_exc())
    except Exception as error:
        outcome = (None, f"{type(error).__name__}: {error}", traceback.format_exc())
    sender.send((*outcome, process_time()))


def _die_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
