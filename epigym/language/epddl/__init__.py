"""Reads EPDDL: grounds a problem with its domain and action-type libraries to a task.

The official toolkit `plank` (commit 802df67) departs from the intended meaning of some constructs. `plank_compat=True`
reproduces its reading for cross-checking; by default, one warning lists the constructs whose meaning differs.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from epigym.errors import EpigymError, MissingError, NestingError, UsageError
from epigym.io.files import is_file, read, read_json
from epigym.language.collection import pause_collection
from epigym.language.epddl.checker import check
from epigym.language.epddl.grounder import ground
from epigym.language.epddl.parser import parse, parse_whole
from epigym.language.epddl.requirements import File, check_requirements, expand_requirements
from epigym.language.epddl.syntax import DomainFile, LibraryFile, ProblemFile
from epigym.language.epddl.types import Specification
from epigym.language.source import SourceText
from epigym.language.specification import GroundSpecification
from epigym.names import is_one_line
from epigym.task.task import Task

_SPEC_KEYS = ("domain", "problem", "action-type-libraries")


def load_epddl(
    problem: str | Path,
    domain_file: str | Path | None,
    libraries: Iterable[str | Path] = (),
    *,
    plank_compat: bool = False,
) -> Task:
    """Read and ground an EPDDL problem.

    Args:
        problem: the problem file.
        domain_file: the domain file; None if the problem's file also contains the domain and its libraries.
        libraries: the action-type library files.
        plank_compat: whether to reproduce the official toolkit's reading, which also keeps actions that are never
            applicable.

    Raises:
        ParseError: if a text is wrong, with the place.
        LimitError: if the initial state has too many worlds, or a predicate or an action too many instances.
        UsageError: if there is no domain.
        EpigymError: if a file cannot be read.
    """
    return ground_epddl(problem, domain_file, libraries, plank_compat=plank_compat).task


def parse_epddl(text: str, *, file: str = "<string>", plank_compat: bool = False) -> Task:
    """Read and ground a text with a problem, its domain and its action-type libraries, in any order.

    Args:
        text: the problem.
        file: its name in messages.
        plank_compat: see `load_epddl`.

    Raises:
        ParseError: if the text is wrong, with the place.
        LimitError: if the initial state has too many worlds, or a predicate or an action too many instances.
        UsageError: if there is no domain.
    """
    return ground_texts(SourceText(file, text), None, plank_compat=plank_compat).task


def load_spec(path: str | Path, *, plank_compat: bool = False) -> Task:
    """Read and ground the problem of a specification file.

    The file is a JSON object with the keys `domain`, `problem` and `action-type-libraries` (a list). Relative
    paths refer to the folder of the file or, if there is no such file, to the working directory.

    Raises:
        MissingError: if the specification or one of its files does not exist; other errors as `load_epddl`.
    """
    problem, domain, *libraries = _read_paths(Path(path))
    return load_epddl(problem, domain, libraries, plank_compat=plank_compat)


def ground_epddl(
    problem: str | Path,
    domain_file: str | Path | None,
    libraries: Iterable[str | Path] = (),
    *,
    plank_compat: bool = False,
) -> GroundSpecification:
    """Ground a problem, with the further content of the official JSON layout; arguments and errors as `load_epddl`."""
    domain = None if domain_file is None else _read_source(domain_file)
    return ground_texts(_read_source(problem), domain, map(_read_source, libraries), plank_compat=plank_compat)


@pause_collection()
def ground_texts(
    problem: SourceText, domain: SourceText | None, libraries: Iterable[SourceText] = (), *, plank_compat: bool = False
) -> GroundSpecification:
    """Ground texts; arguments and errors as `load_epddl`."""
    files = problem.file if domain is None else f"{problem.file} with {domain.file}"
    try:
        return ground(_parse_specification(problem, domain, libraries), plank_compat=plank_compat)
    except NestingError as error:
        raise NestingError(f"{files}: {error}") from None


def _parse_specification(
    problem: SourceText, domain: SourceText | None, libraries: Iterable[SourceText]
) -> Specification:
    """Parse and check texts."""
    parts: list[tuple[File, SourceText]] = [(parse(source, LibraryFile), source) for source in libraries]
    if domain is None:
        parts += [(part, problem) for part in parse_whole(problem)]
    else:
        parts += [(parse(problem, ProblemFile), problem), (parse(domain, DomainFile), domain)]
    named = [(part, source) for part, source in parts if isinstance(part, LibraryFile)]
    domains = [(part, source) for part, source in parts if isinstance(part, DomainFile)]
    problems = [(part, source) for part, source in parts if isinstance(part, ProblemFile)]
    if not problems:
        kind, setting = ("a domain", "domain_file") if domains else ("an action-type library", "libraries")
        raise UsageError(f"{problem.file} is {kind} without a problem: name the problem, and give this as {setting}")
    if not domains:
        need = "an EPDDL problem needs its domain: give domain_file, and the libraries if it has any"
        raise UsageError(f"{problem.file}: {need}")
    if len(domains) + len(problems) > 2:
        found = f"{len(domains)} domains and {len(problems)} problems"
        raise UsageError(f"{problem.file}: expected one domain and one problem, found {found}")
    spec = Specification(*domains[0], *problems[0], libraries=tuple(str(library.name) for library, _ in named))
    facts = frozenset(str(predicate.name) for predicate in spec.domain.predicates if predicate.is_fact)
    for file, source in parts:
        check_requirements(file, source, facts)
    spec.requirements = tuple(sorted(expand_requirements(name for file, _ in parts for name in file.requirements)))
    check(spec, named)
    return spec


def _read_source(path: str | Path) -> SourceText:
    return SourceText(str(path), read(path))


def _read_paths(path: Path) -> list[Path]:
    """The paths of problem, domain and libraries in a specification file."""
    content = read_json(path)
    if not isinstance(content, dict) or set(content) != set(_SPEC_KEYS):
        names = list(content) if isinstance(content, dict) else [type(content).__name__]
        found = ", ".join(name if is_one_line(name) else repr(name) for name in names)
        raise EpigymError(f"{path}: expected an object with the keys {', '.join(_SPEC_KEYS)}, found {found}")
    libraries = content["action-type-libraries"]
    if not isinstance(libraries, list):
        raise EpigymError(f"{path}: 'action-type-libraries' must be a list of paths")
    names = [content["problem"], content["domain"], *libraries]
    for name in names:
        if not isinstance(name, str):
            raise EpigymError(f"{path}: expected a path, found {name!r}")
    return [_find_file(path, name) for name in names]


def _find_file(spec: Path, name: str) -> Path:
    """Find a file of a specification, which must be a regular file."""
    for path in (spec.parent / name, Path(name)):
        if is_file(path):
            return path
    raise MissingError(f"{spec}: there is no such file as {name!r}")
