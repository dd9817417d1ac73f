"""Tables of rows with equal columns: on the screen, as CSV and as Markdown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from epigym.io.files import write_rows, write_text
from epigym.io.tables import ScreenTable


def write_table(rows: Sequence[Mapping[str, Any]], stem: Path, title: str) -> ScreenTable:
    """Write rows with equal columns as `<stem>.csv`, with all digits, and `<stem>.md`; return them for the screen."""
    write_rows(stem.with_suffix(".csv"), list(rows[0]), rows)
    write_text(stem.with_suffix(".md"), _markdown(rows))
    texts = [number for number, value in enumerate(rows[0].values()) if isinstance(value, str)]
    return ScreenTable(title, list(rows[0]), [list(map(_text, row.values())) for row in rows], texts)


def _markdown(rows: Sequence[Mapping[str, Any]]) -> str:
    marks = ["---" if isinstance(value, str) else "--:" for value in rows[0].values()]
    lines = [list(rows[0]), marks, *([_text(value) for value in row.values()] for row in rows)]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def _text(value: Any) -> str:
    return f"{value:.3f}" if isinstance(value, float) else str(value)
