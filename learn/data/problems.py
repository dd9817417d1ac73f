"""Names of domains and of training and test problems."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal

from domains import DOMAINS
from epigym.errors import UsageError
from epigym.names import unknown
from epigym.problem import find_problems


def list_problems(split: Literal["train", "test"], domains: Sequence[str], problems: Sequence[str]) -> list[str]:
    """List the training or test instances of some domains, and further problems.

    Args:
        split: the instances to list.
        domains: names of domains.
        problems: files, folders, patterns, or instances as `domain/instance`.

    Returns:
        Names for `epigym.problem.load_problem`.

    Raises:
        UsageError: when no problem is named, or a domain does not exist.
    """
    if not domains and not problems:
        raise UsageError("no problem is named: give domain=<domain or list> or problem=<file, instance or list>")
    check_domains(domains)
    return [f"{domain}/{name}" for domain in domains for name in getattr(DOMAINS[domain], split)] + find_problems(
        problems
    )


def check_domains(names: Iterable[str]) -> None:
    """Check that all of these domains exist.

    Raises:
        UsageError: when one does not.
    """
    for name in names:
        if name not in DOMAINS:
            raise UsageError(unknown("domain", name, DOMAINS))
