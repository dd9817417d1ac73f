"""What a heuristic is."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
from numpy.typing import NDArray


class Heuristic(ABC):
    """Estimates how far e-states are from a goal; made for one state space, which is its first argument.

    Attributes:
        name: in messages and, where nothing else is said, in tables.
        checkpoint: the file a learned heuristic was read from, empty for any other.
    """

    name: str = "own"
    checkpoint: str = ""

    @abstractmethod
    def score(self, ids: NDArray[np.int32]) -> NDArray[np.float64]:
        """float64[k]: a score for each of the e-states `ids` (int32[k]), in steps where the heuristic knows steps.

        The lower the better; infinity puts an e-state last.
        """
