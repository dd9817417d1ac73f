"""Errors of composing a configuration as one line with a suggestion."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields
from typing import Any, cast

from hydra.errors import HydraException, MissingConfigException, OverrideParseException
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import ConfigTypeError, OmegaConfBaseException

from epigym.cli.help import list_groups, list_options
from epigym.config.packages import missing
from epigym.config.values import hints_of
from epigym.errors import MissingError, UsageError
from epigym.names import find_close, unknown

_CHOICES = ("agent", "encoding", "heuristic")
"""Groups whose option may be a class of the user's."""
_WRITTEN = ("folder", "out", "output", "path", "run_dir")
"""Settings of some commands for what they write, which others call otherwise."""


def explain(error: BaseException, settings: type[Any]) -> BaseException:
    """An error of composing a configuration as one that suggests a close name or names the missing file."""
    if isinstance(error, MissingConfigException) and error.missing_cfg_file:
        group, _, option = error.missing_cfg_file.rpartition("/")
        kind, package = group.removeprefix("hydra/"), f"hydra_{option.partition('_')[0]}_"
        if kind in ("launcher", "sweeper") and (lacking := missing(package + kind)):
            return lacking
        if error.options:
            return UsageError(_name_own_class(group, option, settings) or unknown(group, option, error.options))
        if not group:
            remedy = "leave the option out, or add the folder of the file with --config-dir FOLDER"
            return MissingError(f"--config-name {option}: there is no {option}.yaml in conf: {remedy}")
    if isinstance(error, OverrideParseException):
        return UsageError(f"{error.override!r} cannot be read as name=value: check brackets, blanks and quotes")
    cause = error.__cause__ if isinstance(error, HydraException) else None
    if isinstance(cause, ConfigTypeError):
        return UsageError(f"{cause.full_key}: a list is replaced by a list only, such as [first,second]")
    if isinstance(cause, OmegaConfBaseException) and cause.parent_node is not None:
        whole = OmegaConf.to_container(cast(DictConfig, cause.parent_node)._get_root())
        return UsageError(unknown_setting(str(cause.full_key), cast(dict[str, Any], whole), settings))
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


def unknown_setting(key: str, values: Mapping[str, Any], settings: type[Any], parameters: Iterable[str] = ()) -> str:
    """One line for an unknown setting, with the option that has it, its name elsewhere, or other names for it.

    Args:
        key: its full name.
        values: the settings by name, with mappings of those below them.
        settings: the dataclass of a command, in its module.
        parameters: names that may stand beside the settings.
    """
    options = dict(_list_option_keys(settings.__module__.rpartition(".")[2]))
    if having := [option for option, keys in options.items() if key in keys]:
        return f"unknown setting {key!r}: it belongs to {' or '.join(having)}: choose that, too"
    prefix, _, name = key.rpartition(".")
    keys = [one for one in _list_keys(values) if one.partition(".")[0] != "hydra"]
    found = sorted((one for one in keys if one.endswith(f".{name}")), key=lambda one: not one.startswith(f"{prefix}."))
    if key in _WRITTEN:
        found += [entry.name for entry in fields(settings) if "written" in entry.metadata]
    beside = [*(one for one in keys if one.rpartition(".")[0] == prefix), *parameters]
    if found := found or find_close(key, beside):
        return f"unknown setting {key!r}: did you mean {' or '.join(map(repr, found[:3]))}?"
    known = {one: option for option, keys in options.items() for one in keys}
    found = [one for one in known if one.endswith(f".{name}")][:3] or find_close(
        key, (one for one in known if one.rpartition(".")[0] == prefix)
    )[:1]
    close = [f"{one!r} with {known[one]}" for one in found]
    return f"unknown setting {key!r}: did you mean {' or '.join(close)}?" if close else unknown("setting", key, beside)


def _list_option_keys(command: str) -> Iterator[tuple[str, list[str]]]:
    """The options of the groups of a command, as `group=option`, with the full names of the settings in their files."""
    for group in list_groups(command):
        for file in list_options(group) if group != "experiment" else ():
            content = OmegaConf.to_container(OmegaConf.load(file))
            if isinstance(content, dict):
                is_global = file.read_text(encoding="utf-8").startswith("# @package _global_")
                prefix = "" if is_global else f"{group.replace('/', '.')}."
                yield f"{group}={file.stem}", list(_list_keys(cast(dict[str, Any], content), prefix))


def _list_keys(values: Mapping[str, Any], prefix: str = "") -> Iterator[str]:
    """The full names of settings and of mappings of settings."""
    for name, value in values.items():
        yield f"{prefix}{name}"
        if isinstance(value, dict):
            yield from _list_keys(value, f"{prefix}{name}.")
