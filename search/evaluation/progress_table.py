"""The progress of an evaluation on the terminal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.text import Text

from epigym.io.tables import Table
from search.agents.result import SearchResult
from search.evaluation.record import Record

_COLUMNS = ("solved", "unsolvable", "limit", "error")


class ProgressTable(Live):
    """A live table: outcomes by configuration, running searches, and the expected end.

    Args:
        console: where to draw.
        records: the whole grid.
        known: cached results, by position of their record.
    """

    def __init__(self, console: Console, records: Sequence[Record], known: Mapping[int, SearchResult]) -> None:
        self._records = records
        self._totals = Counter(record.configuration.label for record in records)
        self._counts: Counter[tuple[str, str]] = Counter()
        self._running: set[int] = set()
        columns = (BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TextColumn("left"), TimeRemainingColumn())
        self._progress = Progress(*columns, speed_estimate_period=3600)  # seconds; searches differ in length
        self._task = self._progress.add_task("", total=len(records) - len(known))
        for number, result in known.items():
            self._count(number, result)
        super().__init__(console=console, refresh_per_second=2)

    def stop(self) -> None:
        """Draw the table for the last time."""
        super().stop()
        if not self.console.is_terminal:
            self.console.line()

    def watch(self, numbers: Iterable[int]) -> Iterator[int]:
        """Yield positions of records and show each as running."""
        for number in numbers:
            self._running.add(number)
            yield number

    def finish(self, number: int, result: SearchResult) -> None:
        """Count the result of the record at a position."""
        self._running.discard(number)
        self._progress.advance(self._task)
        self._count(number, result)

    def _count(self, number: int, result: SearchResult) -> None:
        column = "limit" if result.status.is_limit else str(result.status)
        self._counts[self._records[number].configuration.label, column] += 1

    def get_renderable(self) -> RenderableType:
        """The table, the running searches and the progress bar."""
        rows = [
            [label, *(str(self._counts[label, column]) for column in _COLUMNS), str(total)]
            for label, total in self._totals.items()
        ]
        table = Table("", ["configuration", *_COLUMNS, "of"], rows)
        running = [self._records[number] for number in sorted(self._running)]
        names = [f"{record.problem.name} {record.configuration.label} …" for record in running]
        return Group(table, *map(Text, names), self._progress)
