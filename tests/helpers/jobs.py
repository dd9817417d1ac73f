"""What the processes of the tests do."""

import gc
import os
import signal
import struct
import subprocess
import sys
from collections.abc import Callable
from multiprocessing.connection import Connection
from pathlib import Path
from time import monotonic

from search.processes.channel import ProgressChannel


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


def die_while_sending() -> None:
    """Send the length of a message and its first byte, and no more."""
    gc.unfreeze()  # list all objects
    sender = next(found for found in gc.get_objects() if isinstance(found, Connection) and found.writable)
    os.write(sender.fileno(), struct.pack("!i", 100) + b"x")
    os.kill(os.getpid(), signal.SIGKILL)


def wait_forever(started: str) -> None:
    """Write the process id to a pipe or file, then wait until killed."""
    Path(started).write_text(str(os.getpid()))
    while True:
        signal.pause()


class Awaited:
    """A text that comes through a pipe to the process that reads this from its pickled form."""

    def __init__(self, pipe: str) -> None:
        self.pipe = Path(pipe)

    def __reduce__(self) -> tuple[Callable[[Path], str], tuple[Path]]:
        return Path.read_text, (self.pipe,)


def fill_memory(count: int) -> None:
    block = bytearray(b"x") * count
    while block:
        signal.pause()


def burn_then_fill_memory(seconds: float, count: int) -> None:
    """Start a process that uses the processor for some seconds, then fills memory and waits until killed."""
    script = (
        "import signal, sys, time\n"
        "while time.process_time() < float(sys.argv[1]): pass\n"
        "block = bytearray(b'x') * int(sys.argv[2])\n"
        "while block: signal.pause()\n"
    )
    subprocess.run([sys.executable, "-c", script, str(seconds), str(count)], check=True)


def change_time_limit(pipe: str, seconds: float, channel: ProgressChannel) -> None:
    """Lift the time limit, set another one after a text from a pipe, and wait until killed."""
    channel.set_time_limit(None)
    channel.send("unlimited")
    Path(pipe).read_text()
    channel.set_time_limit(seconds)
    channel.send("limited")
    while True:
        signal.pause()
