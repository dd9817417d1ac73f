"""A table to which rows are appended a few at a time."""

from __future__ import annotations

from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

_T = TypeVar("_T", bound=np.generic)


class GrowingTable(Generic[_T]):
    """Rows of equal length in one array that grows by doubling, so that appending copies every row a few times at most.

    Args:
        width: length of a row.
        dtype: of the entries.
    """

    def __init__(self, width: int, dtype: type[_T]) -> None:
        self._buffer = np.empty((0, width), dtype)
        self._count = 0

    def __len__(self) -> int:
        """Number of rows."""
        return self._count

    @property
    def rows(self) -> NDArray[_T]:
        """[n, width]: a view of the rows appended so far."""
        return self._buffer[: self._count]

    def append(self, rows: NDArray[_T]) -> None:
        """Append rows, [k, width]."""
        end = self._count + len(rows)
        if end > len(self._buffer):
            grown = np.empty((2 * end, self._buffer.shape[1]), self._buffer.dtype)
            grown[: self._count] = self.rows
            self._buffer = grown
        self._buffer[self._count : end] = rows
        self._count = end
