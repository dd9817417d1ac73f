"""Data files: domains in EPDDL, their library of action types, and published instances."""

from __future__ import annotations

from functools import cache


@cache
def read_text(name: str) -> str:
    """The text of a file of this folder, such as `gossip_basic.epddl`."""
    from importlib.resources import files  # takes longer to import than any of the domains

    return files(__name__).joinpath(name).read_text(encoding="utf-8")
