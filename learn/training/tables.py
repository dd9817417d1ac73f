"""Tables of rows with equal columns: on the screen, as CSV and as Markdown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rich.box import SIMPLE
from rich.table import Table

from epigym.files import write_rows, write_text


def write_table(rows: Sequence[Mapping[str, Any]], stem: Path, title: str) -> Table:
    """Write rows with equal columns as `<stem>.csv`, with all digits, and `<stem>.md`; return them for the screen."""
    write_rows(stem.with_suffix(".csv"), list(rows[0]), rows)
    write_text(stem.with_suffix(".md"), _markdown(rows))
    return _table(rows, title)


def _table(rows: Sequence[Mapping[str, Any]], title: str) -> Table:
    table = Table(box=SIMPLE, padding=(0, 1, 0, 0), title=title)
    for name, value in rows[0].items():
        table.add_column(name, justify="left" if isinstance(value, str) else "right", overflow="fold")
    for row in rows:
        table.add_row(*map(_text, row.values()))
    return table


def _markdown(rows: Sequence[Mapping[str, Any]]) -> str:
    marks = ["---" if isinstance(value, str) else "--:" for value in rows[0].values()]
    lines = [list(rows[0]), marks, *([_text(value) for value in row.values()] for row in rows)]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def _text(value: Any) -> str:
    return f"{value:.3f}" if isinstance(value, float) else str(value)
