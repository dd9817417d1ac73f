"""Things that are chosen by name."""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Callable, Collection, Mapping
from typing import Any, TypeVar

from epigym.errors import EpigymError

T = TypeVar("T")


def lookup(registry: Mapping[str, Callable[..., T]], kind: str, name: str, /, *args: Any, **settings: Any) -> T:
    """What the registry makes under `name` from positional arguments and settings.

    Raises:
        EpigymError: when the name or a setting is unknown or a setting is missing.
    """
    if name not in registry:
        raise EpigymError(f"there is no {kind} {name!r}; {suggestion(name, registry)}")
    make = registry[name]
    signature = inspect.signature(make)
    try:
        signature.bind(*args, **settings)
    except TypeError as error:
        names = list(signature.parameters)[len(args) :]
        accepts = f"it accepts {', '.join(names)}" if names else "it has no settings"
        raise EpigymError(f"{kind} {name!r}: {error}; {accepts}") from None
    return make(*args, **settings)


def suggestion(name: str, known: Collection[str]) -> str:
    """The end of an error message: the close matches of a misspelt name, or else all names."""
    close = difflib.get_close_matches(name, known)
    if close:
        return f"did you mean {' or '.join(map(repr, close))}?"
    return f"choose one of {', '.join(known)}"
