"""Hook of the site: links from full names to the reference."""

from __future__ import annotations

import re

NAME = re.compile(r"<code>((?:epigym|learn|search)(?:\.\w+)+)</code>")


def on_page_content(html: str, **_: object) -> str:
    """Mark full names that stand as code for mkdocs-autorefs, which leaves alone what the reference does not have."""
    return NAME.sub(r'<autoref identifier="\1" optional><code>\1</code></autoref>', html)
