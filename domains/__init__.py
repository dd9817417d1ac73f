"""Families of epistemic planning problems: parameters to mA* text.

    >>> import domains
    >>> text = domains.text("coin_in_the_box/pl_5")
    >>> text = domains.text("coin_in_the_box", agents=4)

This room knows the standard library only: whoever reads mA* can use it.
"""

from __future__ import annotations

from typing import Any

from domains.checks import DomainError
from domains.families import FAMILIES
from domains.registry import Family, Parameters, read_parameters, resolve

__all__ = ["FAMILIES", "DomainError", "Family", "Parameters", "find", "read_parameters", "text"]


def find(name: str) -> tuple[Family, Parameters]:
    """The family and the parameters behind `family` or `family/instance`.

    Raises:
        DomainError: when there is none of that name; the message suggests a close one.
    """
    return resolve(name, FAMILIES)


def text(name: str, **parameters: Any) -> str:
    """The mA* text of `family/instance`, or of `family` with these parameters.

    Args:
        name: a family, or a named instance of one as `family/instance`.
        **parameters: override the parameters of the instance, or the defaults of the family.

    Raises:
        DomainError: when the family, the instance or a parameter does not exist or is out of range.
    """
    family, named = find(name)
    return family.text({**named, **parameters})
