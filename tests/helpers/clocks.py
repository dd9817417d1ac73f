"""The clock by which time limits are enforced from outside: a test sets it instead of waiting."""

from itertools import count
from pathlib import Path
from time import monotonic

import pytest

from search.processes import supervisor


class Clock:
    """In place of the supervisor's clock; it is `ahead` of that of the processes by some seconds."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.ahead = 0.0
        monkeypatch.setattr(supervisor, "monotonic", lambda: monotonic() + self.ahead)


def pass_once_written(file: Path, seconds: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let so many seconds pass for the supervisor once a process has written a file, and its messages are received.

    They pass after the first look at the clock since then: before the next check the supervisor receives messages.
    """
    looks = count()

    def look() -> float:
        is_written = file.exists() and file.read_text() != ""
        return monotonic() + (seconds if is_written and next(looks) else 0.0)

    monkeypatch.setattr(supervisor, "monotonic", look)
