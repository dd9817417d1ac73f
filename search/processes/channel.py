"""The connection from a supervised process to its supervisor: progress, time limits and the result."""

from __future__ import annotations

import gc
import os
import pickle
import signal
import sys
import threading
import traceback
from collections.abc import Callable
from contextlib import suppress
from math import inf
from multiprocessing import parent_process
from multiprocessing.connection import Connection
from time import monotonic, process_time
from typing import Any, NamedTuple, TypeAlias

from epigym.errors import EpigymError

_GUARD = "dies with its parent"  # name of a thread


class UnsendableError(EpigymError):
    """Raised when a call cannot be pickled, or not be unpickled in another process."""


class Deadline(NamedTuple):
    """The time at which the supervisor kills the process; the first deadline marks the start of the call.

    Times are those of `time.monotonic`, which all processes share.

    Attributes:
        at: the time at which the deadline was sent.
        moment: the deadline; infinity for none.
    """

    at: float
    moment: float


class Message(NamedTuple):
    """An intermediate result of the call."""

    value: Any


class CallResult(NamedTuple):
    """The end of the call.

    Attributes:
        value: its return value; None when it raised an exception.
        message: one line about the exception; empty when there was none.
        detail: the traceback of the exception.
        error: the exception, when it can be pickled.
        cpu_seconds: the CPU time of the process.
    """

    value: Any
    message: str
    detail: str
    error: Exception | None
    cpu_seconds: float


class ProgressChannel:
    """The channel to the supervising process; without a connection its methods do nothing."""

    def __init__(self, connection: Connection | None = None) -> None:
        self._connection = connection

    def send(self, value: Any) -> None:
        """Send an intermediate result: the result of the job if a limit ends it."""
        self.send_message(Message(value))

    def set_time_limit(self, seconds: float | None) -> None:
        """Replace the time limit: so many seconds from now; None for no limit."""
        now = monotonic()
        self.send_message(Deadline(now, inf if seconds is None else now + seconds))

    def send_message(self, message: Deadline | Message | CallResult) -> None:
        """Send a message; ends this process when the supervisor is gone."""
        try:
            if self._connection is not None:
                self._connection.send(message)
        except BrokenPipeError:
            os._exit(1)


class LocalChannel(ProgressChannel):
    """The channel of a search in this process: a function receives its intermediate results."""

    def __init__(self, receive: Callable[[Any], None]) -> None:
        super().__init__()
        self._receive = receive

    def send_message(self, message: Deadline | Message | CallResult) -> None:
        """Pass an intermediate result on; there is no supervisor for other messages."""
        if isinstance(message, Message):
            self._receive(message.value)


NO_CHANNEL = ProgressChannel()


Work: TypeAlias = tuple[Callable[..., Any], tuple[Any, ...]] | bytes
"""A function and its arguments, or both pickled."""


def run_call(sender: Connection, work: Work, takes_channel: bool, time_limit: float | None) -> None:
    """Make a call in a new process and send its value, or the exception, to the supervisor.

    The time limit counts from the moment at which the work is unpickled and its modules are imported.
    """
    threading.Thread(target=_die_with_parent, daemon=True, name=_GUARD).start()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C also reaches the parent, which ends its children
    channel = ProgressChannel(sender)
    value, message, detail, raised = None, "", "", None
    try:
        call, arguments = _unpickle(work) if isinstance(work, bytes) else work
        gc.freeze()  # imported objects stay: no garbage collection looks through them
        channel.set_time_limit(time_limit)
        value = call(*arguments, channel=channel) if takes_channel else call(*arguments)
    except Exception as error:
        is_ours = isinstance(error, EpigymError)
        message = str(error).partition("\n")[0] if is_ours else f"{type(error).__name__}: {error}"
        detail, raised = traceback.format_exc(), _portable(error)
    channel.send_message(CallResult(value, message, detail, raised, process_time()))


def pickle_work(call: Callable[..., Any], arguments: tuple[Any, ...]) -> bytes:
    """Pickle a function and its arguments for `run_call`.

    Raises:
        UnsendableError: when something cannot be pickled.
    """
    try:
        return pickle.dumps((call, arguments))
    except Exception as error:  # pickle raises many kinds
        raise UnsendableError(_describe(error)) from error


def _unpickle(work: bytes) -> Any:
    try:
        return pickle.loads(work)
    except Exception as error:
        raise UnsendableError(_describe(error)) from error


def _describe(error: Exception) -> str:
    return f"{type(error).__name__}: {error}".partition("\n")[0]


def may_be_copied() -> bool:
    """Whether this process may be forked: locks of other threads, such as those of torch, stay locked in a copy."""
    others = {thread.name for thread in threading.enumerate()} - {threading.current_thread().name, _GUARD}
    return not others and "torch" not in sys.modules


def _portable(error: Exception) -> Exception | None:
    with suppress(Exception):
        copy = pickle.loads(pickle.dumps(error))
        return copy if isinstance(copy, Exception) else None
    return None


def _die_with_parent() -> None:
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
