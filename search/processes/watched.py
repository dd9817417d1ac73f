"""What a process knows of the one that watches it: it says how far it came, and when its clock is to stand still."""

from __future__ import annotations

import os
import pickle
import signal
import sys
import threading
import traceback
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing import forkserver, parent_process
from multiprocessing.connection import Connection
from time import monotonic, process_time
from typing import Any

from epigym.errors import EpigymError

_GUARD = "dies with its parent"  # name of a thread


@dataclass(frozen=True, slots=True)
class Heard:
    """A message of a process.

    Attributes:
        at: when it was sent, by the clock that is the same for all processes.
    """

    at: float


@dataclass(frozen=True, slots=True)
class Begun(Heard):
    """The call begins."""


@dataclass(frozen=True, slots=True)
class Paused(Heard):
    """The clock stands still."""


@dataclass(frozen=True, slots=True)
class Resumed(Heard):
    """The clock runs on."""


@dataclass(frozen=True, slots=True)
class Told(Heard):
    """What is known until now."""

    value: Any


@dataclass(frozen=True, slots=True)
class Ended(Heard):
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


class Watcher:
    """Who watches this process: nobody, unless a connection leads there."""

    def __init__(self, connection: Connection | None = None) -> None:
        self._connection = connection

    def tell(self, value: Any) -> None:
        """Say what is known until now, which is what the job comes to when a limit ends it."""
        self._send(Told(monotonic(), value))

    def pause(self) -> None:
        """Stop the clock: what comes now takes nothing of the time limit."""
        self._send(Paused(monotonic()))

    def resume(self) -> None:
        """Let the clock run on."""
        self._send(Resumed(monotonic()))

    def _send(self, message: Heard) -> None:
        if self._connection is not None:
            _send(self._connection, message)


NOBODY = Watcher()


def enter(sender: Connection, call: Callable[..., Any], arguments: tuple[Any, ...], tells: bool) -> None:
    """What a new process does: make the call and send its value, or the exception, to the parent."""
    threading.Thread(target=_die_with_parent, daemon=True, name=_GUARD).start()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the parent too, which ends its children
    forkserver._forkserver._forkserver_pid = None  # type: ignore[attr-defined]  # a copy knows its parent's, not its own
    _send(sender, Begun(monotonic()))
    value, message, detail, raised = None, "", "", None
    try:
        value = call(*arguments, watcher=Watcher(sender)) if tells else call(*arguments)
    except Exception as error:
        is_ours = isinstance(error, EpigymError)
        message = str(error).partition("\n")[0] if is_ours else f"{type(error).__name__}: {error}"
        detail, raised = traceback.format_exc(), _portable(error)
    _send(sender, Ended(monotonic(), value, message, detail, raised, process_time()))


def may_be_copied() -> bool:
    """Whether a copy of this process can work: locks that threads hold, torch's among them, stay locked in copies."""
    others = {thread.name for thread in threading.enumerate()} - {threading.current_thread().name, _GUARD}
    return not others and "torch" not in sys.modules


def _send(connection: Connection, message: Heard) -> None:
    try:
        connection.send(message)
    except BrokenPipeError:  # nobody waits any more
        os._exit(1)


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
