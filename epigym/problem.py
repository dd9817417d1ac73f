"""Problems by name: a file, or an instance of one of the families of `domains`."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import domains
from epigym.errors import EpigymError
from epigym.language import Semantics, load, parse_mastar
from epigym.task import Task


def load_problem(problem: str, semantics: Semantics = "default") -> Task:
    """The task behind a problem's name.

    Args:
        problem: the path of an existing file, else `family/instance` such as `coin_in_the_box/pl_5`, or
            `family` for the problem with the family's default parameters.
        semantics: the reading of mA*, see `epigym.language.parse_mastar`.

    Raises:
        ParseError: when the file is wrong, naming the place.
        EpigymError: when there is neither such a file nor such an instance; close names are suggested.
    """
    path = Path(problem)
    if path.is_file():
        return load(path, semantics)
    if path.suffix or path.is_absolute() or len(path.parts) > 2:
        raise EpigymError(f"no such problem file: {problem}")
    try:
        domains.find(problem)
    except domains.DomainError as error:
        raise EpigymError(f"no such file as {problem!r}, and {error}") from None
    return family_problem(problem, semantics)


def family_problem(name: str, semantics: Semantics = "default", **parameters: Any) -> Task:
    """The task of `family/instance`, or of `family` with these parameters.

    Args:
        name: a family, or a named instance of one as `family/instance`.
        semantics: the reading of mA*, see `epigym.language.parse_mastar`.
        **parameters: override the parameters of the instance, or the defaults of the family.

    Raises:
        EpigymError: when the family, the instance or a parameter does not exist or is out of range.
    """
    try:
        text = domains.text(name, **parameters)
    except domains.DomainError as error:
        raise EpigymError(str(error)) from None
    return replace(parse_mastar(text, file=name, semantics=semantics), name=name)
