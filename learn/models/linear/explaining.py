"""Decomposition of the score of a linear model into features."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from epigym.features.description import Description
from epigym.features.texts import names, texts
from epigym.features.types import FeatureTypes
from epigym.space.space import StateSpace
from learn.models.linear.model import LinearModel, Observed


class Part(NamedTuple):
    """The contribution of a feature to a score.

    Attributes:
        colour: the feature.
        contribution: its weight times its value.
        weight: weight of the feature in the model; 0 if the model does not know it.
        value: value of the feature in the e-state.
        seen: number of training e-states with the feature.
    """

    colour: int
    contribution: float
    weight: float
    value: float
    seen: int


@dataclass(frozen=True, slots=True)
class Explanation:
    """A decomposed score.

    Attributes:
        parts: one for each feature of the e-state, by descending absolute contribution.
        known: number of these features that the model knows.
        base: value of the base heuristic; 0 without one.
        base_weight: weight of the base heuristic.
        constant: constant of the model.
        definitions: descriptions of the features and of those mentioned in them, by colour.
        names: the objects that each feature counts in the e-state, by the names of the task, by colour.
    """

    parts: list[Part]
    known: int
    base: float
    base_weight: float
    constant: float
    definitions: Mapping[int, Description]
    names: Mapping[int, Sequence[str]]

    @property
    def features(self) -> float:
        """The sum of all contributions of features."""
        return sum(part.contribution for part in self.parts)

    @property
    def relaxation(self) -> float:
        """The contribution of the base heuristic."""
        return self.base_weight * self.base

    @property
    def score(self) -> float:
        """The sum of all."""
        return self.features + self.relaxation + self.constant


def explain_linear(space: StateSpace, model: LinearModel, state: int, types: FeatureTypes) -> Explanation:
    """Decompose the model's score of an e-state.

    Args:
        space: the state space.
        model: the model.
        state: id of the e-state.
        types: types of the space's task.

    Raises:
        IndexError: when there is no such e-state.
    """
    ids = np.array([state], dtype=np.int32)
    seen_as = model.representation
    observed = Observed(space, seen_as, types)
    _, colours, values = observed.features(ids)
    known = {
        colour: (weight, seen)
        for colour, weight, seen in zip(
            model.colours.tolist(), model.weights.tolist(), model.seen.tolist(), strict=True
        )
    }
    parts = []
    for colour, value in zip(colours.tolist(), values.tolist(), strict=True):
        weight, seen = known.get(colour, (0.0, 0))
        parts.append(Part(colour, weight * value, weight, value, seen))
    return Explanation(
        parts=sorted(parts, key=lambda part: (-abs(part.contribution), part.colour)),
        known=sum(part.colour in known for part in parts),
        base=float(observed.base(ids)[0]),
        base_weight=model.base_weight,
        constant=model.constant,
        definitions=texts(space, types, seen_as.iterations, seen_as.worlds, ids),
        names=names(space, types, seen_as.iterations, seen_as.worlds, state),
    )
