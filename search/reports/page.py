"""A report as one HTML page, without other files and network access."""

from __future__ import annotations

import os
import urllib.parse
from base64 import b64encode
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from epigym.io.tables import Table
from search.reports.tables import Ending

_TEMPLATE = Path(__file__).with_suffix(".html")


def render_page(
    tables: Sequence[Table], pictures: Mapping[str, str], folder: Path, *, title: str, command: str = ""
) -> str:
    """Write the text of the page.

    Args:
        tables: of the report; those without rows are left out.
        pictures: SVG documents by their captions, black on a transparent ground.
        folder: the folder of the page, which links to existing records of searches.
        title: of the page.
        command: the command that writes the page; empty where there is none.
    """
    from jinja2 import Environment, StrictUndefined

    template = Environment(autoescape=True, undefined=StrictUndefined).from_string(
        _TEMPLATE.read_text(encoding="utf-8")
    )
    linked = [replace(table, rows=[[_link(cell, folder) for cell in row] for row in table.rows]) for table in tables]
    encoded = {caption: b64encode(picture.encode()).decode() for caption, picture in pictures.items()}
    return template.render(tables=linked, pictures=encoded, title=title, command=command)


def _link(cell: Any, folder: Path) -> Any:
    """A cell; the address of an existing record is relative to a folder."""
    if not isinstance(cell, Ending) or cell.file is None or not cell.file.is_file():
        return cell
    address = Path(os.path.relpath(cell.file, folder)).as_posix()
    return {"text": cell.text, "link": urllib.parse.quote(address)}
