"""Things that are chosen by name, or by the path of a class of one's own, with settings as its signature has them."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import yaml

from epigym.config.packages import PLACE
from epigym.config.targets import find, full_name
from epigym.config.values import convert
from epigym.errors import UsageError
from epigym.names import unknown

_NO_SETTINGS = ("name", "_target_", "label")


def option_file(group: str, name: str) -> Path:
    """The configuration file of an option, such as `conf/heuristic/h_add.yaml`."""
    return PLACE / "conf" / group / f"{name}.yaml"


def default_settings(group: str, name: str, make: str | Callable[..., Any]) -> dict[str, Any]:
    """Name and default settings of an option: those of its configuration file, or else of a signature.

    Args:
        group: of options, such as `heuristic`.
        name: of the option.
        make: the class or function that makes it, or the path of one; imported only if there is no file.
    """
    file = option_file(group, name)
    if file.is_file():  # plain YAML: no interpolation, and nothing that only Hydra can read
        return dict(yaml.load(file.read_bytes(), getattr(yaml, "CSafeLoader", yaml.SafeLoader)))
    parameters = _parameters(find(make) if isinstance(make, str) else make)
    return {"name": name} | {one.name: one.default for one in parameters if one.default is not one.empty}


def maker(kind: str, choice: Mapping[str, Any], known: Mapping[str, str], base: type, given: int = 0) -> partial[Any]:
    """What makes a chosen thing, with its settings checked and bound.

    Args:
        kind: of the choice, such as `agent`.
        choice: the `name` of something known, or as `_target_` a class of one's own or its path; with its settings.
        known: by name, the path of the class or function that makes each thing known.
        base: the base class of a user's class.
        given: number of positional arguments that the maker will be called with.

    Raises:
        UsageError: when the name, the path or a setting is wrong, or a setting is missing.
    """
    settings = {key: value for key, value in choice.items() if key not in _NO_SETTINGS}
    if "_target_" in choice:
        target = choice["_target_"]
        name = target if isinstance(target, str) else full_name(target)
        make = _own(kind, name, find(target) if isinstance(target, str) else target, base)
    else:
        name = str(choice.get("name"))
        if name not in known:
            raise UsageError(unknown(kind, name, known))
        make = find(known[name])
    return partial(make, **check(f"{kind} {name!r}", make, settings, given))


def check(what: str, make: Callable[..., Any], settings: Mapping[str, Any], given: int = 0) -> dict[str, Any]:
    """The settings as the annotations of a signature's parameters ask for them, the first `given` left out.

    Raises:
        UsageError: when one is unknown, missing, of the wrong type or out of range.
    """
    parameters = {parameter.name: parameter for parameter in _parameters(make)[given:]}
    is_open = any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters.values())
    for name in settings:
        if name not in parameters and not is_open:
            raise UsageError(unknown(f"setting of {what}", name, parameters))
    for name, parameter in parameters.items():
        is_open_ended = parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
        is_needed = parameter.default is parameter.empty and not is_open_ended
        if is_needed and name not in settings:
            raise UsageError(f"{what} needs the setting {name}")
    hints = {name: parameter.annotation for name, parameter in parameters.items()}
    return {name: convert(value, hints.get(name, Any), f"{what}: {name}") for name, value in settings.items()}


def _own(kind: str, path: str, found: Any, base: type) -> Callable[..., Any]:
    if not isinstance(found, type) or not issubclass(found, base):
        raise UsageError(f"{kind}: _target_={path!r} is no class that derives from {base.__module__}.{base.__name__}")
    return found


def _parameters(make: Callable[..., Any]) -> list[inspect.Parameter]:
    try:
        signature = inspect.signature(make, eval_str=True)
    except NameError:  # annotations that are there for type checkers only
        signature = inspect.signature(make)
    return list(signature.parameters.values())
