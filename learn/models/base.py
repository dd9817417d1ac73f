"""Base heuristics of learned models, and their correction by a network."""

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
"""The cost of a subgoal that the relaxation does not reach, larger for h_add, whose costs are larger."""

Values = TypeVar("Values", NDArray[np.float64], "Tensor")


def correct(base: Base, costs: Values, correction: Values) -> Values:
    """float[k]: values of the base heuristic with the corrections of a network.

    For h_ff the value is the sum cost + c. For h_add it is cost + c (cost + 1) / (|c| + cost + 1), which differs from
    the cost by less than cost + 1: on graphs much larger than those in training, corrections are large, and the bound
    preserves the order of the base heuristic. On validation problems h_ff solves more with sums, h_add with bounded
    corrections, see docs/neural.md.

    Args:
        base: the base heuristic.
        costs: float[k], its costs in steps; 0 without a base heuristic.
        correction: float[k], output of the network in steps.
    """
    if base != "h_add":
        return costs + correction
    most = costs + 1
    return costs + correction * most / (abs(correction) + most)


class BaseHeuristic:
    """The value of the relaxation that a model corrects, finite for every e-state.

    Args:
        space: the state space.
        base: the heuristic; `none` is 0 everywhere.

    Attributes:
        relaxation: relaxation of the space; None for `none`.
    """

    def __init__(self, space: StateSpace, base: Base) -> None:
        self._base = base
        self.relaxation = None if base == "none" else Relaxation(space)

    def __call__(self, ids: NDArray[np.integer]) -> NDArray[np.float64]:
        """float64[k]: the costs of `ids` (int32[k]) in steps, with `PENALTY` for each unreached subgoal."""
        if self.relaxation is None:
            return np.zeros(len(ids))
        relaxed = self.relaxation(ids)
        reached = relaxed.cost if self._base == "h_add" else relaxed.actions.astype(np.float64)
        return reached + PENALTY[self._base] * relaxed.unreached

    def correct(self, ids: NDArray[np.integer], correction: NDArray[np.floating]) -> NDArray[np.float64]:
        """float64[k]: the values of `ids` (int32[k]) with the corrections of a network, float[k]."""
        return correct(self._base, self(ids), correction.astype(np.float64))
