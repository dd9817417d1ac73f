"""The base heuristic that a learned model corrects."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from epigym.features.relaxation import Relaxation
from epigym.space.space import StateSpace

Base = Literal["none", "h_ff", "h_add"]

PENALTY = {"h_ff": 8, "h_add": 20}
"""What a subgoal that the relaxation does not reach counts. The costs of h_add are larger than the actions of h_ff."""


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
