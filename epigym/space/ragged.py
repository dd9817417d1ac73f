"""Flat ragged arrays: rows of different lengths laid end to end, found through a pointer array."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray


def pointers(lengths: NDArray[np.integer]) -> NDArray[np.int64]:
    """int64[k + 1]: where each of k rows starts, and the total length at the end."""
    result = np.zeros(len(lengths) + 1, dtype=np.int64)
    np.cumsum(lengths, out=result[1:])
    return result


def join_pointers(ptrs: Iterable[NDArray[np.integer]]) -> NDArray[np.int64]:
    """The pointer array of several tables, end to end."""
    return pointers(np.concatenate([lengths(ptr) for ptr in ptrs]))


def lengths(ptr: NDArray[np.integer]) -> NDArray[np.int64]:
    """int64[k]: the lengths of the k rows behind a pointer array of any integer type."""
    wide: NDArray[np.int64] = ptr.astype(np.int64)
    return wide[1:] - wide[:-1]


def positions(ptr: NDArray[np.integer], rows: NDArray[np.integer]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Where the elements of some rows lie in the flat array.

    Args:
        ptr: int[k + 1], the pointer array.
        rows: int[r], the rows wanted, in any order.

    Returns:
        int64[t], positions of all elements of those rows in order; int64[r], the lengths of the rows.
    """
    starts = ptr[rows].astype(np.int64)
    counts = ptr[rows + 1] - starts
    shifts = np.repeat(starts - pointers(counts)[:-1], counts)
    return shifts + np.arange(len(shifts)), counts
