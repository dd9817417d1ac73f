"""Help texts, made of the docstrings of commands and the comments of their configuration files."""

from __future__ import annotations

import ast
import re
import shutil
import textwrap
from collections.abc import Callable, Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path
from pkgutil import iter_modules
from typing import Any, cast

from omegaconf import OmegaConf

from epigym.cli.codes import ExitCode
from epigym.config.packages import PLACE

_CONF = PLACE / "conf"
_INTERPOLATION = re.compile(r"\$\{(?:(?P<resolver>[\w.]+):)?(?P<argument>[^${}]*)\}")
_MEANINGS: dict[str | None, Callable[[str], str]] = {
    None: lambda setting: f"<{setting.lstrip('.')}>",
    "hydra": lambda _: "outputs/<command>/<time>",  # of hydra:sweep.dir
    "job_folder": lambda alone: alone,
    "is_given": lambda setting: f"<true with {setting.strip('<>')}>",
    "name_searches": lambda names: names.partition(",")[2],
    "oc.env": lambda variable: f"<{variable.partition(',')[0]}>",
}
"""What the interpolations of the configuration files mean to people, by their resolvers."""


def list_commands(package: str) -> list[str]:
    """The modules of the commands of `learn` or `search`, such as `search.solve`."""
    return [f"{package}.{module.name}" for module in iter_modules([str(PLACE / package)]) if not module.ispkg]


def read_summary(module: str) -> str:
    """The first line of a module's docstring."""
    return _read_docstring(module).partition("\n")[0]


def format_listing(commands: dict[str, str]) -> str:
    """The commands below each other, by name and module, each with its summary; as wide as the terminal."""
    names, width = max(map(len, commands)), shutil.get_terminal_size().columns
    starts = {f"  epigym {name:<{names}}  ": module for name, module in commands.items()}
    return "\n".join(
        textwrap.fill(start + read_summary(module), width, subsequent_indent=" " * len(start), break_long_words=False)
        for start, module in starts.items()
    )


def format_help(command: str) -> str:
    """The help of a command: purpose, examples, settings with their comments, groups, exit codes.

    Lines are wrapped at the width of the terminal, but not those of examples, which can be copied.
    """
    name = command.rpartition(".")[2]
    entries = list(list_defaults(name))
    files = [name, *reversed([entry for entry in entries if isinstance(entry, str)])]
    values = [line for file in files for line in read_config(file)[1]]
    groups = [_format_group(*one) for one in list_groups(name).items()]
    codes = [f"{code.value:>3}  {code.meaning}" for code in ExitCode]
    width = shutil.get_terminal_size().columns - 2
    examples, _ = read_config(name)
    parts = {
        "": [_reflow(_read_docstring(command), width + 2)],
        "Examples": examples,
        "Values (name=value)": values,
        "Groups (group=option)": groups,
        "Several runs": ["-m runs the command once for each of name=value,value; --hydra-help shows more"],
        "Exit codes": codes,
    }
    texts = [(f"{title}:\n" + textwrap.indent("\n".join(lines if lines is examples else _wrap(lines, width)), "  "))
             if title else lines[0] for title, lines in parts.items() if lines]  # fmt: skip
    return "\n\n".join(texts)


def _reflow(text: str, width: int) -> str:
    """Paragraphs with lines of a width; paragraphs without longer lines stay as they are."""
    paragraphs = (part if max(map(len, part.splitlines())) <= width else textwrap.fill(part, width)
                  for part in text.split("\n\n"))  # fmt: skip
    return "\n\n".join(paragraphs)


def _wrap(lines: Sequence[str], width: int) -> Iterator[str]:
    """Lines of a width; a comment goes on below its start."""
    for line in lines:
        start = line.find("# ")
        indent = " " * start + "# " if 0 <= start < width // 2 else " " * (len(line) - len(line.lstrip()) + 4)
        yield from textwrap.wrap(line, width, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)


def _read_docstring(module: str) -> str:
    """The docstring of a module, which is not imported."""
    spec = find_spec(module)
    assert spec is not None
    assert spec.origin is not None
    return ast.get_docstring(ast.parse(Path(spec.origin).read_text(encoding="utf-8"))) or ""


def list_defaults(name: str) -> Iterator[str | dict[str, Any]]:
    """The defaults list of a configuration file, followed by those of its files."""
    content = cast(dict[str, Any], OmegaConf.to_container(OmegaConf.load(_CONF / f"{name}.yaml")))
    for entry in content.get("defaults", []):
        if isinstance(entry, dict):
            yield entry
        elif (_CONF / f"{entry}.yaml").is_file():
            yield from list_defaults(entry)
            yield entry


def read_config(name: str) -> tuple[list[str], list[str]]:
    """The comments at the head of a configuration file, and the lines of its values."""
    lines = (_CONF / f"{name}.yaml").read_text(encoding="utf-8").splitlines()
    head = next((number for number, line in enumerate(lines) if not line.startswith("#")), len(lines))
    return [line.removeprefix("#").strip() for line in lines[:head]], list(_list_values(lines[head:]))


def _list_values(lines: list[str]) -> Iterator[str]:
    """The lines but those of the keys `defaults` and `hydra`, which say how Hydra works."""
    ours = True
    for line in lines:
        if line and not line[0].isspace():
            ours = not line.startswith(("defaults:", "hydra:"))
        if ours and line:
            yield explain_interpolations(line)


def explain_interpolations(text: str) -> str:
    """The text with `<name>` for the value of a setting, and what else interpolations mean."""
    while found := _INTERPOLATION.search(text):
        text = text[: found.start()] + _MEANINGS[found["resolver"]](found["argument"]) + text[found.end() :]
    return text


def list_groups(name: str) -> dict[str, Any]:
    """The groups of a command and the options that it takes by default; those of later groups may choose others."""
    entries = [entry for entry in list_defaults(name) if isinstance(entry, dict)]
    chosen = {group: option for entry in entries for group, option in entry.items()}
    for group in reversed(chosen):
        file = _CONF / group / f"{chosen[group]}.yaml"
        content = cast(Any, OmegaConf.to_container(OmegaConf.load(file))) if file.is_file() else {}
        for entry in content.get("defaults", ()) if isinstance(content, dict) else ():
            if isinstance(entry, dict):
                chosen |= {key.removeprefix("override /"): option for key, option in entry.items()}
    return {group: chosen.get(str(option)[2:-1], option) for group, option in chosen.items()}  # ${objective}


def list_options(group: str) -> list[Path]:
    """The files of the options of a group."""
    return sorted(_CONF.rglob(f"{group}/*.yaml"), key=lambda file: file.stem) if group else []


def _format_group(name: str, option: str | list[str] | None) -> str:
    options = ", ".join(file.stem for file in list_options(name))
    default = ",".join(option) if isinstance(option, list) else option
    return f"{name}: {options}" + (f" (default {default})" if default else "")
