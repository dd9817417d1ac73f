"""A report as one HTML page, without other files and network access."""

from __future__ import annotations

import os
import urllib.parse
from base64 import b64encode
from collections.abc import Mapping, Sequence
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from epigym.io.tables import Table
from search.reports.tables import Ending

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_TEMPLATE = Path(__file__).with_suffix(".html")
_DOTS = 100  # per inch


def render_page(tables: Sequence[Table], figures: Mapping[str, Figure], folder: Path) -> str:
    """Write the text of the page.

    Args:
        tables: of the report; those without rows are left out.
        figures: by their captions.
        folder: the folder of the page, which links to existing records of searches.
    """
    from jinja2 import Environment, StrictUndefined

    template = Environment(autoescape=True, undefined=StrictUndefined).from_string(
        _TEMPLATE.read_text(encoding="utf-8")
    )
    linked = [replace(table, rows=[[_link(cell, folder) for cell in row] for row in table.rows]) for table in tables]
    return template.render(tables=linked, pictures={caption: _encode(one) for caption, one in figures.items()})


def _link(cell: Any, folder: Path) -> Any:
    """A cell; the address of an existing record is relative to a folder."""
    if not isinstance(cell, Ending) or cell.file is None or not cell.file.is_file():
        return cell
    address = Path(os.path.relpath(cell.file, folder)).as_posix()
    return {"text": cell.text, "link": urllib.parse.quote(address)}


def _encode(figure: Figure) -> str:
    """A figure as PNG in base 64."""
    picture = BytesIO()
    figure.savefig(picture, dpi=_DOTS)
    return b64encode(picture.getvalue()).decode()
