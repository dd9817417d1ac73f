"""The options of a search."""

from __future__ import annotations

from dataclasses import dataclass

from search.agents.limits import Limits


@dataclass(frozen=True, slots=True)
class SearchOptions:
    """How long to search and for what; plain data that travels between processes.

    Attributes:
        limits: when to give up, enforced from outside; without them the search takes place in this process, until 600 s
            or 80 % of the free memory are used as agents see them, between expansions.
        anytime: whether to go on for shorter plans, see `search.planning.improvement`.
        consistent_beliefs: whether plans are left out that make an agent believe everything, see `StateSpace`.
        verify: whether the reference re-executes plans, and checks again that there is none.
    """

    limits: Limits | None = None
    anytime: bool = False
    consistent_beliefs: bool = False
    verify: bool = True


DEFAULTS = SearchOptions()
