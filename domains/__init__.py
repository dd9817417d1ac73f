"""Domains of epistemic planning problems: parameters to the text of a problem in mA* or EPDDL.

    >>> import domains
    >>> text = domains.write("coin_in_the_box/pl_5")
    >>> text = domains.write("coin_in_the_box", agents=4)

The package needs the standard library only.
"""

from __future__ import annotations

from typing import Any

from domains.checks import DomainError, check_one_of
from domains.domain import Domain, Scene
from domains.instances import Parameters
from domains.registry import DOMAINS
from domains.words import read_parameters

__all__ = ["DOMAINS", "Domain", "DomainError", "Parameters", "Scene", "find", "read_parameters", "write"]


def find(name: str) -> tuple[Domain, Parameters]:
    """The domain and the parameters behind `domain` or `domain/instance`.

    Raises:
        DomainError: when there is none of that name; the message suggests a close one.
    """
    if not isinstance(name, str):
        raise DomainError(f"a problem is named domain or domain/instance, got {name!r}")
    domain_name, slash, instance = name.partition("/")
    domain = DOMAINS[check_one_of("domain", domain_name, DOMAINS)]
    return domain, domain.instance(instance) if slash else {}


def write(name: str, **parameters: Any) -> str:
    """The text of `domain/instance`, or of `domain` with these parameters.

    Args:
        name: a domain, or a named instance of one as `domain/instance`.
        **parameters: override the parameters of the instance, or the defaults of the domain.

    Raises:
        DomainError: when the domain, the instance or a parameter does not exist or is out of range.
    """
    domain, named = find(name)
    return domain.write({**named, **parameters})
