"""The grid of an evaluation: every problem with every configuration, and the table of its outcomes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import ceil
from pathlib import Path
from typing import TypeVar

from epigym.errors import UsageError
from epigym.io.files import write_rows
from search.evaluation.record import COLUMNS, Record
from search.evaluation.suites import Problem
from search.planning.configuration import Choice, Configuration
from search.planning.options import SearchOptions

T = TypeVar("T")


def make_records(
    problems: Sequence[Problem],
    configurations: Sequence[Configuration],
    options: SearchOptions,
) -> list[Record]:
    """Every configuration on every problem, with current keys.

    Raises:
        MissingError: when there is no such problem.
    """
    contents = {problem: problem.digest() for problem in problems}
    return [
        Record(problem, configuration, options).assign_key(content)
        for problem, content in contents.items()
        for configuration in configurations
    ]


def make_configurations(agents: Sequence[Choice], heuristics: Sequence[Choice]) -> list[Configuration]:
    """Every informed agent with its own setting `heuristic`, or else every heuristic; every uninformed agent once.

    Raises:
        UsageError: when there is no agent, two configurations have the same label, a choice is wrong, or an uninformed
            agent has the setting `heuristic`.
    """
    for heuristic in heuristics:
        Configuration.of("hfs", heuristic)  # checks also heuristics that no agent uses
    found: dict[str, Configuration] = {}
    for configuration in _combine(agents, heuristics):
        other = found.setdefault(configuration.label, configuration)
        if other != configuration:
            raise UsageError(f"two configurations are called {other.label!r}; give one of them a label")
    if not found:
        raise UsageError("agents: nothing to search with: name one agent at least")
    return list(found.values())


def _combine(agents: Iterable[Choice], heuristics: Sequence[Choice]) -> Iterator[Configuration]:
    for agent in agents:
        settings = dict(agent) if isinstance(agent, Mapping) else {}
        if own := settings.pop("heuristic", None):
            configuration = Configuration.of(settings, own)
            if configuration.heuristic is None:
                raise UsageError(f"agent {configuration.label!r} takes no heuristic: leave it out")
            yield configuration
        else:
            yield from (Configuration.of(agent, heuristic) for heuristic in heuristics or (None,))


def order_by_time(records: Sequence[Record], folder: Path) -> list[Record]:
    """Records by decreasing expected time; without an earlier outcome, the time limit, and larger problems first."""
    sizes = {problem: sum(map(len, problem.contents())) for problem in {record.problem for record in records}}
    return sorted(records, key=lambda record: (-record.estimate_seconds(folder), -sizes[record.problem]))


def divide(ordered: Sequence[T], workers: int, size: int | None, most: int) -> list[Sequence[T]]:
    """Divide records among jobs, `workers` at a time, so that the first records start first.

    Args:
        ordered: the records.
        workers: jobs at a time.
        size: records of a job; None for one job for each worker.
        most: jobs of this size; with more records jobs are larger.
    """
    if size is None:
        return _deal(ordered, min(workers, len(ordered)))
    size = max(size, ceil(len(ordered) / most))
    waves = (ordered[start : start + size * workers] for start in range(0, len(ordered), size * workers))
    return [part for wave in waves for part in _deal(wave, ceil(len(wave) / size))]


def _deal(ordered: Sequence[T], hands: int) -> list[Sequence[T]]:
    return [ordered[hand::hands] for hand in range(hands)]


def write_table(folder: Path, records: Iterable[Record]) -> None:
    """Write `results.csv` from the cached outcomes: a row for every record, in their order."""
    write_rows(folder / "results.csv", COLUMNS, (record.row(folder) for record in records))
