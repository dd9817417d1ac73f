"""Aggregates over problems, as the paper's tables have them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

_RESAMPLES = 2000
_LEVEL = 0.95


class Spread(NamedTuple):
    """An interquartile mean with the interquartile range: `mean ± range`."""

    mean: float
    range: float


def iqm(values: Sequence[float] | NDArray[np.float64]) -> Spread:
    """The mean of the values within the quartiles, and the distance of the quartiles.

    Quartiles are linearly interpolated and belong to the range; so the paper's tables come out exactly. Two
    values have none within their quartiles: their mean is taken.

    Raises:
        ValueError: when there are no values.
    """
    array = np.asarray(values, dtype=np.float64)
    if array.size == 0:
        raise ValueError("no values to aggregate")
    low, high = np.quantile(array, [0.25, 0.75])
    within = array[(low <= array) & (array <= high)]
    return Spread(float(within.mean() if within.size else array.mean()), float(high - low))


def bootstrap(
    values: Sequence[float], statistic: Callable[[NDArray[np.float64]], float], seed: int = 0
) -> tuple[float, float]:
    """The 95 % percentile bootstrap interval of a statistic, from 2000 resamples.

    Args:
        values: one for each problem.
        statistic: from float64[n] to a number.
        seed: of the resamples; equal seeds give equal intervals.
    """
    array = np.asarray(values, dtype=np.float64)
    picks = np.random.default_rng(seed).integers(len(array), size=(_RESAMPLES, len(array)))
    low, high = np.quantile([statistic(array[pick]) for pick in picks], [(1 - _LEVEL) / 2, (1 + _LEVEL) / 2])
    return float(low), float(high)
