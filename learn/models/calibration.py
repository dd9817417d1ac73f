"""Calibration: a monotone map from the values of a model to steps, fitted to e-states with known distances."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Calibration:
    """A map from values to steps: linear between points, with slope 1 outside of them, at least 0.

    Without points it only raises values to 0.

    Attributes:
        values: values of the points, strictly ascending.
        steps: steps of the points, not descending.

    Raises:
        ValueError: when the points are not of this form.
    """

    values: Sequence[float] = ()
    steps: Sequence[float] = ()

    def __post_init__(self) -> None:
        """Check the points."""
        values, steps = np.asarray(self.values, dtype=np.float64), np.asarray(self.steps, dtype=np.float64)
        is_map = len(values) == len(steps) and (np.diff(values) > 0).all() and (np.diff(steps) >= 0).all()
        if not is_map or not np.isfinite([*values, *steps]).all():
            raise ValueError("steps is no monotone map from values to steps")
        object.__setattr__(self, "values", tuple(values.tolist()))
        object.__setattr__(self, "steps", tuple(steps.tolist()))

    def __call__(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """float64[k]: the steps for values, float64[k]."""
        steps = values
        if len(self.values):
            beyond = values - np.clip(values, self.values[0], self.values[-1])
            steps = np.interp(values, self.values, self.steps) + beyond
        return np.maximum(steps, 0.0)


def fit_calibration(values: NDArray[np.float64], steps: NDArray[np.float64]) -> Calibration:
    """Fit the monotone map with the least squared error (isotonic regression).

    Args:
        values: float64[k], values of a model.
        steps: float64[k], distances of the same e-states.
    """
    from scipy.optimize import isotonic_regression

    known, places = np.unique(values, return_inverse=True)
    if not len(known):
        return Calibration()
    weights = np.bincount(places)
    fitted = isotonic_regression(np.bincount(places, steps) / weights, weights=weights).x
    is_end = np.ones(len(known), dtype=np.bool_)  # first or last point of a run of equal steps
    is_end[1:-1] = (fitted[1:-1] != fitted[:-2]) | (fitted[1:-1] != fitted[2:])
    return Calibration(known[is_end].tolist(), fitted[is_end].tolist())
