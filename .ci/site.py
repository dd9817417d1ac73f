"""Hooks of the site: notebooks as pages, legible names and pictures, links from full names, search without a server."""

from __future__ import annotations

import json
import re
from base64 import b64encode
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File

NAME = re.compile(r"<code>((?:epigym|learn|search)(?:\.\w+)+)</code>")
HEADING = re.compile(r"(?<=>)\w{17,}(?=</th>)|(?<=-name\">)[\w.]+(?=</span>)")
"""A long name above a column, or that of what the reference describes."""
PICTURE = re.compile(r'<img (?=[^>]*src="([^":]+\.svg)")')
LEAST = 0.7  # of the width of a picture, whose text is about 14 pixels high: a narrower screen scrolls
NOTEBOOK = re.compile(r"(\]\((?:[\w/.]*/)?notebooks/\w+)\.ipynb\)")


def on_files(files: Any, config: Any) -> Any:
    """Add a page for each notebook."""
    for path in sorted((Path(config.docs_dir) / "notebooks").glob("*.ipynb")):
        notebook = json.loads(path.read_text(encoding="utf-8"))
        files.append(File.generated(config, f"notebooks/{path.stem}.md", content=write_page(notebook)))
    return files


def write_page(notebook: dict[str, Any]) -> str:
    """The Markdown of a notebook: its cells, and below code what it prints and draws."""
    parts = []
    for cell in notebook["cells"]:
        source = "".join(cell["source"])
        parts.append(source if cell["cell_type"] == "markdown" else f"```python\n{source}\n```")
        for output in cell.get("outputs", ()):
            if picture := "".join(output.get("data", {}).get("image/svg+xml", "")):
                parts.append(f"![The e-state](data:image/svg+xml;base64,{b64encode(picture.encode()).decode()})")
            else:
                parts.append(f"```text\n{''.join(output['text'])}```")
    return "\n\n".join(parts) + "\n"


def on_page_markdown(markdown: str, page: Any, **_: object) -> str:
    """Lead links to notebooks to their pages, and rank what one adds before the reference in searches."""
    if page.file.name in ("own_agent", "own_heuristic", "own_network"):
        page.meta["search"] = {"boost": 5}
    return NOTEBOOK.sub(r"\1.md)", markdown)


def on_page_content(html: str, page: Any, config: Any, **_: object) -> str:
    """Let long names in headings break between their parts, keep pictures legible, and mark names that stand as code.

    mkdocs-autorefs leaves alone those which the reference does not have.
    """
    folder = (Path(config.docs_dir) / page.file.src_uri).parent
    html = PICTURE.sub(
        lambda found: f'{found[0]}style="min-width: {LEAST * read_width(folder / found[1]):.0f}px" ', html
    )
    html = HEADING.sub(lambda found: re.sub(r"[._](?=\w)", r"\g<0><wbr>", found[0]), html)
    return NAME.sub(r'<autoref identifier="\1" optional><code>\1</code></autoref>', html)


def read_width(picture: Path) -> float:
    """The width of an SVG file in pixels."""
    [(number, unit)] = re.findall(r'<svg [^>]*?\bwidth="([\d.]+)(pt|)"', picture.read_text(encoding="utf-8"))
    return float(number) * (4 / 3 if unit else 1)


def on_post_build(config: Any, **_: object) -> None:
    """Write the index of searches as a script, too: pages that are opened from files can read nothing else."""
    index = Path(config.site_dir) / "search" / "search_index.json"
    index.with_suffix(".js").write_text(f"var __index = {index.read_text(encoding='utf-8')}", encoding="utf-8")
