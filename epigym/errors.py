"""The exceptions: every error that epigym raises on purpose derives from `EpigymError`."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class EpigymError(Exception):
    """Base class of all errors raised by epigym."""


class ParseError(EpigymError):
    """Raised when a problem text is wrong; the message names the place and shows it with a caret.

    Args:
        message: one line: what was found and what to do about it.
        file: name of the file, or `<string>` for text that was passed directly.
        line: 1-based line of the offending text.
        column: 1-based column of the offending text.
        source: the offending line of the text, shown above the caret when not empty.
    """

    def __init__(self, message: str, *, file: str, line: int, column: int, source: str = "") -> None:
        self.message = message
        self.file = file
        self.line = line
        self.column = column
        text = f"{file}:{line}:{column}: {message}"
        if source:
            text += f"\n  {source}\n  {' ' * (column - 1)}^"
        super().__init__(text)


class TaskError(EpigymError):
    """Raised when a planning task contradicts itself, or an action cannot be applied as asked."""


class LimitError(EpigymError):
    """Raised when a size limit is exceeded; the message names the limit, its value and how to raise it."""


class CheckpointError(EpigymError):
    """Raised when a checkpoint is missing, broken, or does not fit the task it is used on."""


class UsageError(EpigymError):
    """Raised when a setting is unknown, misspelt, of the wrong type or out of range."""


class MissingError(EpigymError):
    """Raised when a file, folder, checkpoint or run that was named does not exist."""


class MissingCheckpointError(CheckpointError, MissingError):
    """Raised when a checkpoint does not exist."""


def unknown(kind: str, name: str, known: Iterable[str]) -> str:
    """One line for a name that does not exist, with the closest existing ones.

    Args:
        kind: what the name should be, such as `agent`.
        name: the name that was given.
        known: the names that exist.
    """
    names = sorted(known)
    close = difflib.get_close_matches(name, names, n=3, cutoff=0.6)
    if close:
        return f"unknown {kind} {name!r}: did you mean {' or '.join(map(repr, close))}?"
    shown = ", ".join(map(repr, names[:12])) + (", …" if len(names) > 12 else "")
    return f"unknown {kind} {name!r}: expected one of {shown}" if names else f"unknown {kind} {name!r}: there is none"


class ProblemWarning(UserWarning):
    """Warns about something in a problem text that is allowed but probably not meant."""
