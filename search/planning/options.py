"""The options of a search."""

from __future__ import annotations

from dataclasses import dataclass

from search.agents.limits import Limits


@dataclass(frozen=True, slots=True)
class SearchOptions:
    """The options of a search, as plain data that can be pickled.

    Attributes:
        limits: the limits, enforced from outside a separate process; None to search in this process with the default
            limits, which agents check between expansions.
        anytime: whether to continue towards shorter plans, see `search.planning.improvement`.
        consistent_beliefs: whether to exclude plans after which an agent has inconsistent beliefs, see `StateSpace`.
        verify: whether the reference validates plans, and checks the result that there is none.
    """

    limits: Limits | None = None
    anytime: bool = False
    consistent_beliefs: bool = False
    verify: bool = True

    @property
    def active_limits(self) -> Limits:
        """The limits, or else the default ones."""
        return self.limits or Limits()


DEFAULTS = SearchOptions()
