"""Suites: named sets of instances to train and test on.

`standard` and `transfer` are the two set-ups in which learned heuristics were published. `scaling` (`scaling.csv`) has
growing instances of each domain, to sizes that breadth-first search does not solve. `hard` (`hard.csv`) begins with the
first size at which one of seven searches fails and ends beyond the size at which all do; `hard_control` has as many
instances of the same sizes, which no search has been tried on. `sampled` (`sampled.csv`) has instances from the ranges
of the split `test`. A suite contains the instances of its table. `ipc` (`ipc.csv`) has the problems of the planning
competition of 2026 and `ipc_training` smaller ones of its families, under the names of their files. Each domain with
published test instances has a suite `without_<domain>`, which trains on all other domains.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from domains.checks import check_one_of
from domains.instances import kind_of, load_competition, load_tables
from domains.registry import DOMAINS


@dataclass(frozen=True, slots=True)
class Suite:
    """A named set of problems.

    Attributes:
        name: the name of the suite.
        summary: what it is for, in one line.
        train: problems to train on, as `domain/instance`.
        test: problems to test on, as `domain/instance`.
        published_names: by `domain/instance`, the name in tables of results where it is another.
    """

    name: str
    summary: str
    train: tuple[str, ...]
    test: tuple[str, ...]
    published_names: Mapping[str, str] = field(default_factory=dict)


def _list_instances(split: str, *names: str) -> tuple[str, ...]:
    """The instances of a split, `train` or `test`, of some domains."""
    return tuple(f"{name}/{instance}" for name in names for instance in getattr(DOMAINS[name], split))


def _list_tabled(kind: str) -> tuple[str, ...]:
    """The instances of tables with names such as `<kind>_01`."""
    return tuple(f"{name}/{one}" for name in DOMAINS for one in load_tables().get(name, ()) if kind_of(one) == kind)


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


def _make_suites() -> Iterator[Suite]:
    every = _list_instances("train", *DOMAINS)
    summary = "six domains, each with a heuristic trained on its own training instances"
    yield Suite("standard", summary, _list_instances("train", *_PUBLISHED), _list_instances("test", *_PUBLISHED))
    summary = "one heuristic trained on two domains, tested on all seven domains in mA*"
    yield Suite("transfer", summary, _list_instances("train", *_SOURCES), _list_instances("test", *_ALL))
    summary = "growing instances of each domain, to sizes that breadth-first search does not solve"
    yield Suite("scaling", summary, _list_instances("train", *_ALL), _list_tabled("scaling"))
    summary = "growing instances, from the size at which the first of seven searches fails to beyond the last"
    yield Suite("hard", summary, every, _list_tabled("hard"))
    summary = "as many instances of the same sizes, with other goals; no search ran to choose them"
    yield Suite("hard_control", summary, every, _list_tabled("hard_control"))
    summary = "twenty instances of each domain from the ranges of the split test, larger than those to train on"
    yield Suite("sampled", summary, every, _list_tabled("test"))
    yield from _make_competition()
    for one in DOMAINS:
        train = _list_instances("train", *(name for name in DOMAINS if name != one))
        yield Suite(
            f"without_{one}", f"trained on all domains but {one}, tested on that", train, _list_instances("test", one)
        )


def _make_competition() -> Iterator[Suite]:
    problems = load_competition()
    names = {problem.name: problem.published_name for problem in problems}
    train, validation, test = (
        tuple(problem.name for problem in problems if problem.split == split)
        for split in ("train", "validation", "test")
    )
    summary = "the 100 problems of the epistemic track of the International Planning Competition 2026"
    yield Suite("ipc", summary, train, test, names)
    summary = "smaller problems of the same families, to train on and to validate on"
    yield Suite("ipc_training", summary, train, validation, names)


SUITES: Mapping[str, Suite] = MappingProxyType({suite.name: suite for suite in _make_suites() if suite.test})


def find_suite(name: str) -> Suite:
    """The suite of that name.

    Raises:
        DomainError: when there is none; the message suggests a close name.
    """
    return SUITES[check_one_of("suite", name, SUITES)]
