"""Tables on the terminal, which no width breaks."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from rich.console import Console, ConsoleOptions, RenderResult
from rich.table import Table
from rich.text import Text

_ANY_WIDTH = 10_000  # columns, more than any terminal has


@dataclass(frozen=True, slots=True)
class ScreenTable:
    """A table for `rich`: where the terminal is too narrow for it, each row is a block with a line for each column.

    Attributes:
        caption: what it shows.
        titles: of the columns.
        rows: the cells, as many as there are titles.
        texts: positions of the columns that are aligned to the left; the others are aligned to the right.
    """

    caption: str
    titles: Sequence[str]
    rows: Sequence[Sequence[str]]
    texts: Collection[int] = (0,)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """The table, or its rows as blocks."""
        table = self._table()
        needed = console.measure(table, options=options.update(width=_ANY_WIDTH)).maximum
        if needed <= options.max_width:
            yield table
        else:
            caption = [Text(self.caption, style="bold")] if self.caption else []
            yield Text("\n\n").join([*caption, *map(self._block, self.rows)])

    def _table(self) -> Table:
        table = Table(title=Text(self.caption, style="bold"), title_justify="left")
        for number, title in enumerate(self.titles):
            table.add_column(Text(title), justify="left" if number in self.texts else "right")
        for row in self.rows:
            table.add_row(*map(Text, row))
        return table

    def _block(self, row: Sequence[str]) -> Text:
        """The first cell, and below it all others beside their titles."""
        size = max(map(len, self.titles[1:]))
        lines = [f"  {title:<{size}}  {cell}" for title, cell in zip(self.titles[1:], row[1:], strict=True)]
        return Text("\n").join(map(Text, [row[0], *lines]))
