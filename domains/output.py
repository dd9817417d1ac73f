"""Standard output on terminals of any encoding."""

from __future__ import annotations

import io
import sys


def replace_unknown_characters() -> None:
    """Let standard output write `?` for characters that its encoding lacks; standard error escapes them already."""
    if isinstance(sys.stdout, io.TextIOWrapper) and sys.stdout.errors in ("strict", "surrogateescape"):
        sys.stdout.reconfigure(errors="replace")
