"""Compare plans of the default, with and without learning, before and after shortening, on validation problems.

python -m tests.benchmarks.shortening                 8 problems of each domain, 10 s each; rows and a table
python -m tests.benchmarks.shortening table=FILE      only the table of such rows
"""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Final

from rich.console import Console

from domains import DOMAINS
from epigym.io.files import read_rows, write_rows
from epigym.io.tables import Table
from search.agents.limits import Limits
from search.planning.configuration import Configuration
from search.planning.options import SearchOptions
from search.planning.planner import find_plan_here
from tests.benchmarks.networks import sample

PROBLEMS: Final = 8
TIME_LIMIT: Final = 10.0
CONFIGURATIONS: Final = {
    "learned": Configuration.of("interleaved"),
    "h_ff": Configuration.of({"name": "interleaved", "default_heuristic": "h_ff"}),
}
COLUMNS: Final = (
    "domain", "problem", "configuration", "plan_length", "first_length", "search_seconds", "shortening_seconds",
    "message",
)  # fmt: skip
Row = Mapping[str, str]


def main(arguments: Sequence[str]) -> None:
    """Search all problems unless a table is named, and print the table."""
    given = dict(argument.split("=", 1) for argument in arguments)
    file = Path(given.get("table", "outputs/shortening.csv"))
    if "table" not in given:
        write_rows(file, COLUMNS, [row for domain in DOMAINS for row in measure(domain)])
    Console().print(describe(read_rows(file, COLUMNS)))


def measure(domain: str) -> list[Row]:
    """The rows of a domain; unsolved problems have no plan length."""
    options = SearchOptions(Limits(time_limit=TIME_LIMIT, memory_limit="3GiB"), verify="none")
    rows = []
    for number, task in enumerate(islice(sample(domain, "validation"), PROBLEMS)):
        for label, configuration in CONFIGURATIONS.items():
            found = find_plan_here(task, configuration, options)
            lengths = ["" if length is None else str(length) for length in (found.plan_length, found.first_length)]
            seconds = (f"{found.costs.search_seconds:.3f}", f"{found.costs.shortening_seconds:.4f}")
            cells = (domain, str(number), label, *lengths, *seconds, found.message)
            rows.append(dict(zip(COLUMNS, cells, strict=True)))
    return rows


def describe(rows: Sequence[Row]) -> Table:
    """A line for each configuration, before and after shortening, over the problems that both configurations solve."""
    of: dict[tuple[str, str], dict[str, Row]] = defaultdict(dict)
    for row in rows:
        if row["plan_length"]:
            of[row["domain"], row["problem"]][row["configuration"]] = row
    common = [found for found in of.values() if len(found) == len(CONFIGURATIONS)]
    lines = []
    for label in CONFIGURATIONS:
        solved = [found[label] for found in of.values() if label in found]
        for name, column in (("first plan", "first_length"), ("shortened", "plan_length")):
            lengths = [int(found[label][column]) for found in common]
            baseline = [int(found["h_ff"]["first_length"]) for found in common]
            best = [min(int(row["plan_length"]) for row in found.values()) for found in common]
            score = sum(least / length if length else 1.0 for least, length in zip(best, lengths, strict=True))
            pairs = list(zip(lengths, baseline, strict=True))
            seconds = [float(row["shortening_seconds" if name == "shortened" else "search_seconds"]) for row in solved]
            stopped = sum("shortening stopped" in row["message"] for row in solved)
            lines.append([
                f"{label}, {name}", str(len(solved)), str(sum(lengths)), str(sum(a > b for a, b in pairs)),
                str(sum(a < b for a, b in pairs)), f"{score:.1f}", f"{sum(seconds):.1f}", f"{max(seconds):.2f}",
                str(stopped) if name == "shortened" else "",
            ])  # fmt: skip
    return Table(
        f"{len(common)} common problems",
        ("default", "solved", "actions", "longer", "shorter", "score", "s", "longest [s]", "stopped"),
        lines,
        note="actions, longer, shorter (than the first plans of h_ff) and score: on common problems; s: of the search, "
        "or of shortening, on all solved ones; stopped: by the clock",
    )


if __name__ == "__main__":
    main(sys.argv[1:])
