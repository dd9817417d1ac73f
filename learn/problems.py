"""Naming training problems on the command line."""

from __future__ import annotations

from collections.abc import Sequence

import domains
from epigym.errors import EpigymError, unknown


def listed(value: str | Sequence[str] | None) -> list[str]:
    """A configuration value that may be one name, a list of names, or null."""
    if value is None:
        return []
    return [value] if isinstance(value, str) else list(value)


def training_problems(families: Sequence[str], problems: Sequence[str]) -> list[str]:
    """The training instances of some families, and further problems.

    Args:
        families: names of families.
        problems: files, or instances as `family/instance`.

    Returns:
        Names for `epigym.problem.load_problem`.

    Raises:
        EpigymError: when nothing is named or a family does not exist.
    """
    if not families and not problems:
        raise EpigymError("nothing to learn from: give domain=<family or list> or problem=<file, instance or list>")
    return _instances(families, "train") + list(problems)


def test_problems(families: Sequence[str], problems: Sequence[str]) -> list[str]:
    """The same with the test instances of the families.

    Raises:
        EpigymError: when nothing is named or a family does not exist.
    """
    if not families and not problems:
        raise EpigymError("nothing to test on: give domain=<family or list> or problem=<file, instance or list>")
    return _instances(families, "test") + list(problems)


def _instances(families: Sequence[str], split: str) -> list[str]:
    for family in families:
        if family not in domains.FAMILIES:
            raise EpigymError(unknown("domain", family, domains.FAMILIES))
    return [f"{family}/{name}" for family in families for name in getattr(domains.FAMILIES[family], split)]


def families_of(problems: Sequence[str]) -> list[str]:
    """The families that instances named `family/instance` belong to, each once."""
    prefixes = [problem.partition("/")[0] for problem in problems]
    return [prefix for prefix in dict.fromkeys(prefixes) if prefix in domains.FAMILIES]
