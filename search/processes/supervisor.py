"""Runs functions in separate processes and enforces their time and memory limits from outside.

Four races are closed; the tests are in `tests/search/processes/test_supervisor.py`:

1. *Signal and start.* No signal interrupts a start, else the process would receive half of its job
   (`test_signals_wait_until_a_process_has_received_its_job`,
   `test_ctrl_c_does_not_reach_the_server_of_processes_while_it_imports`). A process is recorded before it starts, so
   that a signal right after the start kills it (`test_a_signal_right_after_the_start_kills_the_process`).
2. *Start and start.* Threads start processes one at a time, as each start hides the main script of this process
   (`test_threads_start_processes_one_at_a_time`).
3. *Start and time limit.* The time limit counts from the call, which the process announces; until then the start has a
   limit of its own (`test_the_time_limit_begins_with_the_call`, `test_a_process_that_does_not_start_is_ended`,
   `test_the_server_of_processes_has_its_own_time_to_start`).
4. *End and limit.* Messages of a process are received before its limits are checked
   (`test_a_result_sent_in_time_counts_though_it_is_received_late`), and a process may die while it sends
   (`test_a_process_that_dies_while_it_sends_is_a_failure`).

The first two are closed by `search.processes.starting`, the others by the class `_Process`.
"""

from __future__ import annotations

import itertools
import multiprocessing
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import cached_property
from math import inf
from multiprocessing.connection import Connection, wait
from multiprocessing.context import ForkContext, ForkServerContext
from time import monotonic
from typing import Any

from search.agents.result import SearchStatus
from search.agents.run import Counts
from search.processes import starting
from search.processes.channel import CallResult, Deadline, Message, Work, pickle_work, run_call
from search.processes.tree import ProcessTree

GRACE_SECONDS = 0.2
"""The time after the deadline for a process to end by itself, with an exact result."""
_SHORTEST_POLL = 0.005  # seconds
_FILLED_PER_SECOND = 4 << 30  # bytes that a process fills at most


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
    has `starting.START_SECONDS` to get ready.

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
        yield from starting.start_server(preload)
    context = starting.COPIES if copies else starting.SERVER
    waiting = iter(jobs)
    running: dict[Connection, _Process] = {}
    try:
        while True:
            for job in itertools.islice(waiting, parallel - len(running)):
                process = _Process(job, context, wall_limit, memory_limit)
                running[process.connection] = process  # before the start, so that a signal kills it
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
        is_copy = context is starting.COPIES
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
        """Start the process; a signal would let it receive half of its job."""
        with starting.start_alone():
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
        return max(min(until_full, self._end - monotonic(), starting.LONGEST_POLL), 0.0)

    @property
    def _end(self) -> float:
        """The time at which the process is killed."""
        end = self._start + starting.START_SECONDS if self._deadline is None else self._deadline + GRACE_SECONDS
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
            if self._deadline is None and self._wall_limit > starting.START_SECONDS:
                self.kill()
                return self._make_result(SearchStatus.ERROR, starting.describe_late_start("the process"))
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
