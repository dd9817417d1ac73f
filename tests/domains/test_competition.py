"""Every problem of the competition, and those generated beside it, is an instance of a domain, up to names."""

from __future__ import annotations

import csv
import warnings
from pathlib import PurePath

import pytest

import domains
from domains.suites import suite
from epigym.features.types import FeatureTypes
from epigym.problem import domain_problem
from tests.helpers.benchmark_files import BENCHMARKS
from tests.helpers.epddl_files import Case, competition_cases
from tests.helpers.equivalence import assert_same_task

# What the competition calls a family is a domain here; `selective_communication` is another one.
FAMILIES = {
    "active-muddy-child": "active_muddy_child",
    "blocks-world": "blocks_world",
    "consecutive-numbers": "consecutive_numbers",
    "gossip": "gossip",
    "cloud-scheduling": "cloud_scheduling",
    "search-and-rescue": "search_and_rescue",
    "selective-communication": "room_messages",
}
# Problems that are not what the domain's parameters say, each with its reason; their instances are what was meant.
_NO_RELATION = "the second agent considers no world possible, as the relation of the first is given twice"
ODD: dict[str, str] = {
    f"2-intermediate/selective-communication/problems/{name}.epddl": _NO_RELATION for name in ("sc-03-04", "sc-04-05")
}
EXPANDED, FULL_EXPANDED = 100, 20_000
SECONDS, FULL_SECONDS = 0.5, 5.0

pytestmark = pytest.mark.reference


def instance_of(case: Case) -> str | None:
    """The name of a published problem here; None for families that are no domains."""
    path = PurePath(case.name)
    family, tier = path.parts[-3], path.parts[-4]
    if family not in FAMILIES:
        return None
    private = "_private" if (tier, family) == ("2-intermediate", "gossip") else ""
    return f"{FAMILIES[family]}/{path.stem.replace('-', '_')}{private}"


@pytest.mark.parametrize("case", competition_cases(), ids=lambda case: case.name)
def test_instance_is_the_published_task(case: Case, request: pytest.FixtureRequest) -> None:
    name = instance_of(case)
    if name is None or case.name in ODD:
        pytest.skip(ODD.get(case.name, "family not written yet"))
    full = request.config.getoption("--full")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ours = domain_problem(name)
    expanded, seconds = (FULL_EXPANDED, FULL_SECONDS) if full else (EXPANDED, SECONDS)
    assert_same_task(ours, case.ground().task, most_expanded=expanded, seconds=seconds)


def first_of_each_family() -> list[Case]:
    found: dict[str, Case] = {}
    for case in competition_cases():
        if instance_of(case) and case.name not in ODD:
            found.setdefault(case.name.partition("/problems/")[0], case)
    return list(found.values())


@pytest.mark.parametrize("case", first_of_each_family(), ids=lambda case: case.name)
def test_predicates_and_actions_are_the_published_ones(case: Case) -> None:
    """Up to names, so that what was learned on problems that a domain writes is used on published files."""
    name = instance_of(case)
    assert name is not None
    assert FeatureTypes(case.ground().task).schema == FeatureTypes(domain_problem(name)).schema


def test_instances_and_splits_are_those_published() -> None:
    published = {name for case in competition_cases() if (name := instance_of(case))}
    ours = [domains.DOMAINS[name] for name in FAMILIES.values()]
    frozen = {*suite("summit").test, *suite("control").test, *suite("drawn").test}
    own = {d.name: [name for name in d.instances if f"{d.name}/{name}" not in frozen] for d in ours}
    assert {f"{domain}/{name}" for domain, names in own.items() for name in names} == published
    with (BENCHMARKS / "ipc2026" / "generated" / "split.csv").open(encoding="utf-8", newline="") as file:
        train = {row["problem"].replace("-", "_") for row in csv.DictReader(file) if row["label"] == "train"}
    for domain in ours:
        assert {name.removesuffix("_private") for name in domain.train} == {
            name for name in train if any(name == known.removesuffix("_private") for known in own[domain.name])
        }
        assert set(domain.test) == {name for name in own[domain.name] if not name.startswith("g_")}
