"""Reads problem files into ground planning tasks, and writes tasks to files."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from epigym.errors import EpigymError, UsageError
from epigym.io.files import read, read_json, require_kind, write_text
from epigym.language.reading import SEMANTICS, Reading, Semantics
from epigym.names import unknown
from epigym.task.task import Task

if TYPE_CHECKING:
    from epigym.language.epddl import parse_epddl
    from epigym.language.mastar import parse_formula, parse_mastar

__all__ = [
    "SEMANTICS",
    "Format",
    "Reading",
    "Semantics",
    "check_format",
    "load",
    "parse_epddl",
    "parse_formula",
    "parse_mastar",
    "save",
]
Format = Literal["json", "compact", "mastar"]
_EXTENSIONS: dict[Format, str] = {"json": ".json", "compact": ".json", "mastar": ".txt"}

# Imported at first use: importing a parser takes longer than solving most problems.
_MODULES = {
    "parse_epddl": "epigym.language.epddl",
    "parse_formula": "epigym.language.mastar",
    "parse_mastar": "epigym.language.mastar",
}


def __getattr__(name: str) -> Any:
    """Import a public name from its module."""
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_MODULES[name]), name)


def load(path: str | Path, reading: Reading = Reading()) -> Task:
    """Read a problem file in the language of its extension.

    `.txt` is mA*, `.epddl` is an EPDDL problem. The content of a `.json` file decides whether it is a specification
    (the paths of an EPDDL problem, its domain and libraries) or a ground EPDDL task in the official layout.

    Args:
        path: the problem file.
        reading: how to read it.

    Raises:
        ParseError: when the text is wrong, with the place.
        LimitError: when the initial e-state has too many worlds.
        MissingError: when a file does not exist.
        UsageError: when a part of the reading is missing or does not apply to the language.
        EpigymError: when a file cannot be read, or no language has its extension.
    """
    path = Path(path)
    if path.suffix not in _LANGUAGES:
        kinds = ", ".join(f"{suffix} ({language})" for suffix, language in _LANGUAGES.items())
        raise EpigymError(f"{path}: cannot tell the language from the extension {path.suffix!r}: expected {kinds}")
    for name in _INAPPLICABLE[path.suffix]:
        if getattr(reading, name) != getattr(Reading(), name):
            raise UsageError(f"{path}: {name} does not apply to {_LANGUAGES[path.suffix]}: leave it out")
    if path.suffix == ".txt":
        from epigym.language.mastar import parse_mastar

        return parse_mastar(read(path), reading, file=str(path))
    if path.suffix == ".json":
        return _load_json(path, reading.plank_compat)
    from epigym.language.epddl import load_epddl

    return load_epddl(path, reading.domain_file, reading.libraries, plank_compat=reading.plank_compat)


def save(task: Task, path: str | Path, form: Format | None = None) -> Reading:
    """Write a task to a file that `load` reads back; the file appears complete or not at all.

    Args:
        task: the task.
        path: the file, with the extension of the format; missing folders are created.
        form: `json`, the layout of the official EPDDL toolkit, where atoms that never change are read back as
            constants; `compact`, the layout described in `epigym.language.ground_json`, which loses nothing;
            `mastar`, a text in mA*, if it can express the task. The default depends on the extension:
            `json` for `.json`, `mastar` for `.txt`.

    Returns:
        The reading under which the file means the task; `Reading()` for JSON.

    Raises:
        UsageError: when `load` does not support the extension, or the format is unknown.
        LimitError: when the file would be too large.
        TaskError: when the format cannot express the task, with the part that it cannot express.
        OSError: when the file cannot be written.
    """
    form = check_format(path, form)
    if form != "mastar":
        from epigym.language import ground_json

        ground_json.dump(ground_json.make_specification(task), path, compact=form == "compact")
        return Reading()
    from epigym.language.mastar.writing import write_mastar

    text, reading = write_mastar(task)
    write_text(path, text)
    return reading


def check_format(path: str | Path, form: str | None = None) -> Format:
    """The format in which `save` writes a task to a file. Raises errors as `save`."""
    if Path(path).suffix not in _EXTENSIONS.values():
        raise UsageError(f"{path}: tasks are written as JSON or mA*: name a file that ends in .json or .txt")
    for name, extension in _EXTENSIONS.items():
        if form == name and extension != Path(path).suffix:
            raise UsageError(f"{path}: format={form} is for files that end in {extension}")
        if form == name or (form is None and extension == Path(path).suffix):
            return name
    raise UsageError(unknown("format", str(form), _EXTENSIONS))


_LANGUAGES = {
    ".txt": "mA*",
    ".epddl": "an EPDDL problem",
    ".json": "a JSON file, a specification or a ground EPDDL task",
}
# By extension: the parts of a reading that do not apply.
_INAPPLICABLE = {
    ".txt": ("domain_file", "libraries", "plank_compat"),
    ".epddl": ("semantics", "determines"),
    ".json": ("semantics", "determines", "domain_file", "libraries"),
}


def _load_json(path: Path, plank_compat: bool) -> Task:
    content = read_json(path, "a problem: a specification or a ground EPDDL task")
    require_kind(path, content, "problem")
    if isinstance(content, dict) and "planning-task-info" in content:
        from epigym.language import ground_json

        return ground_json.read_task(content, str(path), plank_compat=plank_compat)
    from epigym.language.epddl import load_spec

    return load_spec(path, plank_compat=plank_compat)
