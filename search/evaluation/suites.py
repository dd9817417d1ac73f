"""The problems of an evaluation: named ones, those of a suite of `domains`, or the files that a suite lists."""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any

import domains
from domains.suites import find_suite
from epigym.errors import MissingError, ProblemWarning, UsageError
from epigym.io.checksummed import digest
from epigym.language import Reading
from epigym.names import unknown
from epigym.problem import find_problems, load_problem
from epigym.task.task import Task


@dataclass(frozen=True, slots=True)
class Problem:
    """A problem of an evaluation.

    Attributes:
        name: in tables, `domain/instance`, a file, or the published name of an instance.
        domain: in tables, the name up to the last `/`; for a named file, its folder.
        source: argument of `epigym.problem.load_problem`.
        reading: how the source is read.
    """

    name: str
    domain: str
    source: str
    reading: Reading

    @property
    def is_file(self) -> bool:
        """Whether the source is a file; else a module of `domains` writes the text."""
        return Path(self.source).is_file()

    @property
    def instance_domain(self) -> str | None:
        """The domain of the instance; None for a file."""
        return None if self.is_file else self.source.partition("/")[0]

    def load(self) -> Task:
        """The task; warnings about the text are suppressed, `search.solve` shows them."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ProblemWarning)
            return load_problem(self.source, self.reading)

    def digest(self) -> str:
        """A hash of all texts of the problem; errors as `contents`."""
        return digest(self.contents())

    def contents(self) -> list[bytes]:
        """All texts of the problem.

        Raises:
            MissingError: when there is no such file or instance.
        """
        try:
            return [path.read_bytes() for path in self._list_files()] or [domains.write(self.source).encode()]
        except domains.DomainError as error:
            if Path(self.source).is_dir():
                raise UsageError(f"{self.source} is a folder: name a problem file in it") from None
            raise MissingError(f"no such problem file as {self.source!r}, and {error}") from None
        except OSError as error:
            raise MissingError(f"{self.name}: cannot read {error.filename}: {error.strerror}") from None

    def _list_files(self) -> list[Path]:
        if not self.is_file:
            return []
        others = [name for name in (self.reading.domain_file, *self.reading.libraries) if name]
        return [Path(self.source), *_find_referenced_files(Path(self.source)), *map(Path, others)]


def list_problems(names: Iterable[str], reading: Reading) -> list[Problem]:
    """Problems by name: files, folders or patterns of files, or `domain/instance`."""
    return [_make_problem(name, reading) for name in find_problems(names)]


def problems_of(
    choice: Mapping[str, Any], per_domain: int | None, reading: Reading, only: Sequence[str] = ()
) -> list[Problem]:
    """The problems of a suite as `conf/suite` describes it, at most `per_domain` of each domain.

    Args:
        choice: `name` and `split` of a suite of `domains`; or `name`, `folder`, `plank_compat` and, by domain,
            the pattern of the `problems` below the folder with their `domain_file` and `libraries`.
        per_domain: largest number of problems of a domain; None for all.
        reading: of problems in mA*.
        only: domains of the suite; empty for all.

    Raises:
        UsageError: when there is no such suite, split or domain.
        MissingError: when a file that the suite lists is missing.
    """
    if "domains" in choice:
        by_domain = {domain: _list_epddl_problems(choice, domain) for domain in choice["domains"]}
    else:
        by_domain = {}
        for problem in _list_instances(choice, reading):
            by_domain.setdefault(problem.domain, []).append(problem)
    for domain in only:
        if domain not in by_domain:
            raise UsageError(unknown("domain", domain, by_domain))
    return [problem for domain in only or by_domain for problem in islice(by_domain[domain], per_domain)]


def _make_problem(name: str, reading: Reading) -> Problem:
    head = name.partition("/")[0]
    domain = head if head in domains.DOMAINS and not Path(name).is_file() else Path(name).resolve().parent.name
    return Problem(name, domain, name, reading)


def _list_instances(choice: Mapping[str, Any], reading: Reading) -> Iterator[Problem]:
    """The problems of a suite of `domains`, under their published names."""
    try:
        chosen = find_suite(choice["name"])
    except domains.DomainError as error:
        raise UsageError(str(error)) from None
    splits = {"train": chosen.train, "test": chosen.test, "all": (*chosen.train, *chosen.test)}
    if choice["split"] not in splits:
        raise UsageError(unknown("suite.split", choice["split"], splits))
    for name in splits[choice["split"]]:
        problem = _make_problem(name, reading)
        published = chosen.published_names.get(name)
        yield replace(problem, name=published, domain=published.rpartition("/")[0]) if published else problem


def _list_epddl_problems(choice: Mapping[str, Any], domain: str) -> list[Problem]:
    """The problems of one domain of a suite of EPDDL files."""
    folder, listed = Path(choice["folder"]), choice["domains"][domain]
    files = sorted(folder.glob(listed["problems"]))
    if not files:
        what = f"holds no {listed['problems']}" if folder.is_dir() else "does not exist"
        raise MissingError(f"suite {choice['name']}: {folder} {what}; set suite.folder to where its files are")
    others = [folder / name for name in (listed["domain_file"], *listed["libraries"])]
    for path in others:
        if not path.is_file():
            raise MissingError(f"suite {choice['name']}: there is no {path}, which {domain} needs")
    domain_file, *libraries = map(str, others)
    reading = Reading(domain_file=domain_file, libraries=tuple(libraries), plank_compat=choice["plank_compat"])
    return [Problem(f"{domain}/{file.stem}", domain, str(file), reading) for file in files]


def _find_referenced_files(problem: Path) -> Iterator[Path]:
    """The files that a specification refers to; none for other problems."""
    content: object = None
    with suppress(ValueError, RecursionError):
        content = json.loads(problem.read_bytes()) if problem.suffix == ".json" else None
    if isinstance(content, dict) and "action-type-libraries" in content:
        for value in content.values():
            for name in value if isinstance(value, list) else [value]:
                beside = problem.parent / str(name)
                yield beside if beside.is_file() else Path(str(name))
