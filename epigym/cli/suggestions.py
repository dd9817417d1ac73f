"""Errors of composing a configuration as one line with a suggestion."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, cast

from hydra.errors import HydraException, MissingConfigException, OverrideParseException
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import ConfigTypeError, OmegaConfBaseException

from epigym.cli.help import list_options
from epigym.config.packages import missing
from epigym.config.values import hints_of
from epigym.errors import UsageError
from epigym.names import unknown

_CHOICES = ("agent", "encoding", "heuristic")
"""Groups whose option may be a class of the user's."""


def explain(error: BaseException, settings: type[Any]) -> BaseException:
    """An error of composing a configuration as one that suggests a close name or names the missing file."""
    if isinstance(error, MissingConfigException) and error.missing_cfg_file:
        group, _, option = error.missing_cfg_file.rpartition("/")
        kind, package = group.removeprefix("hydra/"), f"hydra_{option.partition('_')[0]}_"
        if kind in ("launcher", "sweeper") and (lacking := missing(package + kind)):
            return lacking
        if error.options:
            return UsageError(_name_own_class(group, option, settings) or unknown(group, option, error.options))
    if isinstance(error, OverrideParseException):
        return UsageError(f"{error.override!r} cannot be read as name=value: check brackets, blanks and quotes")
    cause = error.__cause__ if isinstance(error, HydraException) else None
    if isinstance(cause, ConfigTypeError):
        return UsageError(f"{cause.full_key}: a list is replaced by a list only, such as [first,second]")
    if isinstance(cause, OmegaConfBaseException) and cause.parent_node is not None:
        return UsageError(_locate_setting(str(cause.full_key), cast(DictConfig, cause.parent_node)))
    if isinstance(error, HydraException) and (quoted := re.match(r"Could not .*?'(.+?)'", str(error))):
        return UsageError(unknown("setting", quoted[1], list(hints_of(cast(Any, settings)))))
    if isinstance(error, HydraException | OmegaConfBaseException):
        return UsageError(str(error).splitlines()[0])
    if str(error).startswith("Config group override must be"):  # a plain ValueError of Hydra
        return UsageError("a group of options cannot be null: choose one, or leave the group out, as in ~heuristic")
    return error


def _name_own_class(group: str, option: str, settings: type[Any]) -> str:
    """How to give a class of the user's, such as `mine.X`, that stands where an option of a group is expected."""
    is_by_name = hints_of(cast(Any, settings)).get(group) == dict[str, dict[str, Any]]
    if "." not in option or not (is_by_name or group in _CHOICES):
        return ""
    place = f"+{group}.mine" if is_by_name else group
    return f"unknown {group} {option!r}: a class of yours is given as {place}._target_={option}"


def _locate_setting(key: str, parent: DictConfig) -> str:
    """One line for an unknown setting: options of its group that have it, its name elsewhere, or close names."""
    prefix, _, name = key.rpartition(".")
    if options := [f"{prefix}={file.stem}" for file in list_options(prefix) if name in OmegaConf.load(file)]:
        return f"unknown setting {key!r}: it belongs to {' or '.join(options)}: choose that, too"
    whole = cast(dict[str, Any], OmegaConf.to_container(parent._get_root()))
    keys = [one for one in _list_keys(whole) if one.partition(".")[0] != "hydra"]
    if elsewhere := [one for one in keys if one.endswith(f".{name}")]:
        elsewhere.sort(key=lambda one: not one.startswith(f"{prefix}."))
        return f"unknown setting {key!r}: did you mean {' or '.join(map(repr, elsewhere[:3]))}?"
    return unknown("setting", key, [one for one in keys if one.rpartition(".")[0] == prefix])


def _list_keys(values: Mapping[str, Any], prefix: str = "") -> Iterator[str]:
    """The full names of settings and of mappings of settings."""
    for name, value in values.items():
        yield f"{prefix}{name}"
        if isinstance(value, dict):
            yield from _list_keys(value, f"{prefix}{name}.")
