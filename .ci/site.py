"""Hooks of the site: a page made of the README's tables, and links from full names to the reference."""

from __future__ import annotations

import re
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

README = Path(__file__).parents[1] / "README.md"
SECTIONS = ("Commands", "Agents and heuristics")
NAME = re.compile(r"<code>((?:epigym|learn|search)(?:\.\w+)+)</code>")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the sections of the README that list commands, agents and heuristics."""
    found = dict(
        re.findall(r"^## (.+?)\n(.*?)(?=^## |\Z)", README.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
    )
    text = "# Commands, agents and heuristics\n\n" + "".join(f"## {name}\n{found[name]}" for name in SECTIONS)
    files.append(File.generated(config, "reference/commands.md", content=text.replace("](docs/", "](../")))
    return files


def on_page_content(html: str, **_: object) -> str:
    """Mark full names that stand as code for mkdocs-autorefs, which leaves alone what the reference does not have."""
    return NAME.sub(r'<autoref identifier="\1" optional><code>\1</code></autoref>', html)
