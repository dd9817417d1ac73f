"""Functions in processes of their own, with wall-clock and memory limits enforced from outside."""

from __future__ import annotations

import itertools
import multiprocessing
import os
import pickle
import signal
import sys
import threading
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from functools import cached_property
from math import inf
from multiprocessing import forkserver, resource_tracker
from multiprocessing.connection import Connection, wait
from multiprocessing.context import ForkContext, ForkServerContext
from time import monotonic
from typing import Any, ParamSpec

from epigym.errors import EpigymError
from search.agents.result import SearchStatus
from search.processes.channel import CallResult, Deadline, Message, Work, run_call
from search.processes.tree import ProcessTree

P = ParamSpec("P")
START_SECONDS = 60.0
"""For a process to start and to import what its call needs, which takes nothing of the call's time limit."""
GRACE_SECONDS = 0.2
"""From its deadline on, for a process to end by itself, which knows best how far it came."""
_LONGEST_POLL, _SHORTEST_POLL = 0.1, 0.005  # seconds
_FILLED_PER_SECOND = 4 << 30  # bytes: a process that fills memory is not faster
_OURS = {signal.SIGINT, signal.SIGTERM, signal.SIGUSR1, signal.SIGUSR2}
"""Signals that terminals and schedulers send to all processes and that only this one heeds, which ends the others."""
_SERVER = multiprocessing.get_context("forkserver")
_COPIES = multiprocessing.get_context("fork")
_STARTING = threading.RLock()  # a copy, which is made by who holds it, may start processes too
_ready: int | None = None  # the server that has answered


@dataclass(frozen=True, slots=True)
class Job:
    """A call to make in a process of its own.

    Attributes:
        key: names the job; any value.
        call: a function of a module, so that another process can import it.
        arguments: its arguments; they and the value it returns are pickled.
        takes_channel: whether the call also takes `channel`, a `ProgressChannel`, which may change the time limit.
        time_limit: seconds for the call; it is killed `GRACE_SECONDS` later.
    """

    key: Any
    call: Callable[..., Any]
    arguments: tuple[Any, ...]
    takes_channel: bool = False
    time_limit: float | None = None


@dataclass(frozen=True, slots=True)
class JobResult:
    """How the process of a job ended.

    Attributes:
        job: the job.
        value: what the call returned; what it told last when it was killed at a limit; else None.
        failure: None when the call returned; else `time_limit`, `memory_limit` or `error`.
        message: one line about an error.
        detail: the traceback of an exception.
        error: the exception, where it can travel between processes.
        seconds: from the beginning of the call to the end of the process.
        peak_bytes: most resident memory that was seen from outside.
        cpu_seconds: CPU time of the process, and of its children as far as it was seen from outside.
    """

    job: Job
    value: Any
    failure: SearchStatus | None
    message: str = ""
    detail: str = ""
    seconds: float = 0.0
    peak_bytes: int = 0
    cpu_seconds: float = 0.0
    error: Exception | None = None


def watch(
    jobs: Iterable[Job],
    *,
    parallel: int,
    wall_limit: float | None = None,
    memory_limit: int | None = None,
    preload: Sequence[str] = (),
    copies: bool = False,
) -> Generator[JobResult | Message | None, None, None]:
    """Run jobs, `parallel` at a time, and yield each ending and what the jobs tell as it comes.

    At least each tenth of a second it yields None: time to see whether anybody waits still. Closing the iterator kills
    the jobs that are still running; so does the death of this process. The time limit of a job holds from the moment on
    that its call begins; the process has `START_SECONDS` until then.

    Args:
        jobs: what to run; the next one is taken when a place is free.
        parallel: number of processes at a time.
        wall_limit: seconds until a process is killed, its start included.
        memory_limit: bytes of resident memory, its children's included, at which a process is killed.
        preload: modules to import once for all processes; no effect when this process has had jobs before.
        copies: whether they are copies of this process, which has no threads, and so start at once; else they come
            from a process of their own, which imports everything anew.

    Raises:
        EpigymError: when that process does not start in time.
    """
    if multiprocessing.get_start_method() not in multiprocessing.get_all_start_methods():
        multiprocessing.set_start_method("forkserver", force=True)  # joblib's own, which our processes do not know
    if not copies:
        yield from _start_server(preload)
    context = _COPIES if copies else _SERVER
    waiting = iter(jobs)
    running: dict[Connection, _Process] = {}
    try:
        while True:
            for job in itertools.islice(waiting, parallel - len(running)):
                process = _Process(job, context, wall_limit, memory_limit)
                running[process.connection] = process  # before it starts: whatever interrupts that kills it
                process.start()
            if not running:
                return
            wait(list(running), min(process.choose_patience() for process in running.values()))
            yield None
            for connection, process in list(running.items()):
                told, ending = process.receive()
                yield from told
                ending = ending or process.check()
                if ending is not None:
                    del running[connection]
                    yield ending
    finally:
        for process in running.values():
            process.kill()


