"""Objects of a class that a configuration may name, as `_target_: module.Class`, in place of ours."""

from __future__ import annotations

import importlib
import inspect
import sys
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from epigym.errors import UsageError
from epigym.names import did_you_mean

TARGET = "_target_"


def make(settings: Mapping[str, Any], default: Callable[..., Any] | None, /, *args: Any, **given: Any) -> Any:
    """Call the class that the settings name, or else the default one.

    Args:
        settings: keyword arguments, and under `_target_` the class; null for the default one.
        default: the class to take when none is named; None when one must be.
        *args: further arguments.
        **given: further keyword arguments.

    Raises:
        UsageError: when there is no such class, or it does not take the arguments.
    """
    own = {name: value for name, value in settings.items() if name != TARGET}
    target = settings.get(TARGET)
    if target is None and default is None:
        raise UsageError(f"{dict(settings)}: name a class as _target_: module.Class")
    called = default if target is None else find(target)
    assert called is not None
    shown = target or called.__name__
    _require_parameters(shown, called, own)
    try:
        return called(*args, **given, **own)
    except TypeError as error:
        raise UsageError(f"{shown}: {error}") from error


def _require_parameters(shown: str, called: Callable[..., Any], names: Iterable[str]) -> None:
    """Raise a UsageError for a setting that a class does not take: a misspelt one, or one of the class it replaces."""
    try:
        parameters = inspect.signature(called).parameters
    except ValueError:  # of C
        return
    if any(one.kind is one.VAR_KEYWORD for one in parameters.values()):
        return
    for name in names:
        if name not in parameters:
            remedy = did_you_mean(name, parameters) or "leave a setting of ours out with a ~ before its name"
            raise UsageError(f"{shown} takes no {name!r}: {remedy}")


def check(settings: Mapping[str, Any]) -> None:
    """Find the class that settings may name.

    Raises:
        UsageError: when there is none of this name.
    """
    if settings.get(TARGET) is not None:
        find(settings[TARGET])


def check_all(settings: Mapping[str, Mapping[str, Any]]) -> None:
    """Check that all of some settings name a class; none is imported.

    Raises:
        UsageError: when one names none.
    """
    for name, one in settings.items():
        if one.get(TARGET) is None:
            raise UsageError(f"{name}: name a class as {name}._target_=module.Class")


def full_name(kind: type) -> str:
    """The name `module.Class` of a class."""
    return f"{kind.__module__}.{kind.__qualname__}"


def is_importable(kind: type) -> bool:
    """Whether another process finds a class by its name: not one of a script, a notebook or a function."""
    module = sys.modules.get(kind.__module__)
    if module is None or module.__spec__ is None or module.__name__ == "__main__":
        return False
    try:
        return find(full_name(kind)) is kind
    except UsageError:
        return False


def find(target: str) -> Callable[..., Any]:
    """The class or function called `module.name`.

    Raises:
        UsageError: when there is none.
    """
    try:
        module, _, name = target.rpartition(".")
        return getattr(importlib.import_module(module), name)  # type: ignore[no-any-return]
    except (ImportError, AttributeError, TypeError, ValueError) as error:
        raise UsageError(f"_target_={target}: {error}; give module.Class of something that can be imported") from None
