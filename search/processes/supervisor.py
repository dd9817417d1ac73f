"""Runs functions in separate processes and enforces their time and memory limits from outside."""

from __future__ import annotations

import itertools
import multiprocessing
import os
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
from typing import Any

from epigym.errors import EpigymError
from search.agents.result import SearchStatus
from search.agents.run import Counts
from search.processes.channel import CallResult, Deadline, Message, Work, pickle_work, run_call
from search.processes.tree import ProcessTree

START_SECONDS = 60.0
"""The time for a process to start and to import the modules of its call, apart from the call's time limit."""
GRACE_SECONDS = 0.2
"""The time after the deadline for a process to end by itself, with an exact result."""
_LONGEST_POLL, _SHORTEST_POLL = 0.1, 0.005  # seconds
_FILLED_PER_SECOND = 4 << 30  # bytes that a process fills at most
_OURS = {signal.SIGINT, signal.SIGTERM, signal.SIGUSR1, signal.SIGUSR2}
"""Signals that terminals and schedulers send to all processes; only this process handles them and ends the others."""
_SERVER = multiprocessing.get_context("forkserver")
_COPIES = multiprocessing.get_context("fork")
_STARTING = threading.RLock()  # reentrant: a forked copy holds it too and may start processes
_ready: int | None = None  # the process id of the fork server that has answered


@dataclass(frozen=True, slots=True)
class Job:
    """A call to make in a separate process.

    Attributes:
        key: identifies the job; any value.
        call: a function at the top level of a module.
        arguments: its arguments; they and its return value are pickled.
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
    """The result of a job.

    Attributes:
        job: the job.
        value: the return value; after a limit, the last intermediate result that the call sent, counts excepted; else
            None.
        failure: None when the call returned; else `time_limit`, `memory_limit` or `error`.
        message: one line about an error.
        detail: the traceback of an exception.
        error: the exception, when it can be pickled.
        seconds: from the start of the call to the end of the process.
        peak_bytes: the peak resident memory, measured from outside.
        cpu_seconds: the CPU time of the process, and that of its children as far as measured from outside.
        counts: the last counts that the call sent after `value`; None when it sent none.
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
    counts: Counts | None = None


def watch(
    jobs: Iterable[Job],
    *,
    parallel: int,
    wall_limit: float | None = None,
    memory_limit: int | None = None,
    preload: Sequence[str] = (),
    copies: bool = False,
) -> Generator[JobResult | Message | None, None, None]:
    """Run jobs, `parallel` at a time; yields their messages and results as they arrive.

    It also yields None, at least ten times a second, so that the caller regains control. Closing the iterator kills the
    running jobs; so does the death of this process. The time limit of a job starts with its call, for which the process
    has `START_SECONDS` to get ready.

    Args:
        jobs: the jobs; the next one starts when a process is free.
        parallel: the number of processes at a time.
        wall_limit: seconds after which a process is killed, its start included.
        memory_limit: bytes of resident memory, with its children's, at which a process is killed.
        preload: modules to import once for all processes; no effect when this process has run jobs before.
        copies: whether to fork this process, which must have no threads, so that jobs start at once; else they are
            forked from a fork server, a process that imports everything anew.

    Raises:
        UnsendableError: when a job cannot be pickled for the fork server.
        EpigymError: when the fork server does not start in time.
    """
    if multiprocessing.get_start_method() not in multiprocessing.get_all_start_methods():
        multiprocessing.set_start_method("forkserver", force=True)  # joblib sets its own
    if not copies:
        yield from _start_server(preload)
    context = _COPIES if copies else _SERVER
    waiting = iter(jobs)
    running: dict[Connection, _Process] = {}
    try:
        while True:
            for job in itertools.islice(waiting, parallel - len(running)):
                process = _Process(job, context, wall_limit, memory_limit)
                running[process.connection] = process  # before the start, so that an interruption kills it
                process.start()
            if not running:
                return
            wait(list(running), min(process.choose_poll_seconds() for process in running.values()))
            yield None
            for connection, process in list(running.items()):
                messages, result = process.receive()
                yield from messages
                result = result or process.check()
                if result is not None:
                    del running[connection]
                    yield result
    finally:
        for process in running.values():
            process.kill()


def supervise(jobs: Iterable[Job], **options: Any) -> Generator[JobResult, None, None]:
    """Run jobs as `watch` does, with the same options; yields only their results."""
    with closing(watch(jobs, **options)) as received:
        yield from (each for each in received if isinstance(each, JobResult))


def _start_server(preload: Sequence[str]) -> Iterator[None]:
    """Start the fork server and wait for it; yields while it imports.

    The signals `_OURS` reach this process only, also while the server imports.
    """
    global _ready
    _SERVER.set_forkserver_preload(list(preload))
    resource_tracker.ensure_running()  # else the server would start it, with Ctrl-C unblocked
    with _STARTING, _defer_signals():
        forkserver.ensure_running()
    server = forkserver._forkserver._forkserver_pid  # type: ignore[attr-defined]
    if server == _ready:
        return
    first = threading.Thread(target=_start_idle_process, daemon=True)  # blocks until the server answers
    first.start()
    end = monotonic() + START_SECONDS
    while first.is_alive():
        if monotonic() >= end:
            os.kill(server, signal.SIGKILL)
            raise EpigymError(_describe_late_start("the fork server"))
        first.join(_LONGEST_POLL)
        yield
    _ready = server


def _start_idle_process() -> None:
    """Start a process that ends at once."""
    process = _SERVER.Process(target=bool)
    with suppress(OSError, EOFError):  # the server is dead: the start of the next process fails
        with _STARTING, _hide_main_script():
            process.start()
        process.join()


