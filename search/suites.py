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


def problems_of(choice: Mapping[str, Any], per_family: int | None) -> dict[str, EpddlFiles | None]:
    """The problems of a suite as `conf/suite` describes it, at most `per_family` of each family.

    Args:
        choice: `name` and `split` of a suite of `domains`; or `name`, `folder`, `plank_compat` and, by family,
            the pattern of the `problems` below the folder with their `domain_file` and `libraries`.
        per_family: most problems of a family; None for all of them.

    Returns:
        Problems as `family/instance`; those of a suite of EPDDL files with the files.

    Raises:
        EpigymError: when there is no such suite or split, or a file that the suite lists is missing.
    """
    if "families" in choice:
        return {
            name: files
            for family in choice["families"]
            for name, files in islice(_epddl_family(choice, family).items(), per_family)
        }
    families: dict[str, list[str]] = {}
    for problem in _named_problems(choice):
        families.setdefault(problem.partition("/")[0], []).append(problem)
    return dict.fromkeys(problem for problems in families.values() for problem in problems[:per_family])


def _named_problems(choice: Mapping[str, Any]) -> tuple[str, ...]:
    try:
        chosen = suite(choice["name"])
    except domains.DomainError as error:
        raise EpigymError(str(error)) from None
    splits = {"train": chosen.train, "test": chosen.test, "all": (*chosen.train, *chosen.test)}
    if choice["split"] not in splits:
        raise EpigymError(f"suite.split={choice['split']!r}; choose one of {', '.join(splits)}")
    return splits[choice["split"]]


def _epddl_family(choice: Mapping[str, Any], family: str) -> dict[str, EpddlFiles | None]:
    """The problems of one family of a suite of EPDDL files, by name."""
    folder, listed = Path(choice["folder"]), choice["families"][family]
    problems = sorted(folder.glob(listed["problems"]))
    if not problems:
        what = f"holds no {listed['problems']}" if folder.is_dir() else "does not exist"
        raise EpigymError(f"suite {choice['name']}: {folder} {what}; set suite.folder to where its files are")
    others = [folder / name for name in (listed["domain_file"], *listed["libraries"])]
    for path in others:
        if not path.is_file():
            raise EpigymError(f"suite {choice['name']}: there is no {path}, which {family} needs")
    domain_file, *libraries = map(str, others)
    return {
        f"{family}/{problem.stem}": EpddlFiles(str(problem), domain_file, tuple(libraries), choice["plank_compat"])
        for problem in problems
    }
