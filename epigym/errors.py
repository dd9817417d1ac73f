"""The exceptions: every error that epigym raises on purpose derives from `EpigymError`."""

from __future__ import annotations

from functools import partial
from typing import Any


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
        self.source = source
        text = f"{file}:{line}:{column}: {message}"
        if source:
            text += f"\n  {source}\n  {' ' * (column - 1)}^"
        super().__init__(text)

    def __reduce__(self) -> tuple[Any, ...]:
        """How it is pickled, so that a process passes it on to another: by the arguments of its constructor."""
        make = partial(type(self), file=self.file, line=self.line, column=self.column, source=self.source)
        return make, (self.message,), vars(self)


class TaskError(EpigymError):
    """Raised when a planning task contradicts itself, or an action cannot be applied as asked."""


class InconsistentBeliefsError(TaskError):
    """Raised when an agent believes everything, or would after an action, where `consistent_beliefs` rules that out.

    Args:
        agent: its name.
        where: such as `after action 'shout'`.
    """

    def __init__(self, agent: str, where: str) -> None:
        super().__init__(agent, where)

    def __str__(self) -> str:
        """One line."""
        agent, where = self.args
        return f"agent {agent!r} believes everything {where}, which consistent_beliefs=true rules out"


class LimitError(EpigymError):
    """Raised when a size limit is exceeded; the message names the limit, its value and how to raise it."""


class NestingError(LimitError):
    """Raised when a formula is nested too deeply."""


class UsageError(EpigymError):
    """Raised when a setting is unknown, misspelt, of the wrong type or out of range."""


class MissingError(EpigymError):
    """Raised when a file, folder, model or run that was named does not exist, or a package is not installed."""


class DamagedError(EpigymError):
    """Raised when a file that epigym wrote does not fit its checksum any more, or cannot be read."""


class ModelError(EpigymError):
    """Raised when the file of a trained model is broken or of another version."""


class MissingModelError(ModelError, MissingError):
    """Raised when a trained model that was named does not exist."""


class CheckpointError(EpigymError):
    """Raised when a training cannot be resumed from a checkpoint."""


class ShapeError(EpigymError, AttributeError):
    """Raised when a library asks for the shape of observations that are graphs."""


class ProblemWarning(UserWarning):
    """Warns about something in a problem text that is allowed but probably not meant."""
