"""Suites: named sets of instances to train and test on.

`standard` and `transfer` are the two set-ups in which learned heuristics were published; `scaling` is a
ladder per domain that climbs beyond what blind search can reach, measured in `scaling.csv`. `summit` climbs from where
the first of seven searches gives out to beyond where the last does, measured in `summit.csv`; `control` has as many
problems of the same sizes that nobody has searched. Both are there when that table is, and `drawn`, problems from the
ranges to test learners on, when `drawn.csv` is. For every domain there is
`without_<domain>`, which trains on all others.
"""

from __future__ import annotations

from collections.abc import Mapping
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

SUITES: Mapping[str, Suite] = MappingProxyType(
    {
        suite.name: suite
        for suite in (
            Suite(
                "standard",
                "six domains, each with a heuristic trained on its own training instances",
                train=_instances("train", *_PUBLISHED),
                test=_instances("test", *_PUBLISHED),
            ),
            Suite(
                "transfer",
                "one heuristic trained on two domains, tested on all seven domains in mA*",
                train=_instances("train", *_SOURCES),
                test=_instances("test", *_ALL),
            ),
            Suite(
                "scaling",
                "a ladder of growing problems per domain, beyond the reach of blind search",
                train=_instances("train", *_ALL),
                test=_numbered("scaling"),
            ),
            Suite(
                "summit",
                "growing problems per domain, from where the first search gives out to beyond where the last does",
                train=_instances("train", *DOMAINS),
                test=_numbered("summit"),
            ),
            Suite(
                "control",
                "as many problems of the same sizes, drawn without looking at who solves them",
                train=_instances("train", *DOMAINS),
                test=_numbered("control"),
            ),
            Suite(
                "drawn",
                "twenty problems of each domain from the ranges to test on, larger than those to learn from",
                train=_instances("train", *DOMAINS),
                test=_numbered("test"),
            ),
            *(
                Suite(
                    f"without_{left_out}",
                    f"trained on all domains but {left_out}, tested on that",
                    train=_instances("train", *(name for name in DOMAINS if name != left_out)),
                    test=_instances("test", left_out),
                )
                for left_out in DOMAINS
            ),
        )
        if suite.test
    }
)


def suite(name: str) -> Suite:
    """The suite of that name.

    Raises:
        DomainError: when there is none; the message suggests a close name.
    """
    return SUITES[known("suite", name, SUITES)]
