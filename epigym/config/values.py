"""Values of configurations, checked against the annotations of a dataclass or of a signature.

The bounds of a number are in its annotation, such as `Annotated[float, AtLeast(0), Below(1)]`. The metadata of a field
may hold rules for a value that is not null:

- `flat`: a dataclass whose fields stand beside the others of the field's class, not in a mapping of their own;
- `exists`: the value names a file or folder that must be there, or is a list of such names;
- `written`: it names a `file`, which no other value names, or a `folder` that will be written;
- `own`: dataclasses by the `_target_` of a mapping, which it is checked against; any other is a class of the user's;
- `makes`: a function, as `module:name`, that is called with the value and a prefix of names as in `make`;
- `check`: a function, as `module:name`, that raises an `EpigymError` for a wrong value; `own` mappings need none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import MISSING, dataclass, fields, is_dataclass
from functools import cache
from math import inf
from numbers import Integral
from operator import ge, gt, le, lt
from os.path import exists, samefile
from pathlib import Path
from pkgutil import resolve_name
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, TypeVar, Union, cast, get_args, get_origin, get_type_hints

from epigym.config.targets import TARGET
from epigym.errors import EpigymError, MissingError, UsageError
from epigym.io.files import check_writable
from epigym.names import unknown

C = TypeVar("C")
UNSET: Any = "???"
"""The text of a configuration file for a value without a default, and the value of a missing option."""

_KINDS: dict[Any, str] = {
    int: "a whole number", float: "a number", bool: "true or false", str: "text", NoneType: "null",
    list: "a list", tuple: "a list", dict: "a mapping",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Bound:
    bound: float


class AtLeast(_Bound):
    """In an annotation: the least value of a number, which is finite."""


class Above(_Bound):
    """In an annotation: a number is greater than this, and finite."""


class AtMost(_Bound):
    """In an annotation: the greatest value of a number."""


class Below(_Bound):
    """In an annotation: a number is less than this."""


_BOUNDS: dict[type[_Bound], tuple[Callable[[float, float], bool], str]] = {
    AtLeast: (ge, "at least {}"), Above: (gt, "more than {}"),
    AtMost: (le, "at most {}"), Below: (lt, "less than {}"),
}  # fmt: skip

Count = Annotated[int, AtLeast(1)]
Natural = Annotated[int, AtLeast(0)]
"""A whole number from 0."""
Amount = Annotated[float, AtLeast(0)]
Positive = Annotated[float, Above(0)]
Share = Annotated[float, AtLeast(0), AtMost(1)]


def make(kind: type[C], values: Mapping[str, Any], prefix: str = "") -> C:
    """A dataclass from values by name, each held against its field.

    Args:
        kind: the dataclass.
        values: by name.
        prefix: what stands before their names in messages, such as `data.`.

    Raises:
        UsageError: when a value is missing, unknown, of the wrong type or out of range; the message names it.
        MissingError: when a file that must be there is not.
        OSError: when a file or folder cannot be written.
    """
    hints, made = hints_of(cast(Any, kind)), {}
    for name in values:
        if name not in hints:
            raise UsageError(unknown("setting", prefix + str(name), [prefix + one for one in hints]))
    for entry in fields(cast(Any, kind)):
        name = entry.name
        if flat := entry.metadata.get("flat"):
            made[name] = make(flat, {one: values[one] for one in hints_of(flat) if one in values}, prefix)
            continue
        place, value = prefix + name, values.get(name, UNSET)
        if isinstance(value, str) and value == UNSET:
            if entry.default is entry.default_factory is MISSING:
                raise UsageError(f"{place} is not given: add {place}=…")
            continue
        made[name] = convert(value, hints[name], place)
        if made[name] is not None:
            _check(made[name], entry.metadata, place)
            if entry.metadata.get("written") == "file":
                _require_no_input(place, made[name], values)
    try:
        return kind(**made)
    except EpigymError as error:
        raised = MissingError if isinstance(error, MissingError) else UsageError
        raise raised(f"{prefix.rstrip('.')}: {error}" if prefix else str(error)) from None


@cache
def hints_of(kind: type[Any]) -> dict[str, Any]:
    """The annotations of the settings that make a dataclass, by name."""
    hints = get_type_hints(kind, include_extras=True)
    found: dict[str, Any] = {}
    for entry in fields(cast(Any, kind)):
        flat = entry.metadata.get("flat")
        found |= hints_of(flat) if flat else {entry.name: hints[entry.name]}
    return found


def convert(value: Any, kind: Any, place: str) -> Any:
    """The value in the type of its annotation: a single value becomes a list, a whole number a number.

    Types that configurations do not know are not looked at.

    Raises:
        UsageError: when the value is of another type or out of range; the message names its `place`.
    """
    origin, options = get_origin(kind), get_args(kind)
    if origin is Annotated:
        converted = convert(value, options[0], place)
        _check_bounds(converted, options[1:], f"{place}={_format_value(value)}")
        return converted
    if origin in (Union, UnionType):
        return _first(value, options, place)
    if origin is Literal:
        if value in options:
            return value
        raise UsageError(unknown(place, str(value), options))
    if origin in (list, tuple, Sequence) and value is not None:
        items = value if isinstance(value, (list, tuple)) else [value]
        places = (f"{place}[{k}]" if is_dataclass(options[0]) else place for k in range(len(items)))
        made = [convert(item, options[0], each) for item, each in zip(items, places, strict=True)]
        return tuple(made) if origin is tuple else made
    if origin is Mapping and isinstance(value, Mapping):
        return {key: convert(item, options[1], f"{place}.{key}") for key, item in value.items()}
    if is_dataclass(kind) and isinstance(value, Mapping):
        return make(cast(type[Any], kind), value, place + ".")
    plain = origin or kind
    if plain not in (*_KINDS, Path, Mapping) and not is_dataclass(plain):
        return value
    if plain is Path:
        if convert(value, str, place) == "":
            raise UsageError(f"{place} is empty: name a file or folder")
        return Path(convert(value, str, place))
    if plain is int and isinstance(value, Integral) and not isinstance(value, int):  # NumPy's
        return int(value)
    if isinstance(value, bool) is (plain is bool):
        if isinstance(value, plain):
            return value
        if (isinstance(value, int) and plain in (float, str)) or (isinstance(value, float) and plain is str):
            with suppress(OverflowError):  # a whole number beyond the largest float
                return plain(value)
    raise UsageError(f"{place}={_format_value(value)}: expected {_KINDS.get(plain, 'a mapping')}")


def _check_bounds(value: Any, bounds: Iterable[Any], shown: str) -> None:
    for bound in bounds:
        if isinstance(bound, _Bound):
            holds, words = _BOUNDS[type(bound)]
            if not holds(value, bound.bound):
                raise UsageError(f"{shown}: expected {words.format(bound.bound)}")
            if value == inf:
                raise UsageError(f"{shown}: expected a finite number")


def _first(value: Any, options: tuple[Any, ...], place: str) -> Any:
    """The value as the first of several types that takes it; when none does, the error of the one that fits best."""
    errors = []
    for option in sorted(options, key=lambda option: _misfit(value, option)):
        try:
            return convert(value, option, place)
        except UsageError as error:
            errors.append(error)
    raise errors[0]


def _misfit(value: Any, option: Any) -> int:
    """How little a value looks like a type: of a dataclass, the names that only one of the two has."""
    if is_dataclass(option) and isinstance(value, Mapping):
        return len(set(value) ^ {entry.name for entry in fields(option)})
    return int(not (isinstance(option, type) and type(value) is option))


def _format_value(value: Any) -> str:
    return "null" if value is None else str(value).lower() if isinstance(value, bool) else str(value)


def require_writable(path: str | Path, place: str, *, is_folder: bool = False) -> None:
    """Raise the OSError that writing a file or folder there would raise, with the setting that names another."""
    try:
        check_writable(path, is_folder=is_folder)
    except OSError as error:
        raise OSError(error.errno, f"{error.strerror}: name another with {place}=", error.filename) from None


def _require_no_input(place: str, file: str | Path, values: Mapping[str, Any]) -> None:
    """Raise a UsageError for a file to be written that another value names, which is read."""
    for name, value in values.items():
        for other in value if isinstance(value, list) else [value]:
            if name == place or not isinstance(other, str) or not (exists(file) and exists(other)):
                continue
            if samefile(file, other):
                raise UsageError(f"{place}={file} is the file of {name}= and would be replaced: name another")


def _check(value: Any, rules: Mapping[str, Any], place: str) -> None:
    check = rules.get("check")
    for name in (value if isinstance(value, list) else [value]) if rules.get("exists") else ():
        if not Path(name).exists():
            raise MissingError(f"{place}={name}: there is no such file or folder")
    if "written" in rules:
        require_writable(value, place, is_folder=rules["written"] == "folder")
    is_own = "own" in rules and value.get(TARGET) in rules["own"]
    if is_own:
        own = rules["own"][value.get(TARGET)]
        make(own, {name: one for name, one in value.items() if name != TARGET}, f"{place}.")
    if "makes" in rules:
        resolve_name(rules["makes"])(value, f"{place}.")
    if check is not None and not is_own:
        try:
            resolve_name(check)(value)
        except EpigymError as error:
            raise UsageError(f"{place}: {error}") from None
