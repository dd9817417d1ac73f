"""Flat ragged arrays: rows of different lengths laid end to end, found through a pointer array."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def pointers(lengths: NDArray[np.integer]) -> NDArray[np.int64]:
    """int64[k + 1]: where each of k rows starts, and the total length at the end."""
    result = np.zeros(len(lengths) + 1, dtype=np.int64)
    np.cumsum(lengths, out=result[1:])
    return result


def positions(ptr: NDArray[np.int64], rows: NDArray[np.integer]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Where the elements of some rows lie in the flat array.

    Args:
        ptr: int64[k + 1], the pointer array.
        rows: int[r], the rows wanted, in any order.

    Returns:
        int64[t], positions of all elements of those rows in order; int64[r], the lengths of the rows.
    """
    starts = ptr[rows]
    lengths = ptr[np.asarray(rows) + 1] - starts
    shifts = np.repeat(starts - pointers(lengths)[:-1], lengths)
    return shifts + np.arange(len(shifts)), lengths
