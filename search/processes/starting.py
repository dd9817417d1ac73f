"""Starts processes, as copies of this one or from a fork server: one at a time, and undisturbed by signals."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from multiprocessing import forkserver, resource_tracker
from time import monotonic
from typing import Any

from epigym.errors import EpigymError

START_SECONDS = 60.0
"""The time for a process to start and to import the modules of its call, apart from the call's time limit."""
LONGEST_POLL = 0.1
"""Seconds after which a waiting caller regains control."""
SERVER = multiprocessing.get_context("forkserver")
"""Starts processes from a fork server."""
COPIES = multiprocessing.get_context("fork")
"""Starts processes as copies of this one."""
_OURS = {signal.SIGINT, signal.SIGTERM, signal.SIGUSR1, signal.SIGUSR2}
"""Signals that terminals and schedulers send to all processes; only this process handles them and ends the others."""
_STARTING = threading.RLock()  # reentrant: a forked copy holds it too and may start processes
_ready: int | None = None  # the process id of the fork server that has answered


@contextmanager
def start_alone() -> Iterator[None]:
    """Start a process in a block that no signal interrupts and that one thread enters at a time."""
    with _STARTING, _defer_signals(), _hide_main_script():
        yield


def start_server(preload: Sequence[str]) -> Iterator[None]:
    """Start the fork server and wait for it; yields while it imports.

    The signals `_OURS` reach this process only, also while the server imports.
    """
    global _ready
    SERVER.set_forkserver_preload(list(preload))
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
            raise EpigymError(describe_late_start("the fork server"))
        first.join(LONGEST_POLL)
        yield
    _ready = server


def _start_idle_process() -> None:
    """Start a process that ends at once."""
    process = SERVER.Process(target=bool)
    with suppress(OSError, EOFError):  # the server is dead: the start of the next process fails
        with _STARTING, _hide_main_script():
            process.start()
        process.join()


def describe_late_start(what: str) -> str:
    """The message about a start that takes too long."""
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
