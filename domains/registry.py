"""The domains, with the measured and drawn problems of the suites among their named instances."""

from __future__ import annotations

import csv
import json
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from itertools import chain
from pathlib import Path
from types import MappingProxyType

from domains import (
    active_muddy_child,
    assembly_line,
    blocks_world,
    cloud_scheduling,
    coin_in_the_box,
    collaboration_communication,
    consecutive_numbers,
    epistemic_gossip,
    gossip,
    grapevine,
    room_messages,
    search_and_rescue,
    selective_communication,
    selective_communication_enriched,
)
from domains.domain import Domain, Parameters

# Written by `python -m search.ladder`: one row per rung, with what breadth-first search needed.
LADDER = Path(__file__).parent / "suites" / "scaling.csv"
# Written by `python -m search.summit`: one row per rung or control problem, with what seven searches needed.
SUMMIT = Path(__file__).parent / "suites" / "summit.csv"
# Written by `python -m learn.draw split=[test] draws=20`: one row per problem.
DRAWN = Path(__file__).parent / "suites" / "drawn.csv"

_MODULES = (
    active_muddy_child,
    assembly_line,
    blocks_world,
    cloud_scheduling,
    coin_in_the_box,
    collaboration_communication,
    consecutive_numbers,
    epistemic_gossip,
    gossip,
    grapevine,
    room_messages,
    search_and_rescue,
    selective_communication,
    selective_communication_enriched,
)


def _rungs(table: Path, kind: str) -> Mapping[str, Mapping[str, Parameters]]:
    """By domain and name the parameters of the instances `<kind>_<number>` of a table, which need not be there."""
    rungs: dict[str, dict[str, Parameters]] = defaultdict(dict)
    for row in _rows(table):
        if row["instance"].startswith(f"{kind}_"):
            rungs[row["domain"]][row["instance"]] = json.loads(row["parameters"])
    return MappingProxyType(rungs)


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


def _domains() -> dict[str, Domain]:
    plain = [module.DOMAIN for module in _MODULES]
    kinds = (RUNGS, SUMMIT_RUNGS, CONTROLS, DRAWN_TESTS)
    measured = {domain.name: [rungs.get(domain.name, {}).items() for rungs in kinds] for domain in plain}
    return {
        domain.name: replace(domain, instances=dict(chain(domain.instances.items(), *measured[domain.name])))
        for domain in plain
    }


RUNGS = _rungs(LADDER, "scaling")
"""The rungs of the ladder, for each domain that has one the parameters by instance name."""
SUMMIT_RUNGS = _rungs(SUMMIT, "summit")
"""The same of the summit."""
CONTROLS = _rungs(SUMMIT, "control")
"""The problems beside the summit's that nobody has searched."""
DRAWN_TESTS = _rungs(DRAWN, "test")
"""Problems drawn from the ranges of the split `test`."""
DOMAINS: Mapping[str, Domain] = MappingProxyType(_domains())
"""The domains by name, with all these among their instances."""
