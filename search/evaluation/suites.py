"""The problems of an evaluation: those of a suite of `domains`, or EPDDL files that a suite lists."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import domains
from domains.suites import suite
from epigym.errors import EpigymError


@dataclass(frozen=True, slots=True)
class EpddlFiles:
    """Where an EPDDL problem lies and how to read it: arguments of `epigym.problem.load_problem`.

    Attributes:
        problem: the problem file.
        domain_file: its domain.
        libraries: its action-type libraries.
        plank_compat: whether to read it as the official toolkit does.
    """

    problem: str
    domain_file: str
    libraries: tuple[str, ...]
    plank_compat: bool


def problems_of(choice: Mapping[str, Any], per_domain: int | None) -> dict[str, EpddlFiles | None]:
    """The problems of a suite as `conf/suite` describes it, at most `per_domain` of each domain.

    Args:
        choice: `name` and `split` of a suite of `domains`; or `name`, `folder`, `plank_compat` and, by domain,
            the pattern of the `problems` below the folder with their `domain_file` and `libraries`.
        per_domain: most problems of a domain; None for all of them.

    Returns:
        Problems as `domain/instance`; those of a suite of EPDDL files with the files.

    Raises:
        EpigymError: when there is no such suite or split, or a file that the suite lists is missing.
    """
    if "domains" in choice:
        return {
            name: files
            for domain in choice["domains"]
            for name, files in islice(_epddl_domain(choice, domain).items(), per_domain)
        }
    domains: dict[str, list[str]] = {}
    for problem in _named_problems(choice):
        domains.setdefault(problem.partition("/")[0], []).append(problem)
    return dict.fromkeys(problem for problems in domains.values() for problem in problems[:per_domain])


def _named_problems(choice: Mapping[str, Any]) -> tuple[str, ...]:
    try:
        chosen = suite(choice["name"])
    except domains.DomainError as error:
        raise EpigymError(str(error)) from None
    splits = {"train": chosen.train, "test": chosen.test, "all": (*chosen.train, *chosen.test)}
    if choice["split"] not in splits:
        raise EpigymError(f"suite.split={choice['split']!r}; choose one of {', '.join(splits)}")
    return splits[choice["split"]]


def _epddl_domain(choice: Mapping[str, Any], domain: str) -> dict[str, EpddlFiles | None]:
    """The problems of one domain of a suite of EPDDL files, by name."""
    folder, listed = Path(choice["folder"]), choice["domains"][domain]
    problems = sorted(folder.glob(listed["problems"]))
    if not problems:
        what = f"holds no {listed['problems']}" if folder.is_dir() else "does not exist"
        raise EpigymError(f"suite {choice['name']}: {folder} {what}; set suite.folder to where its files are")
    others = [folder / name for name in (listed["domain_file"], *listed["libraries"])]
    for path in others:
        if not path.is_file():
            raise EpigymError(f"suite {choice['name']}: there is no {path}, which {domain} needs")
    domain_file, *libraries = map(str, others)
    return {
        f"{domain}/{problem.stem}": EpddlFiles(str(problem), domain_file, tuple(libraries), choice["plank_compat"])
        for problem in problems
    }
