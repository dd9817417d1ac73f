"""Values that are kept in memory, the newest as long as there is room."""

from __future__ import annotations

import atexit
from typing import Generic, TypeVar

V = TypeVar("V")


class Newest(Generic[V]):
    """The values asked for or put in last, as many as fit.

    They are let go before the interpreter ends, as objects of the core have to be.

    Args:
        most: bytes that the values may take together.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._kept: dict[str, tuple[V, int]] = {}  # the newest last
        atexit.register(self.forget)

    def get(self, key: str) -> V | None:
        """The value of a key, if it is kept."""
        if key not in self._kept:
            return None
        self._kept[key] = self._kept.pop(key)
        return self._kept[key][0]

    def put(self, key: str, value: V, nbytes: int) -> None:
        """Keep a value that takes `nbytes`, if there is room for it when the oldest have given way."""
        self._kept.pop(key, None)
        if nbytes > self._most:
            return
        self._kept[key] = value, nbytes
        total = sum(size for _, size in self._kept.values())
        while total > self._most:
            total -= self._kept.pop(next(iter(self._kept)))[1]

    def forget(self) -> None:
        """Keep nothing any more."""
        self._kept.clear()
