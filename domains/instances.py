"""Named instances of the domains: published ones, and those of the tables of suites; all are read when first needed."""

from __future__ import annotations

import csv
import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Any

from domains.data import read_text

Parameters = Mapping[str, Any]

_SUITES = Path(__file__).parent / "suites"
SCALING = _SUITES / "scaling.csv"
"""The suite `scaling`, written by `python -m tests.benchmarks.suites scaling`."""
HARD = _SUITES / "hard.csv"
"""The suites `hard` and `hard_control`, written by `python -m tests.benchmarks.suites hard`."""
SAMPLED = _SUITES / "sampled.csv"
"""The suite `sampled`, written by `python -m learn.sample split=[test] instances=20`."""
COMPETITION = _SUITES / "ipc.csv"
"""The suites `ipc` and `ipc_training`: tier, family, file and split of each problem, and the published instance."""
KINDS = ("scaling", "hard", "hard_control", "test")
"""What the names `<kind>_<number>` of the instances of tables begin with."""


def kind_of(instance: str) -> str:
    """The part of the name of an instance of a table before its number."""
    return instance.rpartition("_")[0]


@cache
def load_published(domain: str) -> Mapping[str, Mapping[str, Parameters]]:
    """By split and name the parameters of the published instances of a domain: `domains/data/<domain>.json`, if any."""
    found: Mapping[str, Mapping[str, Parameters]] = json.loads(read_text(f"{domain}.json", default="{}"))
    return {"train": {}, "validation": {}, "test": {}, **found}


@cache
def load_tables() -> Mapping[str, Mapping[str, Parameters]]:
    """By domain and name the parameters of the instances in tables."""
    found: dict[str, dict[str, Parameters]] = defaultdict(dict)
    for row in _load_rows():
        found[row["domain"]][row["instance"]] = json.loads(row["parameters"])
    return dict(found)


@cache
def load_sizes() -> Mapping[str, tuple[int, ...]]:
    """By `domain/instance` the numbers of fluents, agents, actions and subgoals, where a table has them."""
    found = {}
    for row in _load_rows():
        if "fluents" in row:
            subgoals = row.get("subgoals") or len(json.loads(row["parameters"])["goals"])
            sizes = *(row[name] for name in ("fluents", "agents", "actions")), subgoals
            found[f"{row['domain']}/{row['instance']}"] = tuple(map(int, sizes))
    return found


@cache
def _load_rows() -> tuple[dict[str, str], ...]:
    rows = [row for table in (SCALING, HARD, SAMPLED) for row in _read(table)]
    return tuple(row for row in rows if kind_of(row["instance"]) in KINDS)


def load_competition() -> Sequence[CompetitionProblem]:
    """The problems of the competition, then the smaller ones of its families, each by tier, family and file."""
    return [CompetitionProblem(**row) for row in _read(COMPETITION)]


def _read(table: Path) -> list[dict[str, str]]:
    with table.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@dataclass(frozen=True, slots=True)
class CompetitionProblem:
    """A problem of the planning competition of 2026, or a smaller one of the same family.

    Attributes:
        tier: `1-basic`, `2-intermediate` or `3-hard`.
        family: its domain in the competition.
        file: its file there without the ending; some occur in two tiers.
        split: `test` for the competition's own; `train` or `validation`.
        domain: the domain here.
        instance: the published instance of that domain.
    """

    tier: str
    family: str
    file: str
    split: str
    domain: str
    instance: str

    @property
    def name(self) -> str:
        """The name of the instance, as `domain/instance`."""
        return f"{self.domain}/{self.instance}"

    @property
    def published_name(self) -> str:
        """The name in tables of results, as `tier/family/file`."""
        return f"{self.tier}/{self.family}/{self.file}"


@dataclass(frozen=True)
class Instances(Mapping[str, Parameters]):
    """The parameters of all instances of a domain; tables are read when they may have the one that is asked for."""

    domain: str

    def __getitem__(self, name: str) -> Parameters:
        """The parameters of an instance."""
        for found in load_published(self.domain).values():
            if name in found:
                return found[name]
        return load_tables().get(self.domain, {})[name]

    def __iter__(self) -> Iterator[str]:
        """The names, those of published instances first."""
        return chain(*load_published(self.domain).values(), load_tables().get(self.domain, ()))

    def __len__(self) -> int:
        """The number of instances."""
        return sum(1 for _ in self)
