"""Diagnosis of the values of a model on problems: whether they differ, order plans, and rest on known inputs."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from statistics import fmean, median
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from scipy.stats import spearmanr

from epigym.space.space import StateSpace
from search.agents.best_first import STEP

FIRST: Final = 200
"""Number of e-states, breadth first from the initial one, whose values are compared."""


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """Values of a model on problems, one entry for each.

    Attributes:
        inputs: `types` or `identifiers`, the kind of inputs that a model can know.
        constant: whether the first e-states all have the same value, or all a bound of the model's values.
        ranks: rank correlation (Spearman's) of the values along the shortest plan found with the number of actions
            left, 0 if they are equal; None without a plan of two actions.
        unknown: share of the types or identifiers of the first e-states that the model does not know.
    """

    inputs: str
    constant: tuple[bool, ...]
    ranks: tuple[float | None, ...]
    unknown: tuple[float, ...]

    @property
    def rank(self) -> float | None:
        """The median rank correlation; None without a plan."""
        found = [one for one in self.ranks if one is not None]
        return median(found) if found else None

    def describe(self) -> str:
        """The diagnosis in words."""
        count = sum(self.constant)
        says = ", where it says nothing" if count else ""
        order = "" if self.rank is None else f"; rank correlation with the actions left {self.rank:.2f}"
        return (
            f"its values are constant on {count} of {len(self.constant)}{says}{order}; "
            f"{fmean(self.unknown):.0%} of the {self.inputs} are unknown to it"
        )

    def to_dict(self) -> dict[str, Any]:
        """Everything as JSON values."""
        return asdict(self)


def list_first(space: StateSpace, most: int = FIRST) -> NDArray[np.int32]:
    """int32[k]: the first e-states of a fresh state space, breadth first, at most so many."""
    expanded = 0
    while expanded < len(space) < most:
        space.expand([expanded])
        expanded += 1
    return np.arange(min(len(space), most), dtype=np.int32)


def is_constant(values: NDArray[np.floating], highest: float = np.inf) -> bool:
    """Whether values say nothing to a search, which compares them in thousandths.

    Args:
        values: float[k], before they are calibrated to steps, which may be equal where values differ.
        highest: the largest value that the model can have; the smallest is 0.

    Returns:
        Whether all are equal, or each is one of these bounds.
    """
    seen = np.rint(STEP * values)
    return bool((seen == seen[0]).all() or np.isin(seen, np.rint([0.0, STEP * highest])).all())


def correlate_ranks(values: NDArray[np.floating], steps: NDArray[np.integer]) -> float:
    """Spearman's rank correlation of two columns of k numbers each; 0 if one of them is constant."""
    if len(np.unique(values)) == 1 or len(np.unique(steps)) == 1:
        return 0.0
    return float(spearmanr(values, steps).statistic)


def correlate_along(values: NDArray[np.float64]) -> float | None:
    """The rank correlation of the values along a plan, float64[n + 1], with the actions left; None if n is below 2."""
    return correlate_ranks(values, np.arange(len(values))[::-1]) if len(values) > 2 else None
