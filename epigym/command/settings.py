"""Typed settings: what a composed configuration says, checked against a dataclass before any work is done.

Beside its type, the metadata of a field may hold rules for a value that is not null:

- `minimum` and `maximum` of a number;
- `exists`: the value names a file or folder that must be there, or is a list of such names;
- `written`: it names a `file` or a `folder` that will be written;
- `check`: a function, as `module:name`, that raises an `EpigymError` for a wrong value.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, dataclass, field, fields, is_dataclass
from pathlib import Path
from pkgutil import resolve_name
from types import NoneType, UnionType
from typing import Any, Literal, TypeVar, Union, cast, get_args, get_origin, get_type_hints

from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException

from epigym.errors import EpigymError, MissingError, UsageError
from epigym.files import check_writable
from epigym.language import Semantics
from epigym.names import unknown
from epigym.problem import Reading

C = TypeVar("C")
UNSET = "???"
"""What a configuration file writes for a value without a default."""

_KINDS: dict[Any, str] = {
    int: "a whole number", float: "a number", bool: "true or false", str: "text", NoneType: "null",
    list: "a list", tuple: "a list", dict: "a mapping",
}  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Settings:
    """What every command has, see `conf/base.yaml`."""

    run_dir: Path = field(metadata={"written": "folder"})
    debug: bool


@dataclass(frozen=True, kw_only=True)
class ProblemSettings(Settings):
    """How the problem of a command is read, see `conf/problem.yaml`."""

    semantics: Semantics
    domain_file: str | None = field(metadata={"exists": True})
    libraries: list[str]
    plank_compat: bool

    @property
    def reading(self) -> Reading:
        """The same as one value."""
        return Reading(self.semantics, self.domain_file, tuple(self.libraries), self.plank_compat)


def read(config: DictConfig, kind: type[C]) -> C:
    """The settings in a composed configuration.

    Raises:
        UsageError: when a value is missing, unknown, of the wrong type or out of range; the message names it.
        MissingError: when a file that must be there is not.
        OSError: when a file or folder cannot be written.
    """
    try:
        values = OmegaConf.to_container(config, resolve=True)
    except OmegaConfBaseException as error:
        raise UsageError(f"{error.full_key}: {str(error).splitlines()[0]}") from None
    return _made(kind, cast(Mapping[str, Any], values))


def _made(kind: type[C], values: Mapping[str, Any], prefix: str = "") -> C:
    known = {entry.name: entry for entry in fields(cast(Any, kind))}
    for name in values:
        if name not in known:
            raise UsageError(unknown("setting", prefix + str(name), [prefix + one for one in known]))
    hints, made = get_type_hints(kind), {}
    for name, entry in known.items():
        place, value = prefix + name, values.get(name, UNSET)
        if isinstance(value, str) and value == UNSET:
            if entry.default is MISSING:
                raise UsageError(f"{place} is not given: add {place}=…")
            continue
        made[name] = _typed(value, hints[name], place)
        if made[name] is not None:
            _check(made[name], entry.metadata, place, _shown(value))
    try:
        return kind(**made)
    except EpigymError as error:
        raise UsageError(f"{prefix.rstrip('.')}: {error}") from None


def _typed(value: Any, kind: Any, place: str) -> Any:
    """The value as its type asks for it: what is no list is a list of one, a whole number is a number."""
    origin, options = get_origin(kind), get_args(kind)
    if kind is Any:
        return value
    if origin in (Union, UnionType):
        return _first(value, options, place)
    if origin is Literal:
        if value in options:
            return value
        raise UsageError(unknown(place, str(value), options))
    if origin is list and value is not None:
        items = value if isinstance(value, list) else [value]
        return [_typed(item, options[0], place) for item in items]
    if is_dataclass(kind) and isinstance(value, Mapping):
        return _made(cast(type[Any], kind), value, place + ".")
    plain = origin or kind
    if plain is Path:
        return Path(_typed(value, str, place))
    if isinstance(value, bool) is (plain is bool):
        if isinstance(value, plain):
            return value
        if (isinstance(value, int) and plain in (float, str)) or (isinstance(value, float) and plain is str):
            return plain(value)
    raise UsageError(f"{place}={_shown(value)}: expected {_KINDS.get(plain, 'a mapping')}")


def _first(value: Any, options: tuple[Any, ...], place: str) -> Any:
    """The value as the first of several types that takes it; when none does, the error of the first one."""
    errors = []
    for option in sorted(options, key=lambda option: not (isinstance(option, type) and type(value) is option)):
        try:
            return _typed(value, option, place)
        except UsageError as error:
            errors.append(error)
    raise errors[0]


def _shown(value: Any) -> str:
    return "null" if value is None else str(value).lower() if isinstance(value, bool) else str(value)


def _check(value: Any, rules: Mapping[str, Any], place: str, shown: str) -> None:
    minimum, maximum, check = rules.get("minimum"), rules.get("maximum"), rules.get("check")
    if isinstance(value, int | float) and minimum is not None and not value >= minimum:
        raise UsageError(f"{place}={shown}: expected at least {minimum}")
    if isinstance(value, int | float) and maximum is not None and not value <= maximum:
        raise UsageError(f"{place}={shown}: expected at most {maximum}")
    for name in (value if isinstance(value, list) else [value]) if rules.get("exists") else ():
        if not Path(name).exists():
            raise MissingError(f"{place}={name}: there is no such file or folder")
    if "written" in rules:
        check_writable(value, is_folder=rules["written"] == "folder")
    if check is not None:
        try:
            resolve_name(check)(value)
        except EpigymError as error:
            raise UsageError(f"{place}: {error}") from None
