"""What learning and shortening do to the default, on validation problems: time, solved problems, and plan lengths.

python -m tests.benchmarks.default                 search, 20 s each, and print the tables; started again it goes on
python -m tests.benchmarks.default domain=gossip,grapevine out=outputs/default
python -m tests.benchmarks.default table=FILE      only print the tables of such rows
python -m tests.benchmarks.default problems=1      only the first of each kind

`sampled` are six problems of each domain with the sizes of the suite of that name and other seeds, `larger` four of the
upper part of its line of growing problems. Seconds are processor time of building and searching up to the first plan,
opening the model included: the least of three runs.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from time import process_time
from typing import Final

from rich.console import Console
from scipy.stats import gmean

from domains import DOMAINS
from epigym.io.files import read_rows, write_rows
from epigym.io.tables import Table
from epigym.task.task import Task
from learn.data.distribution import sample_problems
from search.agents.limits import Limits
from search.planning.configuration import Configuration
from search.planning.options import SearchOptions
from search.planning.planner import find_plan_here
from tests.benchmarks.networks import sample

SEED: Final = 7
COUNTS: Final = {"sampled": 6, "larger": 4}
RUNS: Final = 3
FIRST: Final = SearchOptions(Limits(time_limit=20, memory_limit="4GiB"), verify="none", shorten=False)
WITHOUT: Final = "without learning"
CONFIGURATIONS: Final = {
    WITHOUT: Configuration.of({"name": "interleaved", "default_heuristic": "h_ff"}),
    "with learning": Configuration.of("interleaved"),
}
COLUMNS: Final = (
    "domain", "kind", "problem", "configuration", "cpu_seconds", "expanded", "first_length", "plan_length",
    "shortening_seconds", "message",
)  # fmt: skip
Row = Mapping[str, str]
Pair = Mapping[str, Row]
"""The rows of one problem, by configuration."""


def main(arguments: Sequence[str]) -> None:
    """Search what is missing, unless a table is named, and print the tables."""
    given = {"domain": ",".join(DOMAINS), "out": "outputs/default", "problems": "10", "table": ""}
    given |= dict(argument.split("=", 1) for argument in arguments)
    files = [Path(given["out"], f"{domain}.csv") for domain in given["domain"].split(",")]
    for file in files if not given["table"] else []:
        if not file.exists():
            write_rows(file, COLUMNS, measure(file.stem, int(given["problems"])))
    rows = [row for file in ([Path(given["table"])] if given["table"] else files) for row in read_rows(file, COLUMNS)]
    pairs = pair_up(rows)
    for table in (describe_times(pairs), describe_lengths(pairs)):
        Console().print(table)


def list_problems(domain: str, most: int) -> Iterator[tuple[str, int, Task]]:
    """The kind, number and task of each problem of a domain, of each kind at most so many."""
    sampled = (problem.task for problem in sample_problems(domain, "test", SEED))
    for kind, tasks in (("sampled", sampled), ("larger", sample(domain, "validation"))):
        for number, task in enumerate(islice(tasks, min(COUNTS[kind], most))):
            yield kind, number, task


def measure(domain: str, most: int) -> list[dict[str, str]]:
    """The rows of a domain; unsolved problems have no lengths."""
    rows = []
    for kind, number, task in list_problems(domain, most):
        seconds: dict[str, list[float]] = {name: [] for name in CONFIGURATIONS}
        for _ in range(RUNS):
            for name, configuration in CONFIGURATIONS.items():
                start = process_time()
                find_plan_here(task, configuration, FIRST)
                seconds[name].append(process_time() - start)
        for name, configuration in CONFIGURATIONS.items():
            found = find_plan_here(task, configuration, replace(FIRST, shorten=True))
            lengths = ("" if length is None else str(length) for length in (found.first_length, found.plan_length))
            cells = (domain, kind, str(number), name, f"{min(seconds[name]):.4f}", str(found.expanded), *lengths)
            last = (f"{found.costs.shortening_seconds:.4f}", found.message)
            rows.append(dict(zip(COLUMNS, (*cells, *last), strict=True)))
    return rows


def pair_up(rows: Sequence[Row]) -> list[Pair]:
    """The rows of each problem together."""
    pairs: dict[tuple[str, ...], dict[str, Row]] = defaultdict(dict)
    for row in rows:
        pairs[row["domain"], row["kind"], row["problem"]][row["configuration"]] = row
    return list(pairs.values())


def describe_times(pairs: Sequence[Pair]) -> Table:
    """For each domain how many problems each configuration solves in 1 and 20 s, and the ratio of seconds."""
    groups = {domain: [pair for pair in pairs if pair[WITHOUT]["domain"] == domain] for domain in DOMAINS}
    groups |= {kind: [pair for pair in pairs if pair[WITHOUT]["kind"] == kind] for kind in COUNTS}
    groups["all"] = list(pairs)
    lines = []
    for name, group in groups.items():
        common = [pair for pair in group if all(row["plan_length"] for row in pair.values())]
        ratios = [float(pair["with learning"]["cpu_seconds"]) / float(pair[WITHOUT]["cpu_seconds"]) for pair in common]
        counts = [
            str(sum(bool(pair[one]["plan_length"]) and float(pair[one]["cpu_seconds"]) <= most for pair in group))
            for most in (1, 20)
            for one in CONFIGURATIONS
        ]
        if group:
            lines.append([name, str(len(group)), *counts, f"{gmean(ratios):.2f}" if ratios else ""])
    return Table(
        "first plans",
        ("problems", "number", "without, 1 s", "with", "without, 20 s", "with", "times the seconds"),
        lines,
        note="geometric mean of the ratio of seconds, with learning to without, where both solve",
    )


def describe_lengths(pairs: Sequence[Pair]) -> Table:
    """Plan lengths before and after shortening, where both configurations solve."""
    common = [pair for pair in pairs if all(row["plan_length"] for row in pair.values())]
    lines = []
    for label in CONFIGURATIONS:
        for name, column in (("first plan", "first_length"), ("shortened", "plan_length")):
            lengths = [int(pair[label][column]) for pair in common]
            today = [int(pair[WITHOUT]["first_length"]) for pair in common]
            best = [min(int(row["plan_length"]) for row in pair.values()) for pair in common]
            score = sum(least / length if length else 1.0 for least, length in zip(best, lengths, strict=True))
            longer = sum(length > other for length, other in zip(lengths, today, strict=True))
            shorter = sum(length < other for length, other in zip(lengths, today, strict=True))
            row = "cpu_seconds" if column == "first_length" else "shortening_seconds"
            seconds = sum(float(pair[label][row]) for pair in common)
            stopped = sum("shortening stopped" in pair[label]["message"] for pair in common)
            cells = [str(sum(lengths)), str(longer), str(shorter), f"{score:.1f}", f"{seconds:.1f}"]
            lines.append([f"{label}, {name}", *cells, str(stopped) if column == "plan_length" else ""])
    return Table(
        f"{len(common)} common problems",
        ("default", "actions", "longer", "shorter", "score", "seconds", "stopped"),
        lines,
        note="longer, shorter: than the first plans without learning; seconds: of the search or of shortening; "
        "stopped: by the clock",
    )


if __name__ == "__main__":
    main(sys.argv[1:])
