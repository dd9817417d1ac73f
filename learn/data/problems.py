"""Naming training problems on the command line."""

from __future__ import annotations

from collections.abc import Sequence

from domains import DOMAINS
from epigym.errors import EpigymError
from epigym.names import unknown


def listed(value: str | Sequence[str] | None) -> list[str]:
    """A configuration value that may be one name, a list of names, or null."""
    if value is None:
        return []
    return [value] if isinstance(value, str) else list(value)


def training_problems(domains: Sequence[str], problems: Sequence[str]) -> list[str]:
    """The training instances of some domains, and further problems.

    Args:
        domains: names of domains.
        problems: files, or instances as `domain/instance`.

    Returns:
        Names for `epigym.problem.load_problem`.

    Raises:
        EpigymError: when nothing is named or a domain does not exist.
    """
    if not domains and not problems:
        raise EpigymError("nothing to learn from: give domain=<domain or list> or problem=<file, instance or list>")
    return _instances(domains, "train") + list(problems)


def test_problems(domains: Sequence[str], problems: Sequence[str]) -> list[str]:
    """The same with the test instances of the domains.

    Raises:
        EpigymError: when nothing is named or a domain does not exist.
    """
    if not domains and not problems:
        raise EpigymError("nothing to test on: give domain=<domain or list> or problem=<file, instance or list>")
    return _instances(domains, "test") + list(problems)


def _instances(domains: Sequence[str], split: str) -> list[str]:
    for domain in domains:
        if domain not in DOMAINS:
            raise EpigymError(unknown("domain", domain, DOMAINS))
    return [f"{domain}/{name}" for domain in domains for name in getattr(DOMAINS[domain], split)]


def domains_of(problems: Sequence[str]) -> list[str]:
    """The domains that instances named `domain/instance` belong to, each once."""
    prefixes = [problem.partition("/")[0] for problem in problems]
    return [prefix for prefix in dict.fromkeys(prefixes) if prefix in DOMAINS]
