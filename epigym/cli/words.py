"""Words of a command line, in the grammar of `domains.words`, as Hydra reads them."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from contextlib import suppress
from types import UnionType
from typing import Annotated, Any, Union, cast, get_args, get_origin

import domains
from domains.words import is_list, split
from epigym.cli.settings import Settings
from epigym.config.packages import PLACE
from epigym.config.values import hints_of
from epigym.errors import UsageError
from epigym.problem import sort_files

_PLAIN = re.compile(r"[A-Za-z0-9_/\-+.$%*@?|:\s]*")  # what needs no quotes
_NUMBER = re.compile(r"[\d_.eE+-]+")  # to Hydra, such as 3_3_1
_SWEPT = re.compile(r"(choice|range|glob|interval|shuffle|sort|tag)\(.*\)")
_OWN_CLASS = re.compile(r"[\w.]+=\{.*\b_target_:")
_OWN_SETTINGS = re.compile(r"(agent|heuristic)(=\{|\._target_=)")  # in place of those of the default option
_BARE = ("problem", "problems", "runs")


def hydra_words(words: Sequence[str], settings: type[Settings], *, is_sweep: bool) -> list[str]:
    """Settings as `name=value` in Hydra's grammar.

    Args:
        words: of the command line. One without `=` is the problem, or one of several where the setting is a list;
            several EPDDL files are its problem, domain and libraries. A name that is no setting is a parameter of the
            domain, for commands that have these. A class that
            `heuristic._target_=module.Class` or `heuristic={_target_: module.Class}` names needs no plus before
            `heuristic`, nor do its settings.
        settings: of the command.
        is_sweep: whether the command runs once for each of `name=value,value`, where a list needs its brackets.

    Raises:
        UsageError: for a word without `=` that has no meaning, several values for one, or a value that blanks split.
        EpigymError: when an EPDDL file cannot be read.
    """
    _require_whole(words)
    hints = hints_of(cast(Any, settings))
    bare = [word for word in words if "=" not in word and not word.startswith("~")]
    found = [_rewritten(word, hints, is_sweep) for word in words if word not in bare]
    own = tuple(word.partition("_target_=")[0].lstrip("+") for word in found if "._target_=" in word)
    replaced = dict.fromkeys(match[1] for word in found if (match := _OWN_SETTINGS.match(word)))
    own = (*own, *(f"{group}={{" for group in replaced))
    found = [f"++{word}" if word.startswith(own) or _OWN_CLASS.match(word) else word for word in found]
    found = [*(f"~{group}" for group in replaced), *found]
    return _name_bare(bare, words, hints) + found


def _name_bare(bare: Sequence[str], words: Sequence[str], hints: dict[str, Any]) -> list[str]:
    """The settings that the words without `=` among others mean."""
    if not bare:
        return []
    name = next((name for name in _BARE if name in hints and get_origin(hints[name]) is not dict), None)
    given = next((word for word in words if name and word.startswith(f"{name}=")), None)
    if name and not given and _takes_list(hints[name]):
        return [f"{name}=[{','.join(map(hydra_value, bare))}]"]
    if name and not given and len(bare) == 1:
        return [f"{name}={hydra_value(bare[0])}"]
    if not given and {"problem", "domain_file"} <= {*hints} and all(word.endswith(".epddl") for word in bare):
        return [write_override(*setting) for setting in sort_files(bare).items()]
    instance = f"{given.partition('=')[2] if given else bare[0]}/{bare[-1]}"
    meant = f": did you mean problem={instance}?" if name == "problem" and _is_instance(instance) else ""
    raise UsageError(f"a setting is given as name=value, got {bare[-1]!r}{f' beside {given}' if given else ''}{meant}")


def _is_instance(name: str) -> bool:
    """Whether there is an instance `domain/instance`."""
    with suppress(domains.DomainError):
        return bool(domains.find(name))
    return False


def _require_whole(words: Sequence[str]) -> None:
    """Raise a UsageError for a setting that a shell has split at its blanks: following words close its brackets."""
    for start, word in enumerate(words):
        if "=" in word and _is_open(word):
            for end in range(start + 2, len(words) + 1):
                if not _is_open(whole := " ".join(words[start:end])):
                    raise UsageError(f"the shell has split a setting at its blanks: quote it as {shlex.quote(whole)}")


def _is_open(word: str) -> bool:
    """Whether brackets of a value are not closed."""
    return split(f"{word},")[-1] != ""


def hydra_value(element: str, *, is_text: bool = False) -> str:
    """A value, quoted where Hydra would read the characters of a name, or a text, as something else."""
    if is_list(element):
        return f"[{','.join(map(hydra_value, split(element[1:-1])))}]"
    is_plain = _PLAIN.fullmatch(element) and not (is_text and _NUMBER.fullmatch(element))
    if is_plain or "${" in element or re.fullmatch(r"\{.*\}|'.*'|\".*\"", element):
        return element
    # Hydra takes a backslash for itself, unless it and others stand before a quotation mark.
    inner = re.sub(r"(\\*)('|\Z)", lambda found: 2 * found[1] + found[2].replace("'", "\\'"), element)
    return f"'{inner}'"


def write_override(name: str, value: Any) -> str:
    """A setting as a command line gives it, before the quotes of a shell."""
    values = value if isinstance(value, list) else [value]
    texts = [hydra_value(str(one).lower() if isinstance(one, bool) else str(one)) for one in values]
    return f"{name}=[{','.join(texts)}]" if isinstance(value, list) else f"{name}={texts[0]}"


def _rewritten(word: str, hints: dict[str, Any], is_sweep: bool) -> str:
    name, equals, value = word.partition("=")
    key = name.lstrip("+~")
    if key.startswith("hydra") or not equals or (is_sweep and _SWEPT.fullmatch(value)):
        return word
    parameter = name.removeprefix("parameters.")
    if "parameters" in hints and (parameter != name or name not in hints) and parameter.isidentifier():
        name = f"+parameters.{parameter}"
    if key in hints and get_origin(hints[key]) is dict and value.startswith("[{"):
        raise UsageError(f"{key}= is a mapping by name: give +{key}.mine._target_=module.Class in place of a list")
    elements = split(value)
    is_text = hints.get(key) in (str, str | None)
    text = ",".join(hydra_value(element, is_text=is_text) for element in elements)
    is_several = len(elements) > 1 and not is_sweep
    takes_list = _takes_list(hints[key]) if key in hints else is_several and not (PLACE / "conf" / key).is_dir()
    if is_several and not takes_list:
        raise UsageError(f"{word}: expected one value; -m runs the command for each")
    return f"{name}=[{text}]" if takes_list and (is_several or not elements) else f"{name}={text}"


def _takes_list(hint: Any) -> bool:
    """Whether an annotation allows a list."""
    origin = get_origin(hint)
    return origin in (list, tuple) or (
        origin in (Union, UnionType, Annotated) and any(map(_takes_list, get_args(hint)))
    )
