"""Write the reference of commands from their docstrings and configuration files.

python -m tests.tools.commands                writes docs/reference/commands.md below its marker
"""

import re
from collections.abc import Iterator

from epigym.cli import help as pages
from epigym.config.packages import PLACE
from epigym.io.files import write_text

PAGE = PLACE / "docs" / "reference" / "commands.md"
MARKER = "<!-- python -m tests.tools.commands writes what follows. -->\n"
SHARED = ("command", "problem", "task", "base")
_SETTING = re.compile(r"(?P<indent> *)(?P<name>[\w-]+):(?P<default>[^#]*)(?:#(?P<meaning>.*))?$")


def main() -> None:
    """Write the page."""
    head, _, _ = PAGE.read_text(encoding="utf-8").partition(MARKER)
    write_text(PAGE, head + MARKER + describe())


def describe() -> str:
    """The generated part of the page: settings that commands share, each command, and the groups."""
    commands = [*pages.list_commands("learn"), *pages.list_commands("search"), "epigym.cli.show", "epigym.cli.convert"]
    parts = ["## Settings of several commands", _table(*SHARED)]
    for module in commands:
        name = module.rpartition(".")[2]
        if (PLACE / "conf" / f"{name}.yaml").exists():
            title = f"epigym {name}" if module.startswith("epigym") else f"python -m {module}"
            options = [f"`{group}={_name(option)}`" for group, option in pages.list_groups(name).items()]
            parts += [f"## {title}", _escape(pages.read_summary(module)), _table(name)]
            parts += [f"Groups: {', '.join(options)}."] if options else []
    return "\n\n".join(["", *parts, "## Groups", _groups(), ""])


def _table(*names: str) -> str:
    settings = (setting for name in names for setting in _settings(pages.read_config(name)[1]))
    rows = (f"| `{name}` | `{default}` | {_escape(meaning)} |" for name, default, meaning in settings)
    return "\n".join(["| setting | default | meaning |", "| --- | --- | --- |", *rows])


def _settings(lines: list[str]) -> Iterator[tuple[str, str, str]]:
    """Name, default and meaning of each setting in the lines of a file, without those in items of lists."""
    path: list[str] = []
    item: int | None = None  # indentation of the item that the line belongs to
    for line in lines:
        text = line.lstrip()
        indent = len(line) - len(text)
        if text.startswith("- "):
            item = indent
        elif item is not None and indent <= item:
            item = None
        if item is None and (match := _SETTING.match(line)):
            path = [*path[: len(match["indent"]) // 2], match["name"]]
            if default := match["default"].strip():
                yield ".".join(path), default, (match["meaning"] or "").strip()


def _name(option: str | list[str] | None) -> str:
    return ",".join(option) if isinstance(option, list) else option or ""


def _escape(text: str) -> str:
    return re.sub(r"([|*_])", r"\\\1", text).replace("<", "&lt;")


def _groups() -> str:
    rows = ["| group | option | settings |", "| --- | --- | --- |"]
    conf = PLACE / "conf"
    files = [file for file in conf.rglob("*/*.yaml") if "hydra" not in file.parts]
    for file in sorted(files, key=lambda file: (file.parent.name, file.stem)):
        settings = _settings(pages.read_config(str(file.relative_to(conf).with_suffix("")))[1])
        shown = dict.fromkeys(_shorten(name, default) for name, default, _ in settings)
        rows.append(f"| `{file.parent.name}` | `{file.stem}` | {', '.join(shown)} |")
    return "\n".join(rows)


def _shorten(name: str, default: str) -> str:
    """A setting with its default; those that each entry of a mapping has, whose keys are capitalised, are one."""
    every = re.sub(r"\.[A-Z][^.]*\.", ".*.", name)
    return f"`{name}` `{default}`" if every == name else f"`{every}`"


if __name__ == "__main__":
    main()
