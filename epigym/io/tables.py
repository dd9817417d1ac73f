"""Tables on the terminal, which no width breaks, and as Markdown, LaTeX and CSV."""

from __future__ import annotations

import csv
import html
import io
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, takewhile, zip_longest
from pathlib import Path
from typing import Any, Literal

from rich.console import Console, ConsoleOptions, RenderResult
from rich.table import Table as RichTable
from rich.text import Text

from epigym.io.files import write_text

ALL = "All"
"""The first cell of a row that sums up those above it."""

_SIDE_BY_SIDE = 4  # groups of columns that LaTeX has beside each other at most
_ANY_WIDTH = 10_000  # columns, more than any terminal has
_MARKS = re.compile(r"[\\`*|]|\b_|_\b|\](?=\()")  # of Markdown, beside those of HTML
_TEX = str.maketrans(
    {
        **{mark: "\\" + mark for mark in "&%$#_{}"},
        **{"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "|": r"\textbar{}"},
        **{"<": "$<$", ">": "$>$", "±": r"$\pm$", "–": "--"},
    }
)


@dataclass(frozen=True, slots=True)
class Numbers:
    """A table cell of one or more numbers: one text for readers, and in CSV files a column for each number.

    Attributes:
        text: all numbers, such as `20 ± 10`.
        values: each number by the end of its column's title; None where it is not known.
    """

    text: str
    values: Mapping[str, float | None]

    @property
    def value(self) -> float | None:
        """The first number, by which the cell is sorted."""
        return next(iter(self.values.values()))

    def __str__(self) -> str:
        """The text for readers."""
        return self.text


@dataclass(frozen=True, slots=True)
class Table:
    """A table of texts and numbers.

    On a terminal that is too narrow for it, each row is a block with a line for each column.

    Attributes:
        caption: the title.
        titles: of the columns.
        rows: the cells, as many as there are titles; of fractions CSV files have all digits, the other forms three,
            and `Numbers` say both.
        texts: number of columns, from the first one on, that are aligned to the left; the others are to the right.
        groups: titles over the columns of numbers, each with the number of columns that it spans.
        note: explains columns, below the table; not in CSV files.
    """

    caption: str
    titles: Sequence[str]
    rows: Sequence[Sequence[Any]]
    texts: int = 1
    groups: Sequence[tuple[str, int]] = ()
    note: str = ""

    @classmethod
    def of(cls, caption: str, rows: Sequence[Mapping[str, Any]]) -> Table:
        """The table of at least one row with equal keys; its first columns of strings are texts."""
        first = rows[0].values()
        texts = len(list(takewhile(lambda value: isinstance(value, str), first)))
        return cls(caption, list(rows[0]), [list(row.values()) for row in rows], texts)

    @property
    def headings(self) -> list[str]:
        """One title for each column: the group's and the column's own."""
        groups = chain([""] * self.texts, *([title] * span for title, span in self.groups))
        return [f"{group} {title}".strip() for group, title in zip_longest(groups, self.titles, fillvalue="")]

    @property
    def cells(self) -> list[list[str]]:
        """The rows as they are shown."""
        return [[f"{cell:.3f}" if isinstance(cell, float) else str(cell) for cell in row] for row in self.rows]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """The table, or its rows as blocks."""
        table = RichTable(title=Text(self.caption, style="bold"), title_justify="left")
        for number, title in enumerate(self.headings):
            table.add_column(Text(title), justify="left" if number < self.texts else "right")
        for row in self.cells:
            table.add_row(*map(Text, row))
        if console.measure(table, options=options.update(width=_ANY_WIDTH)).maximum <= options.max_width:
            yield table
        else:
            caption = [Text(self.caption, style="bold")] if self.caption else []
            yield Text("\n\n").join([*caption, *map(self._block, self.cells)])
        if self.note:
            yield Text(self.note)

    def _block(self, row: Sequence[str]) -> Text:
        """The first cell, and below it all others beside their titles."""
        titles = self.headings[1:]
        size = max(map(len, titles))
        lines = (f"  {title:<{size}}  {cell}" for title, cell in zip(titles, row[1:], strict=True))
        return Text("\n".join([row[0], *lines]))

    def markdown(self) -> str:
        """The table as GitHub reads it."""
        rule = ["---" if number < self.texts else "---:" for number in range(len(self.titles))]
        lines = [map(_markdown, self.headings), rule, *(map(_markdown, row) for row in self.cells)]
        note = f"\n{_markdown(self.note)}\n" if self.note else ""
        return f"**{_markdown(self.caption)}**\n\n" + "".join(f"| {' | '.join(line)} |\n" for line in lines) + note

    def latex(self) -> str:
        """The table in the layout of the paper's tables, for the package booktabs; many groups are stacked."""
        if len([title for title, _ in self.groups if title]) > _SIDE_BY_SIDE:
            return self._stack().latex()
        groups = self.groups or [("", len(self.titles) - self.texts)]
        columns = "l" * self.texts + "|".join("r" * span for _, span in groups)
        lines = [r"\begin{table*}[!ht]", r"  \centering", rf"  \begin{{tabular}}{{{columns}}}", r"    \toprule"]
        if any(title for title, _ in groups):
            spans = (rf" & \multicolumn{{{span}}}{{c}}{{{_tex(title)}}}" for title, span in groups)
            lines += [f"    {''.join(spans)} \\\\", r"    \midrule"]
        lines += [_tex_row(self.titles), r"    \midrule"]
        for row in self.cells:
            lines += [r"    \midrule"] * (row[0] == ALL) + [_tex_row(row)]
        note = [rf"  \par\smallskip {_tex(self.note)}"] * bool(self.note)
        lines += [
            r"    \bottomrule",
            r"  \end{tabular}",
            *note,
            rf"  \caption{{{_tex(self.caption)}}}",
            r"\end{table*}",
        ]
        return "\n".join(lines) + "\n"

    def _stack(self) -> Table:
        """The same with a line for each group, which have equal columns, those without a title first."""
        names = [title for title, _ in self.groups if title]
        width = self.groups[-1][1]
        first = len(self.titles) - len(names) * width
        rows = []
        for row in self.rows:
            lines = [row[start : start + width] for start in range(first, len(row), width)]
            for number, (name, line) in enumerate(zip(names, lines, strict=True)):
                shared = [""] * first if number else row[:first]
                rows.append([*shared[: self.texts], name, *shared[self.texts :], *line])
        titles = [*self.titles[: self.texts], "configuration", *self.titles[self.texts : first + width]]
        return replace(self, titles=titles, rows=rows, texts=self.texts + 1, groups=())

    def csv(self) -> str:
        """The table with one line of titles; every number has a column of its own, and an unknown one is empty."""
        columns = [
            (place, part) for place, cells in enumerate(zip(*self.rows, strict=True)) for part in _parts_of(cells)
        ] or [(place, "") for place in range(len(self.titles))]
        headings = [f"{self.headings[place]} {part}".strip() for place, part in columns]
        rows = [[_parts_of([row[place]]).get(part) for place, part in columns] for row in self.rows]
        text = io.StringIO()
        csv.writer(text, lineterminator="\n").writerows([headings, *rows])
        return text.getvalue()

    def write(self, stem: Path, *forms: Literal["csv", "latex", "markdown"]) -> Table:
        """Write some of its forms beside each other, as `.csv`, `.tex` and `.md`, and return it for the terminal."""
        for form in forms:
            ending = {"csv": "csv", "latex": "tex", "markdown": "md"}[form]
            write_text(stem.with_name(f"{stem.name}.{ending}"), getattr(self, form)())
        return self


def _parts_of(cells: Iterable[Any]) -> dict[str, Any]:
    """The values of the cells of a column by the end of their title; of equal ends the last one."""
    values = (cell.values if isinstance(cell, Numbers) else {"": cell} for cell in cells)
    return dict(chain.from_iterable(one.items() for one in values))


def _markdown(text: str) -> str:
    """A text that Markdown shows as it is, on one line."""
    return _MARKS.sub(r"\\\g<0>", html.escape(" ".join(text.split()), quote=False))


def _tex(text: str) -> str:
    """A text that LaTeX shows as it is, in one paragraph."""
    return " ".join(text.split()).translate(_TEX)


def _tex_row(cells: Sequence[str]) -> str:
    first, *others = map(_tex, cells)
    return "    " + " & ".join(["{}" * first.startswith(("[", "*")) + first, *others]) + r" \\"
