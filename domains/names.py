"""The one answer to a name that does not exist."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

_SHOWN = 12
_MOST_CHARACTERS = 100  # of a name in a message
_LONG_ENOUGH = 3  # shorter words are part of too many names


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """A question that names the closest known names, see `find_close`; or nothing."""
    close = find_close(name, known)
    return f"did you mean {' or '.join(repr(str(other)) for other in close[:3])}?" if close else ""


def find_close(name: str, known: Iterable[str]) -> list[str]:
    """The known names that differ from `name` in case only, else similar ones, else those that contain it.

    A prefix such as `data.` that all names share does not count.
    """
    names = sorted(known)
    prefix = name[: name.rfind(".") + 1]
    start = len(prefix) if all(other.startswith(prefix) for other in names) else 0
    word, others = name[start:].lower(), [other[start:].lower() for other in names]
    words = [word] if word in others else difflib.get_close_matches(word, dict.fromkeys(others))
    if not words and len(word) >= _LONG_ENOUGH:
        words = [other for other in dict.fromkeys(others) if word in other]
    return [other for word in words for other, lower in zip(names, others, strict=True) if lower == word]


def list_first(choices: Iterable[object]) -> str:
    """The choices in one line, the first ones of many."""
    listed = list(map(str, choices))
    return ", ".join(listed[:_SHOWN]) + (", …" if len(listed) > _SHOWN else "")


def unknown(kind: str, name: object, known: Iterable[str]) -> str:
    """One line for a name that does not exist, with the closest existing ones.

    Args:
        kind: what the name should be, such as `agent`.
        name: the name that was given.
        known: the names that exist.
    """
    names = sorted(map(str, known))
    expected = f"expected one of {list_first(map(repr, names))}" if names else "there is none"
    text = str(name)
    given = repr(f"{text[:_MOST_CHARACTERS]}…") if len(text) > _MOST_CHARACTERS else repr(name)
    return f"unknown {kind} {given}: {did_you_mean(text, names) or expected}"
