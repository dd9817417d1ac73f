"""The options of a search."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from search.agents.limits import Limits

Verify = Literal["bounded", "whole"]
"""How much the reference verifies, where it verifies at all; see `SearchOptions`."""


@dataclass(frozen=True, slots=True)
class SearchOptions:
    """The options of a search, as plain data that can be pickled.

    Attributes:
        limits: the limits, enforced from outside a separate process; None to search in this process with the default
            limits, which agents check between expansions.
        anytime: whether to continue towards shorter plans, see `search.planning.improvement`.
        consistent_beliefs: whether to exclude plans after which an agent has inconsistent beliefs, see `StateSpace`.
        verify: how much the reference verifies: `bounded`, plans and, within bounds, the result that there is none, see
            `search.planning.proofs`; `whole`, that result without bounds and time limit; or `none`.
        shorten: whether to shorten plans that are not proved to be shortest with a fifth of the search's work, see
            `search.planning.shortening`.
    """

    limits: Limits | None = None
    anytime: bool = False
    consistent_beliefs: bool = False
    verify: Literal["none", Verify] = "bounded"
    shorten: bool = True

    @property
    def active_limits(self) -> Limits:
        """The limits, or else the default ones."""
        return self.limits or Limits()


DEFAULTS = SearchOptions()
