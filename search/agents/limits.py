"""Limits that end a search cleanly, with what is known by then.

Agents look at them between expansions. What lies between, `search.processes.supervisor` sees from outside.
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
_BATCH_SECONDS = 0.1  # how long a batch of expansions may run before the limits are looked at again
_MEMORY_CHECK_SECONDS = 0.05


@dataclass(frozen=True, slots=True)
class Limits:
    """When to give up.

    Attributes:
        max_expanded: most nodes to expand; None for no limit.
        time_limit: seconds to build space and heuristic and to search; None for no limit.
        memory_limit: bytes of resident memory of the process that searches and of those below it, as a number or as
            text such as `8GiB`; None for 80 % of the memory that is free when the search starts.
    """

    max_expanded: int | None = None
    time_limit: float | None = 600.0
    memory_limit: int | str | None = None

    def start(self) -> Budget:
        """Start the clock."""
        return Budget(self)

    def after(self, seconds: float) -> Limits:
        """What is left when some seconds have passed."""
        return self if self.time_limit is None else replace(self, time_limit=max(self.time_limit - seconds, 0.0))


class Budget:
    """What is left of the limits of a running search."""

    def __init__(self, limits: Limits) -> None:
        self._start = perf_counter()
        self._max_expanded = sys.maxsize if limits.max_expanded is None else limits.max_expanded
        self._deadline = float("inf") if limits.time_limit is None else self._start + limits.time_limit
        self._memory_limit = limits.memory_limit
        # Asking for memory takes longer than many a search: by default only those that last are asked.
        self._next_memory_check = self._start + (_MEMORY_CHECK_SECONDS if limits.memory_limit is None else 0.0)
        self._out_of_memory = False

    @property
    def seconds(self) -> float:
        """Seconds since the start."""
        return perf_counter() - self._start

    @property
    def left(self) -> float:
        """Seconds that are left, not less than none; infinity without a limit."""
        return max(self._deadline - perf_counter(), 0.0)

    @contextmanager
    def pause(self) -> Iterator[None]:
        """Stop the clock for the time of a block."""
        start = perf_counter()
        yield
        gone = perf_counter() - start
        self._start += gone
        self._deadline += gone

    def check(self, expanded: int) -> SearchStatus | None:
        """The limit that ends the search now, after `expanded` expansions, or None."""
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
        """How many nodes may be expanded yet, after `expanded`."""
        return self._max_expanded - expanded

    def batch_size(self, expanded: int) -> int:
        """How many nodes may be expanded before the limits are looked at again (about 0.1 s of work).

        The first is expanded alone: what a node costs, microseconds or seconds, is not known before.
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
        limit: bytes, or text such as `512MiB` or `8GB` (powers of 1024), or None for 80 % of the free memory.

    Raises:
        LimitError: when the text is not an amount of memory.
    """
    if limit is None:
        return int(_FREE_SHARE * psutil.virtual_memory().available)
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([KMGT]?)(?:i?B)?\s*", str(limit), re.IGNORECASE)
    if match is None:
        raise LimitError(f"{limit!r} is not an amount of memory; write bytes, or a text such as 8GiB")
    return int(float(match[1]) * _UNITS[match[2].upper()])


def peak_bytes() -> int:
    """Peak resident memory of this process so far."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024
