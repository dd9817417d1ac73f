"""Linear models over relational features, and their files; without PyTorch."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray

from epigym.config.values import make
from epigym.features.counts import RelationalFeatures
from epigym.features.relaxation import Relaxation
from epigym.features.types import FeatureTypes
from epigym.space.space import StateSpace
from learn.models.base import Base, BaseHeuristic
from learn.models.files import Content, get_column
from learn.models.model import Model
from learn.models.scoring import Device

LINEAR = "linear"
"""The kind of linear models."""


@dataclass(frozen=True, slots=True)
class Representation:
    """The feature set of a model.

    Attributes:
        iterations: 0 to 2, number of Weisfeiler–Leman iterations, see `epigym.features.counts`.
        worlds: whether features of worlds are included.
        base: the base heuristic that the model corrects.
    """

    iterations: Literal[0, 1, 2]
    worlds: bool = False
    base: Base = "none"

    def __str__(self) -> str:
        """Short, for tables."""
        return f"wl{self.iterations}{'+worlds' if self.worlds else ''}{'' if self.base == 'none' else f'+{self.base}'}"


class Observed:
    """The features and the base heuristic of a model on a state space.

    Args:
        space: state space whose task has the goal.
        representation: the feature set.
        types: types of the space's task.
    """

    def __init__(self, space: StateSpace, representation: Representation, types: FeatureTypes | None = None) -> None:
        tables = (types or FeatureTypes(space.task)).tables
        self.features = RelationalFeatures(space, tables, representation.iterations, representation.worlds)
        self.base = BaseHeuristic(space, representation.base)


@dataclass(frozen=True, kw_only=True)
class LinearModel(Model):
    """A linear model: a weighted sum of features and a base heuristic, plus a constant.

    Attributes:
        representation: the feature set.
        colours: uint64[n], the features, ascending.
        weights: float64[n], weights of the features.
        seen: int64[n], number of training e-states with each feature.
        base_weight: weight of the base heuristic.
        constant: added to every score.
        definitions: texts of the features and of those mentioned in them, by colour.
    """

    kind: str = LINEAR
    representation: Representation
    colours: NDArray[np.uint64]
    weights: NDArray[np.float64]
    seen: NDArray[np.int64]
    base_weight: float = 0.0
    constant: float = 0.0
    definitions: Mapping[int, str] = field(default_factory=dict)

    def make_scorer(
        self, space: StateSpace, device: Device = "auto", threads: int = 1, *, types: FeatureTypes | None = None
    ) -> LinearScorer:
        """Bind the model to a state space, see `Model.make_scorer`; it needs neither a GPU nor threads."""
        return LinearScorer(space, self, types)

    def weigh(
        self, ptr: NDArray[np.int64], colour: NDArray[np.uint64], value: NDArray[np.float32]
    ) -> NDArray[np.float64]:
        """float64[k]: the weighted sums of k rows of features; unknown features have weight 0."""
        rows = len(ptr) - 1
        if not len(self.colours):
            return np.zeros(rows)
        place = np.minimum(np.searchsorted(self.colours, colour), len(self.colours) - 1)
        weight = np.where(self.colours[place] == colour, self.weights[place], 0.0)
        return np.bincount(np.repeat(np.arange(rows), np.diff(ptr)), weight * value, rows).astype(np.float64)

    def _pack(self) -> Content:
        texts = {f"{colour:016x}": text for colour, text in sorted(self.definitions.items())}
        values = {
            "settings": {"iterations": self.representation.iterations, "worlds": self.representation.worlds},
            "base": self.representation.base,
            "base_weight": self.base_weight,
            "constant": self.constant,
        }
        tensors: dict[str, NDArray[Any]] = {"colours": self.colours, "weights": self.weights, "seen": self.seen}
        return Content(values, tensors | {"texts": np.frombuffer(json.dumps(texts).encode(), dtype=np.uint8)})

    @classmethod
    def _unpack(cls, content: Content, **common: Any) -> Self:
        values, tensors = content
        representation = {**values["settings"], "base": values["base"]}
        columns = (("colours", "uint64"), ("weights", "float64"), ("seen", "int64"), ("texts", "uint8"))
        colours, weights, seen, texts = (get_column(tensors, *column) for column in columns)
        if not len(colours) == len(weights) == len(seen):
            raise ValueError("colours, weights and counts have different lengths")
        if not (colours[1:] > colours[:-1]).all():
            raise ValueError("colours are not unique and ascending")
        if (seen < 0).any():
            raise ValueError("a count is negative")
        base_weight, constant = float(values["base_weight"]), float(values["constant"])
        if not np.isfinite([base_weight, constant]).all():
            raise ValueError("base_weight or constant is no finite number")
        return cls(
            **common,
            representation=make(Representation, representation, "settings."),
            colours=colours,
            weights=weights,
            seen=seen,
            base_weight=base_weight,
            constant=constant,
            definitions={int(colour, 16): str(text) for colour, text in json.loads(texts.tobytes()).items()},
        )


class LinearScorer:
    """A linear model bound to a state space.

    Args:
        space: the state space.
        model: the model.
        types: types of the space's task.
    """

    def __init__(self, space: StateSpace, model: LinearModel, types: FeatureTypes | None = None) -> None:
        self.steps = model.steps
        self._model = model
        self._observed = Observed(space, model.representation, types)

    @property
    def relaxation(self) -> Relaxation | None:
        """The relaxation that the model corrects, if any."""
        return self._observed.base.relaxation

    def rate_known(self, ids: NDArray[np.int32]) -> float:
        """The share of the distinct features of `ids` (int32[k]) that the model knows; 1 if there are no features."""
        colours = {*self._observed.features(ids).colour.tolist()}
        return len(colours.intersection(self._model.colours.tolist())) / len(colours) if colours else 1.0

    def score(self, ids: NDArray[np.int32]) -> NDArray[np.float64]:
        """float64[k]: scores of `ids` (int32[k]), in steps."""
        base = self._model.base_weight * self._observed.base(ids)
        return self._model.weigh(*self._observed.features(ids)) + base + self._model.constant
