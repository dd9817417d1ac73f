"""How a command ended, as the number that it leaves behind."""

from __future__ import annotations

import enum
import sys
import traceback

from epigym.errors import EpigymError, MissingError, UsageError


class ExitCode(enum.IntEnum):
    """Exit codes of all commands with their meanings; codes from 64 to 73 are those of `sysexits.h`."""

    meaning: str

    SUCCESS = 0, "success"
    INVALID_PLAN = 1, "the plan is not valid"
    UNSOLVABLE = 11, "there is no plan"
    LIMIT = 12, "a limit was reached"
    USAGE = 64, "a setting is unknown, misspelt, missing, of the wrong type or out of range"
    BAD_INPUT = 65, "the content of a problem, plan, model, checkpoint or data set is wrong"
    NO_INPUT = 66, "a file, folder, model, run or package does not exist"
    FAILURE = 70, "an error of the program"
    CANNOT_WRITE = 73, "a file or folder cannot be written, or the disk is full"
    INTERRUPTED = 130, "interrupted by Ctrl-C"
    TERMINATED = 143, "stopped by SIGTERM"

    def __new__(cls, code: int, meaning: str) -> ExitCode:
        """Make a number with its meaning."""
        member = int.__new__(cls, code)
        member._value_ = code
        member.meaning = meaning
        return member

    @classmethod
    def of(cls, status: str) -> ExitCode:
        """The exit code for the end of a search: `solved`, `unsolvable`, `…_limit` or `error`."""
        if status.endswith("_limit"):
            return cls.LIMIT
        return {"solved": cls.SUCCESS, "unsolvable": cls.UNSOLVABLE}.get(status, cls.FAILURE)

    @classmethod
    def after(cls, error: BaseException) -> ExitCode:
        """The exit code for an exception that ended a command."""
        classes: tuple[tuple[type[BaseException], ExitCode], ...] = (
            (UsageError, cls.USAGE),
            (MissingError, cls.NO_INPUT),
            (EpigymError, cls.BAD_INPUT),
            (FileNotFoundError, cls.NO_INPUT),
            (OSError, cls.CANNOT_WRITE),
            (KeyboardInterrupt, cls.INTERRUPTED),
        )
        return next((code for kind, code in classes if isinstance(error, kind)), cls.FAILURE)


def line(error: BaseException) -> str:
    """The message to the user for an exception that ended a command."""
    if isinstance(error, KeyboardInterrupt):
        return f"interrupted{': ' if error.args else ''}{error}"
    if isinstance(error, FileNotFoundError):
        return f"there is no {error.filename}"
    if isinstance(error, OSError):
        return f"cannot write {error.filename or ''}: {error.strerror or error}".replace(" :", ":")
    if isinstance(error, EpigymError):
        return str(error)
    first = str(error).strip().partition("\n")[0] or f"at {_find_place(error)}"
    return f"{type(error).__name__}: {first} (add debug=true for the traceback)"


def _find_place(error: BaseException) -> str:
    """The file, line and function where an exception was raised."""
    *_, last = traceback.extract_tb(error.__traceback__) or [None]
    return "an unknown place" if last is None else f"{last.filename}:{last.lineno} in {last.name}"


def fail(error: BaseException) -> ExitCode:
    """Say on standard error what ended a command; the exit code."""
    print(f"error: {line(error)}", file=sys.stderr)
    return ExitCode.after(error)


def warning(message: Warning | str, *_: object, **__: object) -> str:
    """The message to the user for a warning; replaces `warnings.formatwarning`."""
    return f"warning: {message}\n"
