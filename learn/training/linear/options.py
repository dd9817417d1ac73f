"""The settings of the training of linear models."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from epigym.config.values import Count, Natural


@dataclass(frozen=True, kw_only=True)
class LinearOptions:
    """The fitting and selection of linear models, see `conf/train_linear.yaml`."""

    validation_instances: Count
    nodes: Count
    features: Count
    iterations: list[Literal[0, 1, 2]]
    worlds: list[bool]
    losses: list[Literal["ranking", "regression"]]
    l2: list[float]
    bases: list[Literal["h_ff", "h_add"]]
    residual_l2: list[float]
    aggregation: Natural
    larger_instances: Count
