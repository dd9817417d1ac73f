"""The base heuristic that a learned model corrects, and how a network corrects it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from epigym.features.relaxation import Relaxation
from epigym.space.space import StateSpace

if TYPE_CHECKING:
    from torch import Tensor

Base = Literal["none", "h_ff", "h_add"]

PENALTY = {"h_ff": 8, "h_add": 20}
"""What a subgoal that the relaxation does not reach counts. The costs of h_add are larger than the actions of h_ff."""

Values = TypeVar("Values", NDArray[np.float64], "Tensor")


def correct(base: Base, costs: Values, correction: Values) -> Values:
    """float[k]: costs of the base heuristic with the corrections of a network.

    With h_ff they add up. With h_add the value is cost + c (cost + 1) / (|c| + cost + 1), which differs from the cost
    by less than cost + 1: on graphs much larger than those of the training corrections are large, and then the order of
    the base heuristic prevails. On validation problems h_ff solves more with sums, h_add with bounded corrections, see
    docs/neural.md.

    Args:
        base: which heuristic.
        costs: float[k], its costs in steps; 0 without a base.
        correction: float[k], in steps.
    """
    if base != "h_add":
        return costs + correction
    most = costs + 1
    return costs + correction * most / (abs(correction) + most)


class BaseHeuristic:
    """The cost of the relaxation that a model corrects, finite for every e-state.

    Args:
        space: where the e-states live.
        base: which cost; `none` is 0 everywhere.

    Attributes:
        relaxation: of the space; None where there is no base.
    """

    def __init__(self, space: StateSpace, base: Base) -> None:
        self._base = base
        self.relaxation = None if base == "none" else Relaxation(space)

    def __call__(self, ids: NDArray[np.integer]) -> NDArray[np.float64]:
        """float64[k]: the costs of `ids` (int32[k]) in steps, where a subgoal out of reach counts `PENALTY`."""
        if self.relaxation is None:
            return np.zeros(len(ids))
        relaxed = self.relaxation(ids)
        reached = relaxed.cost if self._base == "h_add" else relaxed.actions.astype(np.float64)
        return reached + PENALTY[self._base] * relaxed.unreached

    def correct(self, ids: NDArray[np.integer], correction: NDArray[np.floating]) -> NDArray[np.float64]:
        """float64[k]: the values of `ids` (int32[k]) with the corrections of a network, float[k]."""
        return correct(self._base, self(ids), correction.astype(np.float64))
