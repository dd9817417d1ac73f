"""The domains, with the measured and drawn problems of the suites among their named instances."""

from __future__ import annotations

import csv
import json
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cache, cached_property
from importlib import import_module
from itertools import chain
from pathlib import Path
from types import MappingProxyType

from domains.domain import Domain, Parameters

# Written by `python -m tests.benchmarks.suites scaling`: one row per rung, with what breadth-first search needed.
LADDER = Path(__file__).parent / "suites" / "scaling.csv"
# Written by `python -m tests.benchmarks.suites summit`: one row per problem, with what seven searches needed.
SUMMIT = Path(__file__).parent / "suites" / "summit.csv"
# Written by `python -m learn.draw split=[test] draws=20`: one row per problem.
DRAWN = Path(__file__).parent / "suites" / "drawn.csv"

KINDS = MappingProxyType({"scaling": LADDER, "summit": SUMMIT, "control": SUMMIT, "test": DRAWN})
"""The kinds of numbered instances with their tables.

They are the rungs of the ladder and of the summit, the problems beside the summit's that nobody has searched, and
problems drawn from the ranges of the split `test`.
"""

_MODULES = (
    "active_muddy_child",
    "assembly_line",
    "blocks_world",
    "cloud_scheduling",
    "coin_in_the_box",
    "collaboration_communication",
    "consecutive_numbers",
    "epistemic_gossip",
    "gossip",
    "grapevine",
    "room_messages",
    "search_and_rescue",
    "selective_communication",
    "selective_communication_enriched",
)


@cache
def numbered(kind: str) -> Mapping[str, Mapping[str, Parameters]]:
    """By domain and name the parameters of the instances `<kind>_<number>`, where there is a table of that kind.

    Args:
        kind: one of `KINDS`.
    """
    return _numbered(KINDS[kind], kind)


def _numbered(table: Path, kind: str) -> Mapping[str, Mapping[str, Parameters]]:
    found: dict[str, dict[str, Parameters]] = defaultdict(dict)
    for row in _rows(table):
        if row["instance"].startswith(f"{kind}_"):
            found[row["domain"]][row["instance"]] = json.loads(row["parameters"])
    return MappingProxyType(found)


@cache
def _rows(table: Path) -> tuple[dict[str, str], ...]:
    """The rows of a table; none where there is no table."""
    if not table.exists():
        return ()
    with table.open(encoding="utf-8", newline="") as file:
        return tuple(csv.DictReader(file))


@cache
def counts() -> Mapping[str, tuple[int, ...]]:
    """Of `domain/instance` of the summit, its control and what is drawn: fluents, agents, actions and subgoals.

    Nobody has to build such a problem to know them.
    """
    found = {}
    for row in (*_rows(SUMMIT), *_rows(DRAWN)):
        subgoals = row.get("subgoals") or len(json.loads(row["parameters"])["goals"])
        sizes = *(row[name] for name in ("fluents", "agents", "actions")), subgoals
        found[f"{row['domain']}/{row['instance']}"] = tuple(map(int, sizes))
    return MappingProxyType(found)


class _Instances(Mapping[str, Parameters]):
    """The instances of a domain; the tables, which take long to read, are read when one is asked for that they have."""

    def __init__(self, domain: Domain) -> None:
        self._domain = domain

    def __getitem__(self, name: str) -> Parameters:
        own = self._domain.instances
        return own[name] if name in own else self._all[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._all)

    def __len__(self) -> int:
        return len(self._all)

    @cached_property
    def _all(self) -> Mapping[str, Parameters]:
        tables = (numbered(kind).get(self._domain.name, {}) for kind in KINDS)
        return dict(chain(self._domain.instances.items(), *(table.items() for table in tables)))


@cache
def _domain(name: str) -> Domain:
    domain: Domain = import_module(f"domains.{name}").DOMAIN
    return replace(domain, instances=_Instances(domain))


class _Domains(Mapping[str, Domain]):
    """The domains by name; a module is imported when its domain is first needed."""

    def __getitem__(self, name: str) -> Domain:
        if name not in _MODULES:
            raise KeyError(name)
        return _domain(name)

    def __contains__(self, name: object) -> bool:
        return name in _MODULES

    def __iter__(self) -> Iterator[str]:
        return iter(_MODULES)

    def __len__(self) -> int:
        return len(_MODULES)


DOMAINS: Mapping[str, Domain] = _Domains()
"""The domains by name, with the instances of all kinds among theirs."""
