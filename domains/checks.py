"""The error of this package, and the checks that the domains make of their parameters.

A check returns the value of a parameter, or raises a `DomainError` whose line names the parameter and what is expected.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from random import Random
from typing import TypeGuard, TypeVar

from domains.names import list_first, unknown

T = TypeVar("T")

# The limits of those who read the problems, which the package does not import.
MAX_WORLDS = 2**20
"""The most worlds of an initial e-state."""
MAX_INSTANCES = 2**20
"""The most instances of a predicate or an action schema in EPDDL."""
MAX_EXPANDED = 2**24
"""The most instances of a quantifier or list in EPDDL."""
MAX_LEVELS = 100
"""The most levels of a formula."""
MAX_STATEMENTS = 2**18
"""The most statements about actions in mA*: more take gigabytes to read."""


class DomainError(ValueError):
    """Raised when a domain, an instance, a suite or a parameter does not exist or is out of range."""


def check_between(name: str, value: object, low: int, high: int) -> int:
    """Return `value` if it is a whole number from `low` to `high`."""
    if not _is_whole(value) or not low <= value <= high:
        raise DomainError(f"{name} must be a whole number from {low} to {high}, got {value!r}")
    return value


def check_at_least(name: str, value: object, low: int) -> int:
    """Return `value` if it is a whole number from `low` on; `check_limit` ends large ones."""
    if not _is_whole(value) or value < low:
        raise DomainError(f"{name} must be a whole number, at least {low}, got {value!r}")
    return value


def _is_whole(value: object) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool)


def check_limit(what: str, count: int, most: int, **sizes: int) -> None:
    """Refuse sizes that make more than `most` of a resource, before any of it is built.

    Args:
        what: the resource.
        count: how much of it they make.
        most: its limit.
        **sizes: the parameters that decide it.
    """
    if count > most:
        given = ", ".join(f"{name}={value}" for name, value in sizes.items())
        raise DomainError(f"more than {most} {what} with {given}: lower {' or '.join(sizes)}")


def power(choices: int, times: int) -> int:
    """So many worlds are left by `times` things with so many choices each; large powers are beyond every limit only."""
    return int(choices ** min(times, 32))


def make_random(seed: object) -> Random:
    """Return a source of randomness, if `seed` is a whole number from 0 to 2^32 - 1."""
    return Random(check_between("seed", seed, 0, 2**32 - 1))


def check_flag(name: str, value: object) -> bool:
    """Return `value` if it is true or false."""
    if not isinstance(value, bool):
        raise DomainError(f"{name} must be True or False, got {value!r}")
    return value


def check_one_of(kind: str, name: object, names: Iterable[str]) -> str:
    """Return `name` if it is one of `names`."""
    choices = list(names)
    if isinstance(name, str) and name in choices:
        return name
    raise DomainError(unknown(kind, name, choices))


def check_subset(name: str, chosen: object, names: Sequence[str], *, at_least: int = 0) -> tuple[str, ...]:
    """Return `chosen`, a list of different members of `names`, in the order of `names`.

    A string stands for its letters, so `"ab"` means `("a", "b")`.
    """
    if not isinstance(chosen, Iterable):
        raise DomainError(f"{name} must be a list of names out of {list_first(names)}, got {chosen!r}")
    members, known = list(chosen), {*names}
    for member in members:
        if not isinstance(member, str) or member not in known:
            check_one_of(f"name in {name}", member, names)
    different = {*members}
    if len(different) < len(members):
        raise DomainError(f"{name} names something twice: {', '.join(members)}")
    if len(members) < at_least:
        raise DomainError(f"{name} needs at least {at_least} of {list_first(names)}, got {len(members)}")
    return tuple(member for member in names if member in different)


def check_one_each(name: str, chosen: object, choices: Sequence[T], members: Sequence[str]) -> dict[str, T]:
    """Return what `chosen`, a list with one of `choices` for each of `members`, gives each of them."""
    listed = list(chosen) if isinstance(chosen, Iterable) else []
    known = {*choices}
    types = {type(choice) for choice in known}  # 1.0 and True are equal to 1, and written otherwise
    if len(listed) != len(members) or any(type(value) not in types or value not in known for value in listed):
        raise DomainError(
            f"{name} must list one of {list_first(choices)} for each of {list_first(members)}, got {chosen!r}"
        )
    return dict(zip(members, listed, strict=True))


def check_formulas(name: str, chosen: object) -> tuple[str, ...]:
    """Return `chosen`, formulas given as one string or as a list of strings."""
    listed = [chosen] if isinstance(chosen, str) else chosen
    if not isinstance(listed, Sequence) or not listed or not all(isinstance(part, str) and part for part in listed):
        raise DomainError(f"{name} must be one formula or a list of them, got {chosen!r}")
    return tuple(listed)
