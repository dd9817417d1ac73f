"""The EPDDL front end: domain, problem and action-type libraries to a ground task.

The language is read as it is meant. The official toolkit `plank` (commit 802df67) reads some constructs
differently; `plank_compat=True` reproduces it for cross-checking, and otherwise one warning names the
constructs of the files whose meaning depends on the difference.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from epigym.errors import EpigymError, MissingError, NestingError, UsageError
from epigym.io.files import is_file, read, read_json
from epigym.language.epddl.checker import check
from epigym.language.epddl.grounder import ground
from epigym.language.epddl.parser import parse_domain, parse_library, parse_problem, parse_whole
from epigym.language.epddl.requirements import File, check_requirements, expanded
from epigym.language.epddl.syntax import Domain, Library, Problem
from epigym.language.epddl.types import Specification
from epigym.language.source import Source
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
        domain_file: the domain file; None when the problem's file holds the domain and its libraries too.
        libraries: the action-type library files.
        plank_compat: whether to reproduce the official toolkit's reading, which also keeps actions that
            can be applied nowhere.

    Raises:
        ParseError: naming the place that is wrong.
        LimitError: if the initial state has too many worlds, or a predicate or an action too many instances.
        UsageError: if there is no domain.
        EpigymError: if a file cannot be read.
    """
    if domain_file is None:
        return ground_whole(_source(problem), [_source(path) for path in libraries], plank_compat=plank_compat).task
    return ground_epddl(problem, domain_file, libraries, plank_compat=plank_compat).task


def parse_epddl(text: str, *, file: str = "<string>", plank_compat: bool = False) -> Task:
    """Read and ground a text that holds a problem with its domain and action-type libraries, in any order.

    Args:
        text: the problem.
        file: its name in messages.
        plank_compat: see `load_epddl`.

    Raises:
        ParseError: naming the place that is wrong.
        LimitError: if the initial state has too many worlds, or a predicate or an action too many instances.
        UsageError: if there is no domain.
    """
    return ground_whole(Source(file, text), plank_compat=plank_compat).task


def load_spec(path: str | Path, *, plank_compat: bool = False) -> Task:
    """Read and ground the problem that a specification file names.

    The file is a JSON object with the keys `domain`, `problem` and `action-type-libraries` (a list). Relative
    paths are looked up in the folder of the file first, then in the working directory.

    Raises:
        ParseError: naming the place that is wrong.
        LimitError: if the initial state has too many worlds, or a predicate or an action too many instances.
        MissingError: if the specification or a file that it names does not exist.
        EpigymError: if one of them cannot be read.
    """
    problem, domain, *libraries = _spec_paths(Path(path))
    return load_epddl(problem, domain, libraries, plank_compat=plank_compat)


def ground_epddl(
    problem: str | Path, domain_file: str | Path, libraries: Iterable[str | Path] = (), *, plank_compat: bool = False
) -> GroundSpecification:
    """The ground task with what the official JSON layout adds to it; arguments and errors as `load_epddl`."""
    library_sources = [_source(path) for path in libraries]
    return ground_texts(_source(problem), _source(domain_file), library_sources, plank_compat=plank_compat)


def ground_texts(
    problem: Source, domain: Source, libraries: Iterable[Source] = (), *, plank_compat: bool = False
) -> GroundSpecification:
    """The ground task of texts; errors as `load_epddl`."""
    with _naming(f"{problem.file} with {domain.file}"):
        parsed = [(parse_library(source), source) for source in libraries]
        spec = _specification((parse_problem(problem), problem), (parse_domain(domain), domain), parsed)
        return ground(spec, plank_compat=plank_compat)


def ground_whole(whole: Source, libraries: Iterable[Source] = (), *, plank_compat: bool = False) -> GroundSpecification:
    """The ground task of a text that holds problem, domain and libraries, and further libraries; see `load_epddl`."""
    with _naming(whole.file):
        parts = parse_whole(whole)
        domains = [part for part in parts if isinstance(part, Domain)]
        problems = [part for part in parts if isinstance(part, Problem)]
        if not domains:
            raise UsageError(
                f"{whole.file}: an EPDDL problem needs its domain: give domain_file, and the libraries if it has any"
            )
        if len(domains) > 1 or len(problems) != 1:
            found = f"{len(domains)} domains and {len(problems)} problems"
            raise UsageError(f"{whole.file}: expected one domain and one problem, found {found}")
        parsed = [(parse_library(source), source) for source in libraries]
        parsed += [(part, whole) for part in parts if isinstance(part, Library)]
        return ground(_specification((problems[0], whole), (domains[0], whole), parsed), plank_compat=plank_compat)


@contextmanager
def _naming(files: str) -> Iterator[None]:
    """Says where a formula is that is nested too deeply once it is ground."""
    try:
        yield
    except NestingError as error:
        raise NestingError(f"{files}: {error}") from None


def _specification(
    problem: tuple[Problem, Source], domain: tuple[Domain, Source], libraries: list[tuple[Library, Source]]
) -> Specification:
    spec = Specification(*domain, *problem, libraries=tuple(str(library.name) for library, _ in libraries))
    facts = frozenset(str(predicate.name) for predicate in spec.domain.predicates if predicate.is_fact)
    files: list[tuple[File, Source]] = [domain, problem, *libraries]
    for file, source in files:
        check_requirements(file, source, facts)
    spec.requirements = tuple(sorted(expanded(name for file, _ in files for name in file.requirements)))
    check(spec, libraries)
    return spec


def _source(path: str | Path) -> Source:
    return Source(str(path), read(path))


def _spec_paths(path: Path) -> list[Path]:
    """Problem, domain and libraries that a specification file names."""
    content = read_json(path)
    if not isinstance(content, dict) or set(content) != set(_SPEC_KEYS):
        found = ", ".join(map(_shown, content)) if isinstance(content, dict) else type(content).__name__
        raise EpigymError(f"{path}: expected an object with the keys {', '.join(_SPEC_KEYS)}, found {found}")
    libraries = content["action-type-libraries"]
    if not isinstance(libraries, list):
        raise EpigymError(f"{path}: 'action-type-libraries' must be a list of paths")
    names = [content["problem"], content["domain"], *libraries]
    for name in names:
        if not isinstance(name, str):
            raise EpigymError(f"{path}: expected a path, found {name!r}")
    return [_named(path, name) for name in names]


def _shown(key: str) -> str:
    return key if is_one_line(key) else repr(key)


def _named(spec: Path, name: str) -> Path:
    """The file that a specification names, which is no device that never ends."""
    for path in (spec.parent / name, Path(name)):
        if is_file(path):
            return path
    raise MissingError(f"{spec}: there is no such file as {name!r}")
