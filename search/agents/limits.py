"""The limits of a search.

Agents check them between expansions; `search.processes.supervisor` enforces them from outside in between.
"""

from __future__ import annotations

import re
import resource
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from time import perf_counter

import psutil

from epigym.errors import LimitError
from search.agents.result import SearchStatus

_UNITS = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}
_FREE_SHARE = 0.8
_BATCH_SECONDS = 0.1  # of a batch of expansions between two checks of the limits
_MEMORY_CHECK_SECONDS = 0.05


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of a search.

    Attributes:
        max_expanded: the most e-states to expand; None for no limit.
        time_limit: seconds to build space and heuristic and to search; None for no limit.
        memory_limit: bytes of resident memory of the searching process and its children, as a number or as text such
            as `8GiB`; None for 80 % of the memory that is free when the search starts.
    """

    max_expanded: int | None = None
    time_limit: float | None = 600.0
    memory_limit: int | str | None = None

    def start(self) -> Budget:
        """Start the clock."""
        return Budget(self)

    def after(self, seconds: float) -> Limits:
        """The limits that remain after some seconds."""
        return self if self.time_limit is None else replace(self, time_limit=max(self.time_limit - seconds, 0.0))


class Budget:
    """The limits of a running search: `check` says whether one is exceeded."""

    def __init__(self, limits: Limits) -> None:
        self._start = perf_counter()
        self._max_expanded = sys.maxsize if limits.max_expanded is None else limits.max_expanded
        self._deadline = float("inf") if limits.time_limit is None else self._start + limits.time_limit
        self._memory_limit = limits.memory_limit
        # To read the memory takes longer than a short search: without a given limit, only long ones read it.
        self._next_memory_check = self._start + (_MEMORY_CHECK_SECONDS if limits.memory_limit is None else 0.0)
        self._out_of_memory = False

    @property
    def seconds(self) -> float:
        """Seconds since the start, without pauses."""
        return perf_counter() - self._start

    @property
    def left(self) -> float:
        """Seconds until the time limit, at least 0; infinity without a limit."""
        return max(self._deadline - perf_counter(), 0.0)

    @contextmanager
    def pause(self) -> Iterator[None]:
        """Stop the clock during a block."""
        start = perf_counter()
        yield
        pause = perf_counter() - start
        self._start += pause
        self._deadline += pause

    def check(self, expanded: int) -> SearchStatus | None:
        """The limit that is exceeded now, after `expanded` expansions, or None."""
        if expanded >= self._max_expanded:
            return SearchStatus.EXPANSION_LIMIT
        now = perf_counter()
        if now >= self._deadline:
            return SearchStatus.TIME_LIMIT
        if now >= self._next_memory_check:
            self._next_memory_check = now + _MEMORY_CHECK_SECONDS
            self._out_of_memory = self._process.memory_info().rss >= self._most_memory
        return SearchStatus.MEMORY_LIMIT if self._out_of_memory else None

    def expansions_left(self, expanded: int) -> int:
        """How many e-states may still be expanded, after `expanded` expansions."""
        return self._max_expanded - expanded

    def batch_size(self, expanded: int) -> int:
        """How many e-states to expand before the next check (about 0.1 s of work), after `expanded` expansions.

        The first e-state is expanded alone: the cost of one is unknown, microseconds or seconds.
        """
        affordable = int(expanded * _BATCH_SECONDS / max(self.seconds, 1e-9))
        return min(max(affordable, 1), self.expansions_left(expanded))

    @cached_property
    def _process(self) -> psutil.Process:
        return psutil.Process()

    @cached_property
    def _most_memory(self) -> int:
        return memory_bytes(self._memory_limit)


def memory_bytes(limit: int | str | None) -> int:
    """A memory limit in bytes.

    Args:
        limit: a number of bytes, or text such as `512MiB` or `8GB` (powers of 1024), or None for 80 % of the free
            memory.

    Raises:
        LimitError: when the text is not an amount of memory with its unit.
    """
    if limit is None:
        return int(_FREE_SHARE * psutil.virtual_memory().available)
    if isinstance(limit, int):
        return limit
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*(?:([KMGT])(?:i?B)?|B)\s*", limit, re.IGNORECASE)
    if match is None:
        reason = "has no unit" if re.fullmatch(r"\s*[\d_.]+\s*", limit) else "is not an amount of memory"
        raise LimitError(f"{limit!r} {reason}: write it as 8GiB")
    return int(float(match[1]) * _UNITS[(match[2] or "").upper()])


def peak_bytes() -> int:
    """Peak resident memory of this process so far."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024
