"""The training target: distances in steps, mapped linearly into [0, 1] (paper, section 3.4 and Table 8)."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf

import torch
from torch import Tensor

from epigym.errors import EpigymError


@dataclass(frozen=True, slots=True)
class Target:
    """The map d̃ = α d + β from steps to the output of the regressor, and back.

    Attributes:
        max_distance: D_max; larger distances count as this one.
        alpha: slope α.
        beta: intercept β, also the margin that the output keeps from 0 and 1.

    Raises:
        EpigymError: when the slope is not a positive number, or another value is not a number from 0 on.
    """

    max_distance: int
    alpha: float
    beta: float

    def __post_init__(self) -> None:
        """Check that outputs mean distances."""
        for name in ("max_distance", "alpha", "beta"):
            value = getattr(self, name)
            if not (isinstance(value, int | float) and 0 <= value < inf) or (name == "alpha" and value == 0):
                least = "above 0" if name == "alpha" else "from 0 on"
                raise EpigymError(f"target.{name} is {value!r}, expected a finite number {least}")

    @classmethod
    def between(cls, max_distance: int, margin: float) -> Target:
        """The map of [0, max_distance] to [margin, 1 - margin].

        Raises:
            EpigymError: when there is no such map.
        """
        if max_distance < 1 or not 0 <= margin < 0.5:
            raise EpigymError(f"expected max_distance >= 1 and 0 <= margin < 0.5, got {max_distance} and {margin}")
        return cls(max_distance, (1 - 2 * margin) / max_distance, margin)

    def normalise(self, steps: Tensor) -> Tensor:
        """The targets float[k] of distances in steps, float[k]."""
        return self.alpha * torch.clamp(steps, max=self.max_distance) + self.beta

    def steps(self, output: Tensor) -> Tensor:
        """The distances in steps, float[k], that outputs of the regressor, float[k], mean."""
        return (output - self.beta) / self.alpha
