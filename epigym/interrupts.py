"""Ctrl-C as one line in place of a traceback, also while a command still imports."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path
from types import TracebackType

_SCRIPTS = ("epigym", "epigym-plan")
_MODULES = ("epigym", "learn", "search")


def say_briefly(kind: type[BaseException], error: BaseException, traceback: TracebackType | None) -> None:
    """Replaces `sys.excepthook`; after Ctrl-C Python ends by the signal, which a shell calls 130."""
    if issubclass(kind, KeyboardInterrupt) and "debug=true" not in sys.argv:
        print("error: interrupted", file=sys.stderr)
    else:
        sys.__excepthook__(kind, error, traceback)


def is_command(arguments: Iterable[str]) -> bool:
    """Whether Python was started with one of our commands, by its script or as `-m search.solve`.

    Args:
        arguments: of Python, such as `sys.orig_argv[1:]`.
    """
    words = iter(arguments)
    for word in words:
        if word == "-m":
            return next(words, "").partition(".")[0] in _MODULES
        if not word.startswith("-"):
            return Path(word).name in _SCRIPTS
    return False