def _only_endings(
    watch: Callable[P, Generator[JobResult | Message | None, None, None]],
) -> Callable[P, Generator[JobResult, None, None]]:
    def endings(*args: P.args, **kwargs: P.kwargs) -> Generator[JobResult, None, None]:
        with closing(watch(*args, **kwargs)) as found:
            yield from (each for each in found if isinstance(each, JobResult))

    return endings


supervise = _only_endings(watch)
"""As `watch`, the endings only."""


def _start_server(preload: Sequence[str]) -> Iterator[None]:
    """Start the process that others come from, and wait for it; yields while it imports.

    `_OURS` reach this process only, while the server imports as well.
    """
    global _ready
    _SERVER.set_forkserver_preload(list(preload))
    resource_tracker.ensure_running()  # else the server starts it, and that lets Ctrl-C through again
    with _STARTING, _defer_signals():
        forkserver.ensure_running()
    server = forkserver._forkserver._forkserver_pid  # type: ignore[attr-defined]
    if server == _ready:
        return
    first = threading.Thread(target=_start_idle_process, daemon=True)  # which blocks until the server answers
    first.start()
    end = monotonic() + START_SECONDS
    while first.is_alive():
        if monotonic() >= end:
            os.kill(server, signal.SIGKILL)
            raise EpigymError(_describe_late_start("the process that others come from"))
        first.join(_LONGEST_POLL)
        yield
    _ready = server


def _start_idle_process() -> None:
    """Start a process of the server that ends at once."""
    process = _SERVER.Process(target=bool)
    with suppress(OSError, EOFError):  # the server is dead, which who starts the next process notices
        with _STARTING, _hide_main_script():
            process.start()
        process.join()


def _describe_late_start(what: str) -> str:
    return f"{what} did not start within {START_SECONDS:g} s: the machine may be too busy"


def _forget_server() -> None:
    """A copy knows the server of the process that it is a copy of, and has none of its own."""
    forkserver._forkserver._forkserver_pid = None  # type: ignore[attr-defined]


os.register_at_fork(after_in_child=_forget_server)


@contextmanager
def _defer_signals() -> Iterator[None]:
    """`_OURS` have to wait; what is started meanwhile, and all that it starts, never heeds them."""
    late: list[int] = []
    heeded = {number: handler for number in _OURS if (handler := signal.getsignal(number)) is not None}
    before = signal.pthread_sigmask(signal.SIG_BLOCK, ())
    try:
        signal.pthread_sigmask(signal.SIG_BLOCK, _OURS)
        _set_handlers(dict.fromkeys(heeded, lambda number, _: late.append(number)))  # another thread may be sent them
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        _set_handlers(heeded)
        for number in late:
            signal.raise_signal(number)


def _set_handlers(handlers: Mapping[signal.Signals, Any]) -> None:
    """Handle signals so; only the main thread does, whoever is sent them."""
    if threading.current_thread() is threading.main_thread():
        for number, handler in handlers.items():
            signal.signal(number, handler)


@contextmanager
def _hide_main_script() -> Iterator[None]:
    """What is started meanwhile does not import the main script, which would start a search of its own again.

    A daemon may start it as well: it dies with its parent.
    """
    main, config = sys.modules["__main__"].__dict__, multiprocessing.current_process()._config  # type: ignore[attr-defined]
    names: dict[str, Any] = {name: main[name] for name in ("__spec__", "__file__") if name in main}
    daemon = {name: config.pop(name) for name in ("daemon",) if name in config}
    main.pop("__file__", None)
    main["__spec__"] = None
    try:
        yield
    finally:
        main.update(names)
        config.update(daemon)


