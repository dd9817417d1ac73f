"""Suites: named sets of instances to train and test on.

`standard` and `transfer` are the two set-ups in which learned heuristics were published; `scaling` is a
ladder per domain that climbs beyond what blind search can reach, measured in `scaling.csv`. `summit` climbs from where
the first of seven searches gives out to beyond where the last does, measured in `summit.csv`; `control` has as many
problems of the same sizes that nobody has searched, and `drawn`, in `drawn.csv`, problems from the ranges to test
learners on. A suite has what its table has. For every domain with instances to test on there is `without_<domain>`,
which trains on all others.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from domains.checks import known
from domains.instances import tabled
from domains.registry import DOMAINS


@dataclass(frozen=True, slots=True)
class Suite:
    """A named set of problems.

    Attributes:
        name: the name of the suite.
        summary: what it is for, in one line.
        train: problems to train on, as `domain/instance`.
        test: problems to test on, as `domain/instance`.
    """

    name: str
    summary: str
    train: tuple[str, ...]
    test: tuple[str, ...]


def _instances(split: str, *names: str) -> tuple[str, ...]:
    """The instances of a split, `train` or `test`, of some domains."""
    return tuple(f"{name}/{instance}" for name in names for instance in getattr(DOMAINS[name], split))


def _numbered(kind: str) -> tuple[str, ...]:
    """The instances of tables with names such as `<kind>_01`."""
    return tuple(f"{name}/{one}" for name in DOMAINS for one in tabled().get(name, ()) if one.startswith(f"{kind}_"))


_PUBLISHED = (
    "assembly_line",
    "coin_in_the_box",
    "collaboration_communication",
    "grapevine",
    "selective_communication",
    "selective_communication_enriched",
)
_ALL = tuple(sorted([*_PUBLISHED, "epistemic_gossip"]))
_SOURCES = ("collaboration_communication", "grapevine")


def _suites() -> Iterator[Suite]:
    every = _instances("train", *DOMAINS)
    summary = "six domains, each with a heuristic trained on its own training instances"
    yield Suite("standard", summary, _instances("train", *_PUBLISHED), _instances("test", *_PUBLISHED))
    summary = "one heuristic trained on two domains, tested on all seven domains in mA*"
    yield Suite("transfer", summary, _instances("train", *_SOURCES), _instances("test", *_ALL))
    summary = "a ladder of growing problems per domain, beyond the reach of blind search"
    yield Suite("scaling", summary, _instances("train", *_ALL), _numbered("scaling"))
    summary = "growing problems per domain, from where the first search gives out to beyond where the last does"
    yield Suite("summit", summary, every, _numbered("summit"))
    summary = "as many problems of the same sizes, drawn without looking at who solves them"
    yield Suite("control", summary, every, _numbered("control"))
    summary = "twenty problems of each domain from the ranges to test on, larger than those to learn from"
    yield Suite("drawn", summary, every, _numbered("test"))
    for one in DOMAINS:
        train = _instances("train", *(name for name in DOMAINS if name != one))
        yield Suite(
            f"without_{one}", f"trained on all domains but {one}, tested on that", train, _instances("test", one)
        )


SUITES: Mapping[str, Suite] = MappingProxyType({suite.name: suite for suite in _suites() if suite.test})


def suite(name: str) -> Suite:
    """The suite of that name.

    Raises:
        DomainError: when there is none; the message suggests a close name.
    """
    return SUITES[known("suite", name, SUITES)]
