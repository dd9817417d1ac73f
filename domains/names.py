"""The one answer to a name that does not exist."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

_SHOWN = 12
_LONG_ENOUGH = 3  # shorter words are part of too many names


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """A question that names the closest known names: similar ones, else those that contain `name`; or nothing."""
    names = sorted(known)
    close = difflib.get_close_matches(name, names)
    if not close and len(name) >= _LONG_ENOUGH:
        close = [other for other in names if name in other]
    return f"did you mean {' or '.join(repr(str(other)) for other in close[:3])}?" if close else ""


def unknown(kind: str, name: object, known: Iterable[str]) -> str:
    """One line for a name that does not exist, with the closest existing ones.

    Args:
        kind: what the name should be, such as `agent`.
        name: the name that was given.
        known: the names that exist.
    """
    names = sorted(map(str, known))
    listed = ", ".join(map(repr, names[:_SHOWN])) + (", …" if len(names) > _SHOWN else "")
    expected = f"expected one of {listed}" if names else "there is none"
    return f"unknown {kind} {name!r}: {did_you_mean(str(name), names) or expected}"
