"""Problems by name: a file, or an instance of one of the domains of `domains`."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable
from dataclasses import fields, replace
from glob import escape, glob, has_magic
from os import PathLike, fspath
from pathlib import Path
from typing import Any

import domains
from epigym import language
from epigym.errors import MissingError, ProblemWarning, UsageError
from epigym.io.files import is_file, read
from epigym.language import Reading
from epigym.names import unknown
from epigym.task.formula import Formula
from epigym.task.structure import Structure, actors, from_words
from epigym.task.task import Task

_EXAMPLE = "coin_in_the_box/pl_5"
_DEFINES = {  # a file may define all three
    "problem": r"\(\s*define\s*\(\s*problem\b",
    "domain_file": r"\(\s*define\s*\(\s*domain\b",
    "libraries": r"\(\s*define\s*\(\s*action-type-library\b",
}
_MARKS = {".txt": "", ".epddl": r"\(\s*problem\b", ".json": '"(?:action-type-libraries|planning-task-info)"'}


def load_problem(problem: str, reading: Reading = Reading(), **parameters: Any) -> Task:
    """The task behind a problem's name.

    Args:
        problem: the path of an existing file (mA*, EPDDL, or JSON: a specification that names the files of an EPDDL
            problem, or a ground EPDDL task), else `domain/instance` such as `coin_in_the_box/pl_5`, or `domain` for
            the problem with the domain's default parameters.
        reading: how to read a file.
        **parameters: override the parameters of the instance, or the defaults of the domain.

    Raises:
        ParseError: when the file is wrong, naming the place.
        MissingError: when there is neither such a file nor such an instance (close names are suggested).
        UsageError: when it is a folder, or the reading or a parameter does not apply to the problem.
    """
    if not isinstance(problem, str | PathLike) or not fspath(problem):
        raise UsageError(f"expected a problem file, or domain/instance such as {_EXAMPLE}, got {problem!r}")
    path = Path(problem)
    if is_file(path):
        for name in parameters:
            raise UsageError(f"{path} is a file: {unknown('setting', name, [one.name for one in fields(Reading)])}")
        return language.load(path, reading)
    folder = UsageError(f"{path} is a folder: name a problem file in it")
    if path.suffix or path.is_absolute() or len(path.parts) > 2:
        raise folder if path.is_dir() else MissingError(f"no such problem file: {path}")
    try:
        domains.find(problem)
    except domains.DomainError as error:
        if path.is_dir():
            raise folder from None
        raise MissingError(f"no such file as {problem!r}, and {error}") from None
    if replace(reading, semantics=None, determines=None) != Reading():
        raise UsageError(
            f"{problem} is the problem of a domain: domain_file, libraries and plank_compat do not apply to it"
        )
    return domain_problem(problem, reading, **parameters)


def sort_files(files: Iterable[str]) -> dict[str, Any]:
    """Which of the files of an EPDDL problem is which, by what they define: `problem`, `domain_file` and `libraries`.

    Raises:
        UsageError: when they are not one problem and at most one domain, naming a file that is too many.
        EpigymError: when a file cannot be read.
    """
    found: dict[str, Any] = {}
    for file in files:
        text = re.sub(r";.*", "", read(file))
        kind = next((kind for kind, mark in _DEFINES.items() if re.search(mark, text, re.IGNORECASE)), None)
        if kind == "libraries":
            found.setdefault(kind, []).append(file)
        elif kind is None or kind in found:
            what = "defines no problem, domain or library" if kind is None else f"is like {found[kind]}: one is enough"
            raise UsageError(f"{file} {what}")
        else:
            found[kind] = file
    if "problem" not in found:
        raise UsageError(f"none of {', '.join(files)} defines a problem")
    return found


def find_problems(names: Iterable[str]) -> list[str]:
    """Problems by name, each once, where files replace the folder that they are in, or the pattern that they match.

    Args:
        names: files, instances as `domain/instance`, folders of files, or patterns with `*`, `?`, `[…]` or `**`.

    Returns:
        Names for `load_problem`, in the order given, the files of a folder or pattern sorted by name.

    Raises:
        MissingError: naming a folder without problems, or a pattern that matches no file.
    """
    found: list[str] = []
    for name in names:
        is_folder = not is_file(name) and name not in domains.DOMAINS and Path(name).is_dir()
        if is_folder:
            files = sorted(filter(_is_problem, glob(f"{escape(name)}/*")))
        elif has_magic(name) and not is_file(name):
            files = sorted(filter(is_file, glob(name, recursive=True)))
        else:
            files = [name]
        if not files:
            where = f"{name}/*" if is_folder else name
            raise MissingError(f"no file matches {where!r}: check the folder and the ending of its files")
        found += files
    return list(dict.fromkeys(found))


def domain_problem(name: str, reading: Reading = Reading(), **parameters: Any) -> Task:
    """The task of `domain/instance`, or of `domain` with these parameters.

    Args:
        name: a domain, or a named instance of one as `domain/instance`.
        reading: its `semantics` and `determines`, where the domain is in mA*.
        **parameters: override the parameters of the instance, or the defaults of the domain.

    Raises:
        UsageError: when the domain, the instance or a parameter does not exist or is out of range, or the reading
            does not apply to the language.
    """
    try:
        known, named = domains.find(name)
        text = domains.write(name, **parameters)
    except domains.DomainError as error:
        raise UsageError(str(error)) from None
    if known.language == "mA*":
        task = language.parse_mastar(text, reading, file=name)
    else:
        for setting in ("semantics", "determines"):
            if (value := getattr(reading, setting)) is not None:
                raise UsageError(f"{name} is written in EPDDL: {setting}={value} does not apply to it")
        task = language.parse_epddl(text, file=name)
    domain, _, instance = name.partition("/")
    structure = _structure(task, known, {**named, **parameters})
    return replace(task, name=name, domain=domain, instance=instance, structure=structure)


def _is_problem(path: str) -> bool:
    """Whether a file is a problem by its ending and, beside EPDDL domains and JSON plans, its content."""
    mark = _MARKS.get(Path(path).suffix)
    return mark is not None and is_file(path) and bool(re.search(mark, read(path)))


def _structure(task: Task, domain: domains.Domain, parameters: domains.Parameters) -> Structure | None:
    """The structure that the language tells, or else the domain; the domain knows who acts."""
    structure = task.structure
    if domain.language == "mA*":
        told = domain.structure(**parameters)
        actions = [action.name for action in task.actions]
        structure = from_words(task.fluents, actions, task.agents, told.types, told.words)
    return structure and replace(structure, actors=actors(structure.actions, domain.actors, task.agents))


def vocabulary(name: str, **parameters: Any) -> tuple[list[str], tuple[Formula, ...]]:
    """The formulas that random goals of a domain's problem are made of, as text and as read.

    They are read as the goal of the problem that asks for all of them, so that every language can say them.

    Raises:
        UsageError: when the domain, the instance or a parameter does not exist or is out of range.
    """
    try:
        known, named = domains.find(name)
        texts = list(known.vocabulary(**{**named, **parameters}))
    except domains.DomainError as error:
        raise UsageError(str(error)) from None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ProblemWarning)  # they contradict each other
        formulas = domain_problem(name, **{**parameters, "goals": texts}).goal
    assert len(formulas) == len(texts), f"the vocabulary of {name} is not one subgoal for each formula"
    return texts, formulas
