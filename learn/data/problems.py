"""Naming problems to learn from and to test on."""

from __future__ import annotations

from collections.abc import Sequence
from glob import glob, has_magic
from typing import Literal

from domains import DOMAINS
from epigym.errors import MissingError, UsageError
from epigym.io.files import is_file
from epigym.names import unknown


def named(split: Literal["train", "test"], domains: Sequence[str], problems: Sequence[str]) -> list[str]:
    """The training or test instances of some domains, and further problems.

    Args:
        split: which instances.
        domains: names of domains.
        problems: files, or instances as `domain/instance`.

    Returns:
        Names for `epigym.problem.load_problem`.

    Raises:
        UsageError: when nothing is named or a domain does not exist.
    """
    if not domains and not problems:
        raise UsageError("no problem is named: give domain=<domain or list> or problem=<file, instance or list>")
    for domain in domains:
        if domain not in DOMAINS:
            raise UsageError(unknown("domain", domain, DOMAINS))
    return [f"{domain}/{name}" for domain in domains for name in getattr(DOMAINS[domain], split)] + list(problems)


def expand_patterns(problems: Sequence[str]) -> list[str]:
    """Problems by name, each once, where files replace the patterns that they match.

    Args:
        problems: files, instances as `domain/instance`, or patterns of files with `*`, `?`, `[…]` or `**`.

    Returns:
        Names for `epigym.problem.load_problem`, in the order given, the files of a pattern sorted by name.

    Raises:
        MissingError: naming a pattern that matches no file.
    """
    found: list[str] = []
    for problem in problems:
        if not has_magic(problem) or is_file(problem):
            found.append(problem)
            continue
        files = sorted(filter(is_file, glob(problem, recursive=True)))
        if not files:
            raise MissingError(f"no file matches {problem!r}: check the folder and the ending of its files")
        found += files
    return list(dict.fromkeys(found))
