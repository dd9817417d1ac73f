"""Aggregates over problems, as in the paper's tables, and statistical tests."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

_RESAMPLES = 2000
_LEVEL = 0.95
AGILE_SECONDS: Final = 300.0
"""Plans that take as long or longer have an agile score of 0, those of at most a second one of 1."""


class Spread(NamedTuple):
    """An interquartile mean with the interquartile range: `mean ± range`."""

    mean: float
    range: float


def iqm(values: Sequence[float]) -> Spread:
    """The mean of the values within the quartiles, and the distance of the quartiles.

    Quartiles are linearly interpolated and belong to the range, which reproduces the paper's tables exactly. Of two
    values none lies within the quartiles; the result is their mean.

    Raises:
        ValueError: when there are no values.
    """
    if not values:
        raise ValueError("no values to aggregate")
    low, high = np.quantile(values, [0.25, 0.75])
    return Spread(float(interquartile_mean(np.array(values))), float(high - low))


def interquartile_mean(samples: NDArray[np.float64], axis: int = -1) -> NDArray[np.float64]:
    """The means of the values within the quartiles along an axis."""
    low, high = np.quantile(samples, [0.25, 0.75], axis=axis, keepdims=True)
    within = (low <= samples) & (samples <= high)
    within |= ~within.any(axis=axis, keepdims=True)
    means: NDArray[np.float64] = np.mean(samples, axis=axis, where=within)
    return means


def bootstrap(values: Sequence[float], statistic: Callable[..., Any]) -> tuple[float, float]:
    """The 95 % percentile bootstrap interval of a statistic along an axis, from 2000 resamples, the same each time."""
    if len(values) == 1:  # SciPy has no interval for a single value
        return values[0], values[0]
    from scipy import stats

    found = stats.bootstrap(
        (values,),
        statistic,
        vectorized=True,
        method="percentile",
        n_resamples=_RESAMPLES,
        confidence_level=_LEVEL,
        rng=np.random.default_rng(0),
    )
    low, high = found.confidence_interval
    return float(low), float(high)


def wilson(successes: int, trials: int) -> tuple[float, float]:
    """The 95 % Wilson score interval of a share, which is not a point where all trials or none succeed."""
    from scipy import stats

    found = stats.binomtest(successes, trials).proportion_ci(_LEVEL, method="wilson")
    return float(found.low), float(found.high)


def mcnemar(first: int, second: int) -> float:
    """The two-sided p-value of the exact McNemar test for the numbers of problems that only one of two answered."""
    from scipy import stats  # takes a second

    return float(stats.binomtest(first, first + second).pvalue) if first + second else 1.0


def score_lengths(lengths: Mapping[str, Mapping[str, float]]) -> dict[str, float]:
    """The satisficing scores of the International Planning Competition, Σ C* / C.

    Args:
        lengths: C by planner and problem, 0 counts as 1; C* is the shortest one of a problem.
    """
    shortest: dict[str, float] = {}
    for found in lengths.values():
        for problem, length in found.items():
            shortest[problem] = min(length, shortest.get(problem, length))
    return {
        planner: sum((shortest[problem] or 1) / (length or 1) for problem, length in found.items())
        for planner, found in lengths.items()
    }


def score_seconds(seconds: float) -> float:
    """The agile score of the International Planning Competition: 1 − log seconds / log AGILE_SECONDS, in [0, 1]."""
    return min(1.0, max(0.0, 1 - math.log(max(seconds, 1.0)) / math.log(AGILE_SECONDS)))