class _Process:
    """A running job, seen from outside."""

    def __init__(
        self,
        job: Job,
        context: ForkContext | ForkServerContext,
        wall_limit: float | None,
        memory_limit: int | None,
    ) -> None:
        self.connection, sender = context.Pipe(duplex=False)
        self._job = job
        self._wall_limit = inf if wall_limit is None else wall_limit
        self._memory_limit = inf if memory_limit is None else memory_limit
        self._peak = 0
        self._told: Any = None
        self._deadline: float | None = None  # None until the call begins
        work: Work = (job.call, job.arguments)
        if context is not _COPIES:
            work = pickle.dumps(work)  # taken over at once, whatever the process imports to unpickle it
        self._process = context.Process(
            target=run_call, args=(sender, work, job.takes_channel, job.time_limit), daemon=False
        )
        self._sender = sender

    def start(self) -> None:
        """Start it; signals wait meanwhile, else it gets half of its job."""
        with _STARTING, _defer_signals(), _hide_main_script():
            self._start = self._begin = monotonic()
            self._process.start()
        self._sender.close()

    @cached_property
    def _tree(self) -> ProcessTree:
        assert self._process.pid is not None
        return ProcessTree(self._process.pid)

    def choose_patience(self) -> float:
        """Seconds until it is to be looked at again: the nearer it is to a limit the fewer."""
        until_full = max((self._memory_limit - self._tree.memory) / _FILLED_PER_SECOND, _SHORTEST_POLL)
        return max(min(until_full, self._end - monotonic(), _LONGEST_POLL), 0.0)

    @property
    def _end(self) -> float:
        """When it is killed."""
        end = self._start + START_SECONDS if self._deadline is None else self._deadline + GRACE_SECONDS
        return min(end, self._start + self._wall_limit)

    def receive(self) -> tuple[list[Message], JobResult | None]:
        """What it has told since, and the ending of a process that has returned or died."""
        told: list[Message] = []
        try:
            while self.connection.poll():
                match self.connection.recv():
                    case CallResult() as end:
                        self._process.join()
                        failure = SearchStatus.ERROR if end.message else None
                        return told, self._ending(failure, end.message, end.value, end)
                    case Message(value) as news:
                        told.append(news)
                        self._told = value
                    case Deadline(at, moment):
                        self._begin = at if self._deadline is None else self._begin
                        self._deadline = moment
        except (EOFError, OSError):  # at its end, or while it was sending
            self._process.join()
            message = f"the process died with exit code {self._process.exitcode}"
            return told, self._ending(SearchStatus.ERROR, message)
        return told, None

    def check(self) -> JobResult | None:
        """The ending of a process that exceeds a limit, which kills it, or None."""
        self._tree.update()
        self._peak = max(self._peak, self._tree.memory)
        if self._peak >= self._memory_limit:
            return self._stop(SearchStatus.MEMORY_LIMIT)
        if monotonic() >= self._end:
            if self._deadline is None and self._wall_limit > START_SECONDS:
                self.kill()
                return self._ending(SearchStatus.ERROR, _describe_late_start("the process"))
            return self._stop(SearchStatus.TIME_LIMIT)
        return None

    def kill(self) -> None:
        """Kill the process with all its children."""
        if self._process.pid is not None:  # else it never started
            self._tree.kill()
            self._process.join()
        self.connection.close()

    def _stop(self, limit: SearchStatus) -> JobResult:
        self.kill()
        return self._ending(limit, f"killed from outside at the {limit.replace('_', ' ')}", self._told)

    def _ending(
        self, failure: SearchStatus | None, message: str, value: Any = None, end: CallResult | None = None
    ) -> JobResult:
        self.connection.close()
        detail, error, own_seconds = (end.detail, end.error, end.cpu_seconds) if end else ("", None, None)
        seconds, cpu_seconds = monotonic() - self._begin, self._tree.cpu_seconds(own_seconds)
        return JobResult(self._job, value, failure, message, detail, seconds, self._peak, cpu_seconds, error)
