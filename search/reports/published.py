"""Published outcomes, and those of the scaling suite, for comparison with evaluations."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path, PurePosixPath

from epigym.errors import EpigymError, UsageError
from epigym.io.files import read_rows
from epigym.names import unknown
from search.agents.result import SearchStatus
from search.reports.outcomes import SearchOutcome, parse_number

PUBLISHED = "published "
"""The prefix of the names of published configurations."""

_FILE = Path(__file__).parent / "published.csv"
"""Results of "Scaling Multi-Agent Epistemic Planning through GNN-Derived Heuristics" (AAMAS 2026), Appendix G."""

Row = Mapping[str, str]


def read_published(names: Sequence[str]) -> list[SearchOutcome]:
    """Read the published outcomes of some experiments.

    Args:
        names: `standard`, `transfer` or `planning_graph`; or the path of a table (`.csv`) of the EPDDL toolkit's
            searches on its own problems, of a planner on the problems of the planning competition, or of
            breadth-first search on the scaling suite (`domains/suites/scaling.csv`).

    Raises:
        EpigymError: when there is no such experiment, or the table has another layout or a wrong entry.
    """
    return [
        outcome for name in names for outcome in (_read_table(name) if name.endswith(".csv") else _read_paper(name))
    ]


def _read_paper(setup: str) -> list[SearchOutcome]:
    rows = read_rows(_FILE, ())
    known = dict.fromkeys(row["setup"] for row in rows)
    if setup not in known:
        raise UsageError(unknown("published experiment", setup, known))
    return [
        SearchOutcome(
            domain=row["problem"].partition("/")[0],
            problem=row["problem"],
            configuration=PUBLISHED + row["configuration"],
            status=SearchStatus(row["status"]),
            plan_length=parse_number(row["plan_length"]),
            expanded=parse_number(row["expanded"]),
            search_ms=parse_number(row["search_ms"]),
            total_ms=parse_number(row["total_ms"]),
        )
        for row in rows
        if row["setup"] == setup
    ]


def _read_table(name: str) -> list[SearchOutcome]:
    rows = read_rows(name, ())
    for read, columns in _LAYOUTS:
        if rows and columns <= rows[0].keys():
            return [_convert(read, row, f"{name}: row {number}") for number, row in enumerate(rows, start=1)]
    expected = " or ".join(", ".join(sorted(columns)) for _, columns in _LAYOUTS)
    raise EpigymError(f"{name}: a table of another layout; expected the columns {expected}")


def _convert(read: Callable[[Row], SearchOutcome], row: Row, place: str) -> SearchOutcome:
    try:
        return read(row)
    except ValueError as error:
        raise EpigymError(f"{place}: {error}") from None


def _read_toolkit(row: Row) -> SearchOutcome:
    """Read a row of the toolkit's breadth-first searches; only plans that they found count."""
    is_found = row["bfs_60s"] == "found"
    unsolved = SearchStatus.TIME_LIMIT if row["bfs_60s"] == "timeout" else SearchStatus.UNSOLVABLE
    return SearchOutcome(
        domain=row["domain"],
        problem=f"{row['domain']}/{row['problem']}",
        configuration=PUBLISHED + "toolkit",
        status=SearchStatus.SOLVED if is_found else unsolved,
        plan_length=parse_number(row["plan_length"]) if is_found else None,
        total_ms=parse_number(row["bfs_wall_seconds"], 1e3),
    )


def _read_competitor(row: Row) -> SearchOutcome:
    """Read a row of a planner in the competition; its time is CPU time."""
    path = PurePosixPath(row["problem"].removeprefix("benchmarks/"))  # tier/domain/problems/instance.epddl
    domain = path.parent.parent.as_posix()
    is_solved = row["status"] == "correct"
    return SearchOutcome(
        domain=domain,
        problem=f"{domain}/{path.stem}",
        configuration=PUBLISHED + row["team"],
        status=_COMPETITION_STATUS.get(row["status"], SearchStatus.ERROR),
        plan_length=len(list(filter(str.strip, row["solution"].split(";")))) if is_solved else None,
        total_ms=parse_number(row["cpu_time_s"], 1e3),
        peak_mib=parse_number(row["max_mem_kb"], 1 / 2**10),
    )


def _read_instance(row: Row) -> SearchOutcome:
    """Read a row of the scaling suite."""
    return SearchOutcome(
        domain=row["domain"],
        problem=f"{row['domain']}/{row['instance']}",
        configuration=PUBLISHED + "bfs",
        status=SearchStatus(row["status"]),
        plan_length=parse_number(row["plan_length"]),
        expanded=parse_number(row["expanded"]),
        search_ms=parse_number(row["seconds"], 1e3),
        peak_mib=parse_number(row["memory_mib"]),
    )


_COMPETITION_STATUS = {
    "correct": SearchStatus.SOLVED,
    "no-plan": SearchStatus.UNSOLVABLE,
    "timeout": SearchStatus.TIME_LIMIT,
    "memout": SearchStatus.MEMORY_LIMIT,
}
# Functions that read a row, each with the columns that it needs.
_LAYOUTS: tuple[tuple[Callable[[Row], SearchOutcome], set[str]], ...] = (
    (_read_toolkit, {"domain", "problem", "bfs_60s", "plan_length", "bfs_wall_seconds"}),
    (_read_competitor, {"team", "problem", "status", "solution", "cpu_time_s", "max_mem_kb"}),
    (_read_instance, {"domain", "instance", "status", "plan_length", "expanded", "seconds", "memory_mib"}),
)
