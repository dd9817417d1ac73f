"""Data files: domains in EPDDL, their library of action types, and published instances as JSON."""

from __future__ import annotations

from functools import cache


@cache
def read_text(name: str, *, default: str | None = None) -> str:
    """The text of a file of this folder, such as `gossip_basic.epddl`; the default where there is no such file."""
    from importlib.resources import files  # takes longer to import than any of the domains

    file = files(__name__).joinpath(name)
    return file.read_text(encoding="utf-8") if default is None or file.is_file() else default
