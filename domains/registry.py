"""The domains, with the rungs of the scaling ladder among their named instances."""

from __future__ import annotations

import csv
import json
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import replace
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


def _rungs() -> dict[str, dict[str, Parameters]]:
    rungs: dict[str, dict[str, Parameters]] = defaultdict(dict)
    if LADDER.exists():
        with LADDER.open(encoding="utf-8", newline="") as file:
            for row in csv.DictReader(file):
                rungs[row["domain"]][row["instance"]] = json.loads(row["parameters"])
    return rungs


def _domains() -> dict[str, Domain]:
    plain = [module.DOMAIN for module in _MODULES]
    return {
        domain.name: replace(domain, instances={**domain.instances, **RUNGS.get(domain.name, {})}) for domain in plain
    }


RUNGS: Mapping[str, Mapping[str, Parameters]] = MappingProxyType(_rungs())
"""The rungs of the ladder, for each domain that has one the parameters by instance name."""
DOMAINS: Mapping[str, Domain] = MappingProxyType(_domains())
"""The domains by name, with the rungs of the ladder among their instances."""
