"""What the processes of the tests do."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from time import monotonic


def double(number: int) -> int:
    return 2 * number


def span() -> tuple[float, float]:
    """When the call began and when it ended."""
    start = monotonic()
    return start, monotonic()


def fail(message: str) -> None:
    raise ValueError(message)


def crash() -> None:
    os.kill(os.getpid(), signal.SIGSEGV)


def wait_forever(started: str) -> None:
    """Write the process id to a pipe or file, then wait until killed."""
    Path(started).write_text(str(os.getpid()))
    while True:
        signal.pause()


def fill_memory(count: int) -> None:
    block = bytearray(b"x") * count
    while block:
        signal.pause()
