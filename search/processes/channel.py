"""What a process knows of the one that watches it: it says how far it came and by when it has to end."""

from __future__ import annotations

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


class Deadline(NamedTuple):
    """What the process does now has to end by a moment, or the process is killed; the first one begins the call.

    Attributes:
        at: when it was sent, by the clock that is the same for all processes.
        moment: by the same clock; infinity for never.
    """

    at: float
    moment: float


class Message(NamedTuple):
    """What is known until now."""

    value: Any


class CallResult(NamedTuple):
    """The call returned or failed.

    Attributes:
        value: what it returned.
        message: one line about what it raised, empty when it returned.
        detail: the traceback.
        error: what it raised, where that can travel between processes.
        cpu_seconds: of the process.
    """

    value: Any
    message: str
    detail: str
    error: Exception | None
    cpu_seconds: float


class ProgressChannel:
    """Who watches this process: nobody, unless a connection leads there."""

    def __init__(self, connection: Connection | None = None) -> None:
        self._connection = connection

    def send(self, value: Any) -> None:
        """Say what is known until now, which is what the job comes to when a limit ends it."""
        self.send_message(Message(value))

    def set_time_limit(self, seconds: float | None) -> None:
        """Limit what comes now to so many seconds from now, in place of what was said before; None for no limit."""
        now = monotonic()
        self.send_message(Deadline(now, inf if seconds is None else now + seconds))

    def send_message(self, message: Deadline | Message | CallResult) -> None:
        """Send a message; where nobody waits any more this process ends."""
        try:
            if self._connection is not None:
                self._connection.send(message)
        except BrokenPipeError:
            os._exit(1)


NO_CHANNEL = ProgressChannel()


Work: TypeAlias = tuple[Callable[..., Any], tuple[Any, ...]] | bytes
"""A function and its arguments, or both pickled."""


def run_call(sender: Connection, work: Work, takes_channel: bool, time_limit: float | None) -> None:
    """What a new process does: make a call and send its value, or the exception, to the parent.

    The clock starts once the work is unpickled, with all that this imports.
    """
    threading.Thread(target=_die_with_parent, daemon=True, name=_GUARD).start()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the parent too, which ends its children
    channel = ProgressChannel(sender)
    value, message, detail, raised = None, "", "", None
    try:
        call, arguments = pickle.loads(work) if isinstance(work, bytes) else work
        channel.set_time_limit(time_limit)
        value = call(*arguments, channel=channel) if takes_channel else call(*arguments)
    except Exception as error:
        is_ours = isinstance(error, EpigymError)
        message = str(error).partition("\n")[0] if is_ours else f"{type(error).__name__}: {error}"
        detail, raised = traceback.format_exc(), _portable(error)
    channel.send_message(CallResult(value, message, detail, raised, process_time()))


def may_be_copied() -> bool:
    """Whether a copy of this process can work: locks that threads hold, torch's among them, stay locked in copies."""
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