def _describe_late_start(what: str) -> str:
    return f"{what} did not start within {START_SECONDS:g} s: the machine may be too busy"


def _forget_server() -> None:
    """Forget the fork server in a forked copy: it belongs to the original process."""
    forkserver._forkserver._forkserver_pid = None  # type: ignore[attr-defined]


os.register_at_fork(after_in_child=_forget_server)


@contextmanager
def _defer_signals() -> Iterator[None]:
    """Defer the signals `_OURS` during a block; processes started in it, and their descendants, block them."""
    late: list[int] = []
    handled = {number: handler for number in _OURS if (handler := signal.getsignal(number)) is not None}
    before = signal.pthread_sigmask(signal.SIG_BLOCK, ())
    try:
        signal.pthread_sigmask(signal.SIG_BLOCK, _OURS)
        _set_handlers(dict.fromkeys(handled, lambda number, _: late.append(number)))  # another thread may receive them
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        _set_handlers(handled)
        for number in late:
            signal.raise_signal(number)


def _set_handlers(handlers: Mapping[signal.Signals, Any]) -> None:
    """Set handlers of signals, in the main thread only: no other thread may."""
    if threading.current_thread() is threading.main_thread():
        for number, handler in handlers.items():
            signal.signal(number, handler)


@contextmanager
def _hide_main_script() -> Iterator[None]:
    """Hide the main script during a block: a process started in it would import the script and run it again.

    A daemon may start such a process as well: it dies with its parent.
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
    """The process of a running job."""

    def __init__(
        self,
        job: Job,
        context: ForkContext | ForkServerContext,
        wall_limit: float | None,
        memory_limit: int | None,
    ) -> None:
        # Pickled here and sent at once: the process imports modules only when it unpickles them.
        is_copy = context is _COPIES
        work: Work = (job.call, job.arguments) if is_copy else pickle_work(job.call, job.arguments)
        self.connection, sender = context.Pipe(duplex=False)
        self._job = job
        self._wall_limit = inf if wall_limit is None else wall_limit
        self._memory_limit = inf if memory_limit is None else memory_limit
        self._peak = 0
        self._latest: Any = None
        self._counts: Counts | None = None
        self._deadline: float | None = None  # None until the call starts
        self._process = context.Process(
            target=run_call, args=(sender, work, job.takes_channel, job.time_limit), daemon=False
        )
        self._sender = sender

    def start(self) -> None:
        """Start the process; signals are deferred, else it could receive half of its job."""
        with _STARTING, _defer_signals(), _hide_main_script():
            self._start = self._begin = monotonic()
            self._process.start()
        self._sender.close()

    @cached_property
    def _tree(self) -> ProcessTree:
        assert self._process.pid is not None
        return ProcessTree(self._process.pid)

    def choose_poll_seconds(self) -> float:
        """Seconds until the next check: fewer near a limit."""
        until_full = max((self._memory_limit - self._tree.memory) / _FILLED_PER_SECOND, _SHORTEST_POLL)
        return max(min(until_full, self._end - monotonic(), _LONGEST_POLL), 0.0)

    @property
    def _end(self) -> float:
        """The time at which the process is killed."""
        end = self._start + START_SECONDS if self._deadline is None else self._deadline + GRACE_SECONDS
        return min(end, self._start + self._wall_limit)

    def receive(self) -> tuple[list[Message], JobResult | None]:
        """The messages since the last call, and the result when the process has returned or died."""
        messages: list[Message] = []
        try:
            while self.connection.poll():
                match self.connection.recv():
                    case CallResult() as end:
                        self._process.join()
                        failure = SearchStatus.ERROR if end.message else None
                        return messages, self._make_result(failure, end.message, end.value, end)
                    case Message(Counts() as counts) as news:
                        messages.append(news)
                        self._counts = counts
                    case Message(value) as news:
                        messages.append(news)
                        self._latest, self._counts = value, None
                    case Deadline(at, moment):
                        self._begin = at if self._deadline is None else self._begin
                        self._deadline = moment
        except (EOFError, OSError):  # the process died, perhaps while it was sending
            self._process.join()
            message = f"the process died with exit code {self._process.exitcode}"
            return messages, self._make_result(SearchStatus.ERROR, message)
        return messages, None

    def check(self) -> JobResult | None:
        """Kill the process when it exceeds a limit; returns the result then, else None."""
        self._tree.update()
        self._peak = max(self._peak, self._tree.memory)
        if self._peak >= self._memory_limit:
            return self._stop(SearchStatus.MEMORY_LIMIT)
        if monotonic() >= self._end:
            if self._deadline is None and self._wall_limit > START_SECONDS:
                self.kill()
                return self._make_result(SearchStatus.ERROR, _describe_late_start("the process"))
            return self._stop(SearchStatus.TIME_LIMIT)
        return None

    def kill(self) -> None:
        """Kill the process and its descendants."""
        if self._process.pid is not None:  # else it has not started
            self._tree.kill()
            self._process.join()
        self.connection.close()

    def _stop(self, limit: SearchStatus) -> JobResult:
        self.kill()
        return self._make_result(limit, f"killed from outside at the {limit.replace('_', ' ')}", self._latest)

    def _make_result(
        self, failure: SearchStatus | None, message: str, value: Any = None, end: CallResult | None = None
    ) -> JobResult:
        self.connection.close()
        detail, error, own_seconds = (end.detail, end.error, end.cpu_seconds) if end else ("", None, None)
        seconds, cpu_seconds = monotonic() - self._begin, self._tree.cpu_seconds(own_seconds)
        counts = None if end else self._counts
        return JobResult(self._job, value, failure, message, detail, seconds, self._peak, cpu_seconds, error, counts)
