"""Measure how long a large problem of each domain takes to be written, and to be read and grounded.

python -m tests.benchmarks.sizes               all domains, each in a process of its own
python -m tests.benchmarks.sizes gossip        some domains
"""

import resource
import sys
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import Any, Final

import domains
from domains.words import write_value
from epigym.language import parse_epddl, parse_mastar
from epigym.task.task import Task

SIZES: Final[Mapping[str, Mapping[str, Any]]] = {
    "active_muddy_child": {"children": 17},
    "assembly_line": {"agents": 17, "clear_start": True},
    "blocks_world": {"blocks": 71},
    "cloud_scheduling": {"tasks": 8, "tenants": 8},
    "coin_in_the_box": {"agents": 71},
    "collaboration_communication": {"agents": 4, "rooms": 1001, "boxes": 1},
    "consecutive_numbers": {"agents": 10, "highest": 111},
    "epistemic_gossip": {"agents": 17},
    "gossip": {"agents": 17},
    "grapevine": {"agents": 2, "rooms": 2500, "ring": 2, "noticed": False},
    "room_messages": {"agents": 71, "rooms": 2},
    "search_and_rescue": {"locations": 193, "drones": 8, "firefighters": 8, "ambulances": 8},
    "selective_communication": {"rooms": 5000},
    "selective_communication_enriched": {"rooms": 1000, "useless": 5},
}
"""Parameters that make 5,000 fluents or 10,000 actions, or where worlds double with each agent, child, part or task,
at least 65,536 worlds."""


def read(domain: str, text: str) -> Task:
    """Read and ground the text of a problem."""
    return parse_mastar(text) if domains.DOMAINS[domain].language == "mA*" else parse_epddl(text)


def measure(domain: str) -> list[str]:
    """The row of a domain: what it has and what it took, in CPU seconds and MiB."""
    start = time.process_time()
    text = domains.write(domain, **SIZES[domain])
    written = time.process_time()
    task = read(domain, text)
    ended = time.process_time()
    parameters = " ".join(f"{name}={write_value(value)}" for name, value in SIZES[domain].items())
    counts = (len(task.fluents), len(task.actions), len(task.initial.valuations))
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 2**10
    return [
        f"`{domain}`",
        f"`{parameters}`",
        *(f"{count:,}" for count in counts),
        f"{written - start:.1f}",
        f"{ended - written:.1f}",
        f"{memory:,}",
    ]


def main(chosen: Sequence[str]) -> None:
    """Print the table."""
    print("| domain | parameters | fluents | actions | worlds | writing | reading | MiB |")
    print("| --- | --- | --: | --: | --: | --: | --: | --: |")
    with ProcessPoolExecutor(1, get_context("spawn"), max_tasks_per_child=1) as pool:
        for row in pool.map(measure, chosen or SIZES):
            print(f"| {' | '.join(row)} |", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
