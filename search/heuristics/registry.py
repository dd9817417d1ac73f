"""Things that are chosen by name, or by the path of a class of one's own, with settings as its signature has them."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from math import inf
from types import NoneType, UnionType
from typing import Annotated, Any, TypeVar, Union, get_args, get_origin

from epigym.errors import UsageError
from epigym.names import unknown
from epigym.targets import find

T = TypeVar("T")

_NO_SETTINGS = ("name", "_target_", "label")
_PLAIN = {int: "a whole number", float: "a number", str: "a text", bool: "true or false", NoneType: "null"}


@dataclass(frozen=True, slots=True)
class AtLeast:
    """In an annotation: the least value of a setting, which is finite."""

    least: float


Count = Annotated[int, AtLeast(1)]
Natural = Annotated[int, AtLeast(0)]


def maker(
    kind: str, choice: Mapping[str, Any], known: Mapping[str, Callable[..., T]], base: type, given: int = 0
) -> Callable[..., T]:
    """What makes a chosen thing, with its settings checked and bound.

    Args:
        kind: what is chosen, such as `agent`.
        choice: the `name` of something known, or as `_target_` the path of a class of one's own; with its settings.
        known: what makes the things known.
        base: what a class of one's own derives from.
        given: number of positional arguments that the maker will be called with.

    Raises:
        UsageError: when the name, the path or a setting is wrong, or a setting is missing.
    """
    settings = {key: value for key, value in choice.items() if key not in _NO_SETTINGS}
    if "_target_" in choice:
        name = str(choice["_target_"])
        make: Callable[..., T] = _own(kind, name, base)
    else:
        name = str(choice.get("name"))
        if name not in known:
            raise UsageError(unknown(kind, name, known))
        make = known[name]
    check(f"{kind} {name!r}", make, settings, given)
    return partial(make, **settings)


def check(what: str, make: Callable[..., Any], settings: Mapping[str, Any], given: int = 0) -> None:
    """Hold settings against the names and annotations of a signature's parameters, the first `given` left out.

    Raises:
        UsageError: when one is unknown, missing, of the wrong type or out of range.
    """
    parameters = {parameter.name: parameter for parameter in _parameters(make)[given:]}
    is_open = any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters.values())
    for name, value in settings.items():
        if name not in parameters and not is_open:
            raise UsageError(unknown(f"setting of {what}", name, parameters))
        hint = parameters[name].annotation if name in parameters else Any
        if not _fits(value, hint):
            raise UsageError(f"{what}: {name}={value!r} must be {_described(hint)}")
    for name, parameter in parameters.items():
        is_needed = parameter.default is parameter.empty and parameter.kind is not parameter.VAR_KEYWORD
        if is_needed and name not in settings:
            raise UsageError(f"{what} needs the setting {name}")


def _own(kind: str, path: str, base: type) -> Callable[..., Any]:
    found = find(path)
    if not isinstance(found, type) or not issubclass(found, base):
        raise UsageError(f"{kind}: _target_={path!r} is no class that derives from {base.__module__}.{base.__name__}")
    return found


def _parameters(make: Callable[..., Any]) -> list[inspect.Parameter]:
    try:
        signature = inspect.signature(make, eval_str=True)
    except NameError:  # annotations that are there for type checkers only
        signature = inspect.signature(make)
    return list(signature.parameters.values())


def _fits(value: object, hint: Any) -> bool:
    """Whether a value is of a type that a setting's annotation names; types that are not plain are not looked at."""
    kind, parts = get_origin(hint), get_args(hint)
    if kind is Annotated:
        return _fits(value, parts[0]) and all(bound.least <= value < inf for bound in _bounds(parts))  # type: ignore[operator]
    if kind in (Union, UnionType):
        return any(_fits(value, part) for part in parts)
    if kind is Sequence:
        return isinstance(value, (list, tuple)) and all(_fits(item, parts[0]) for item in value)
    if kind is Mapping:
        return isinstance(value, Mapping)
    if isinstance(value, bool):
        return hint not in (int, float, str, NoneType)
    if hint is float:
        return isinstance(value, (int, float))
    return hint not in _PLAIN or isinstance(value, hint)


def _described(hint: Any) -> str:
    kind, parts = get_origin(hint), get_args(hint)
    if kind is Annotated:
        return " and ".join([_described(parts[0]), *(f"at least {bound.least}" for bound in _bounds(parts))])
    if kind in (Union, UnionType):
        return " or ".join(map(_described, parts))
    return {Sequence: "a list", Mapping: "a mapping"}.get(kind) or _PLAIN.get(hint, str(hint))


def _bounds(parts: Iterable[Any]) -> list[AtLeast]:
    return [part for part in parts if isinstance(part, AtLeast)]
