"""What a heuristic is."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray


class Heuristic(Protocol):
    """Estimates how far e-states are from a goal; bound to one state space.

    Attributes:
        name: as in the registry.
        checkpoint: the file a learned heuristic was read from, empty for any other.
    """

    name: str
    checkpoint: str

    def score(self, ids: NDArray[np.int32]) -> NDArray[np.float64]:
        """float64[k]: a score for each of the e-states `ids` (int32[k]), in steps where the heuristic knows steps.

        The lower the better; infinity puts an e-state last.
        """
