"""Agents and heuristics that never come to an end by themselves."""

import os
import signal
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from epigym.space.space import StateSpace
from search.agents.agent import Agent, Steps
from search.agents.run import SearchRun
from search.heuristics.heuristic import Heuristic

BLOCK = 1 << 28
"""Bytes of each of the blocks that who `fills` takes."""

_held: list[bytearray] = []


def stop(started: str, fills: int) -> None:
    """Write the process id into a file, fill so many blocks of memory, and wait until killed."""
    Path(started).write_text(str(os.getpid()))
    for _ in range(fills):
        _held.append(bytearray(b"x") * BLOCK)
    while True:
        signal.pause()


class Stuck(Heuristic):
    """Counts goal count, until it is stuck while it is built, or in the evaluation with this number."""

    def __init__(self, space: StateSpace, started: str, at: int = 0, fills: int = 0):
        self._truth, self._started, self._fills = space.query(space.task.goal), started, fills
        self._left = at
        if not at:
            stop(started, fills)

    def score(self, ids: NDArray[np.int32]) -> NDArray[np.float64]:
        """float64[k]."""
        self._left -= 1
        if self._left == 0:
            stop(self._started, self._fills)
        return np.sum(~self._truth(ids), axis=1, dtype=np.float64)


class Deaf(Agent):
    """Does not look at limits."""

    def __init__(self, started: str, fills: int = 0):
        self._started, self._fills = started, fills

    def search(self, run: SearchRun) -> Steps:
        yield
        stop(self._started, self._fills)
        raise AssertionError


class UnportableError(Exception):
    """Cannot be made again from its arguments."""

    def __init__(self, one: int, other: int):
        super().__init__(f"{one} and {other}")


class Failing(Heuristic):
    """Raises something when it is built."""

    def __init__(self, space: StateSpace, what: str):
        raise {"value": ValueError("three"), "memory": MemoryError(), "unportable": UnportableError(1, 2)}[what]

    def score(self, ids: NDArray[np.int32]) -> NDArray[np.float64]:
        """Never."""
        raise AssertionError
