"""Problems by name: a file, or an instance of one of the domains of `domains`."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from os import PathLike, fspath
from pathlib import Path
from typing import Any

import domains
from epigym import language
from epigym.errors import MissingError, UsageError
from epigym.io.files import is_file
from epigym.language import Semantics
from epigym.task.formula import Formula
from epigym.task.structure import Structure, actors, from_words
from epigym.task.task import Task

_EXAMPLE = "coin_in_the_box/pl_5"


@dataclass(frozen=True, slots=True)
class Reading:
    """How a problem file is read.

    Attributes:
        semantics: the reading of mA*, see `epigym.language.parse_mastar`.
        domain_file: the domain of an EPDDL problem.
        libraries: the action-type libraries of an EPDDL problem; one name is a list of one.
        plank_compat: whether to read EPDDL as its official toolkit does, see `epigym.language.epddl`.
    """

    semantics: Semantics = "default"
    domain_file: str | None = None
    libraries: tuple[str, ...] = ()
    plank_compat: bool = False

    def __post_init__(self) -> None:
        """Take one library for a list of one."""
        libraries = (self.libraries,) if isinstance(self.libraries, str) else tuple(self.libraries)
        object.__setattr__(self, "libraries", libraries)


def load_problem(problem: str, reading: Reading = Reading()) -> Task:
    """The task behind a problem's name.

    Args:
        problem: the path of an existing file (mA*, EPDDL, or JSON: a specification that names the files of an EPDDL
            problem, or a ground EPDDL task), else `domain/instance` such as `coin_in_the_box/pl_5`, or `domain` for
            the problem with the domain's default parameters.
        reading: how to read a file.

    Raises:
        ParseError: when the file is wrong, naming the place.
        MissingError: when there is neither such a file nor such an instance (close names are suggested).
        UsageError: when it is a folder, or the reading does not apply to the problem.
    """
    if not isinstance(problem, str | PathLike) or not fspath(problem):
        raise UsageError(f"expected a problem file, or domain/instance such as {_EXAMPLE}, got {problem!r}")
    path = Path(problem)
    if is_file(path):
        return language.load(path, **asdict(reading))
    folder = UsageError(f"{path} is a folder: name a problem file in it")
    if path.suffix or path.is_absolute() or len(path.parts) > 2:
        raise folder if path.is_dir() else MissingError(f"no such problem file: {path}")
    try:
        domains.find(problem)
    except domains.DomainError as error:
        if path.is_dir():
            raise folder from None
        raise MissingError(f"no such file as {problem!r}, and {error}") from None
    if replace(reading, semantics="default") != Reading():
        raise UsageError(
            f"{problem} is the problem of a domain: domain_file, libraries and plank_compat do not apply to it"
        )
    return domain_problem(problem, reading.semantics)


def domain_problem(name: str, semantics: Semantics = "default", **parameters: Any) -> Task:
    """The task of `domain/instance`, or of `domain` with these parameters.

    Args:
        name: a domain, or a named instance of one as `domain/instance`.
        semantics: the reading of mA*, see `epigym.language.parse_mastar`.
        **parameters: override the parameters of the instance, or the defaults of the domain.

    Raises:
        UsageError: when the domain, the instance or a parameter does not exist or is out of range, or the semantics
            does not apply to the language.
    """
    try:
        known, named = domains.find(name)
        text = domains.text(name, **parameters)
    except domains.DomainError as error:
        raise UsageError(str(error)) from None
    if known.language == "mA*":
        task = language.parse_mastar(text, file=name, semantics=semantics)
    elif semantics == "default":
        task = language.parse_epddl(text, file=name)
    else:
        raise UsageError(f"{name} is written in EPDDL: semantics={semantics} does not apply to it")
    domain, _, instance = name.partition("/")
    structure = _structure(task, known, {**named, **parameters})
    return replace(task, name=name, domain=domain, instance=instance, structure=structure)


def _structure(task: Task, domain: domains.Domain, parameters: domains.Parameters) -> Structure | None:
    """The structure that the language tells, or else the domain; the domain knows who acts."""
    structure = task.structure
    if domain.structure is not None:
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
    formulas = domain_problem(name, **{**parameters, "goals": texts}).goal
    assert len(formulas) == len(texts), f"the vocabulary of {name} is not one subgoal for each formula"
    return texts, formulas
