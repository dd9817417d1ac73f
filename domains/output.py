"""Standard output: on terminals of any encoding, and in pipes that are closed early."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

CLOSED_PIPE = 141
"""The exit code of a command whose output goes into a closed pipe, as of a process that SIGPIPE ends."""


def replace_unknown_characters() -> None:
    """Let standard output write `?` for characters that its encoding lacks; standard error escapes them already."""
    if isinstance(sys.stdout, io.TextIOWrapper) and sys.stdout.errors in ("strict", "surrogateescape"):
        sys.stdout.reconfigure(errors="replace")


@contextmanager
def end_at_closed_pipe() -> Iterator[None]:
    """End the process quietly if a block prints into a closed pipe, as in `… | head -1`."""
    try:
        try:
            yield
        finally:
            sys.stdout.flush()
    except BrokenPipeError:
        _leave()
    except SystemExit as stop:
        if isinstance(stop.__context__, BrokenPipeError):  # rich has caught it
            _leave()
        raise


def _leave() -> None:
    """Leave, without another attempt to write what is buffered."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (sys.stdout, sys.stderr):
        os.dup2(nowhere, stream.fileno())
    sys.exit(CLOSED_PIPE)
