"""Problems by name: a file, or an instance of one of the domains of `domains`."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import domains
from epigym.errors import EpigymError
from epigym.language import Semantics, load, parse_mastar
from epigym.task import Task


@dataclass(frozen=True, slots=True)
class Reading:
    """How a problem file is read.

    Attributes:
        semantics: the reading of mA*, see `epigym.language.parse_mastar`.
        domain_file: the domain of an EPDDL problem.
        libraries: the action-type libraries of an EPDDL problem.
        plank_compat: whether to read EPDDL as its official toolkit does, see `epigym.language.epddl`.
    """

    semantics: Semantics = "default"
    domain_file: str | None = None
    libraries: tuple[str, ...] = ()
    plank_compat: bool = False


def load_problem(
    problem: str | None = None,
    semantics: Semantics | Reading = "default",
    *,
    domain_file: str | None = None,
    libraries: Iterable[str] = (),
    spec: str | None = None,
    plank_compat: bool = False,
) -> Task:
    """The task behind a problem's name.

    Args:
        problem: the path of an existing file, else `domain/instance` such as `coin_in_the_box/pl_5`, or
            `domain` for the problem with the domain's default parameters.
        semantics: the reading of mA*, see `epigym.language.parse_mastar`.
        domain_file: the domain of an EPDDL problem.
        libraries: the action-type libraries of an EPDDL problem.
        spec: instead of `problem`, a JSON file: a specification that names an EPDDL problem, its domain and
            its libraries, or a ground EPDDL task in the official layout.
        plank_compat: whether to read EPDDL as its official toolkit does, see `epigym.language.epddl`.

    Raises:
        ParseError: when the file is wrong, naming the place.
        EpigymError: when there is neither such a file nor such an instance (close names are suggested), or
            the arguments do not go together.
    """
    if isinstance(semantics, Reading):
        return load_problem(problem, **asdict(semantics))
    if (problem is None) == (spec is None):
        raise EpigymError("give either a problem or a spec" + (", not both" if spec else ""))
    path = Path(str(problem or spec))
    if spec is not None and path.suffix != ".json":
        raise EpigymError(f"{path}: a spec is a .json file; give other problem files as problem")
    if spec is not None or path.is_file():
        return load(path, semantics, domain_file=domain_file, libraries=libraries, plank_compat=plank_compat)
    if path.suffix or path.is_absolute() or len(path.parts) > 2:
        raise EpigymError(f"no such problem file: {path}")
    try:
        domains.find(str(problem))
    except domains.DomainError as error:
        raise EpigymError(f"no such file as {problem!r}, and {error}") from None
    if domain_file is not None or list(libraries) or plank_compat:
        raise EpigymError(f"{problem} is no EPDDL problem: domain_file, libraries and plank_compat do not apply to it")
    return domain_problem(str(problem), semantics)


def domain_problem(name: str, semantics: Semantics = "default", **parameters: Any) -> Task:
    """The task of `domain/instance`, or of `domain` with these parameters.

    Args:
        name: a domain, or a named instance of one as `domain/instance`.
        semantics: the reading of mA*, see `epigym.language.parse_mastar`.
        **parameters: override the parameters of the instance, or the defaults of the domain.

    Raises:
        EpigymError: when the domain, the instance or a parameter does not exist or is out of range.
    """
    try:
        text = domains.text(name, **parameters)
    except domains.DomainError as error:
        raise EpigymError(str(error)) from None
    domain, _, instance = name.partition("/")
    return replace(parse_mastar(text, file=name, semantics=semantics), name=name, domain=domain, instance=instance)
