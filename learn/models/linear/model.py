"""Linear models over relational features, and their files; without PyTorch."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from epigym.config.values import make
from epigym.errors import CheckpointError, UsageError
from epigym.features.counts import RelationalFeatures
from epigym.features.relaxation import Relaxation
from epigym.features.types import FeatureTypes
from epigym.io.checksummed import add_checksum
from epigym.io.files import write_text
from epigym.space.space import StateSpace
from learn.models.base import Base, BaseHeuristic
from learn.models.calibration import Calibration
from learn.models.files import as_schema, read_model_file

FORMAT_VERSION = 3
"""Version of the file and of the features."""


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


@dataclass(frozen=True)
class LinearModel:
    """A linear model: a weighted sum of features and a base heuristic, plus a constant.

    Attributes:
        domain: training domain; `general` for several.
        representation: the feature set.
        colours: uint64[n], the features, ascending.
        weights: float64[n], weights of the features.
        seen: int64[n], number of training e-states with each feature.
        base_weight: weight of the base heuristic.
        constant: added to every score.
        definitions: texts of the features and of those mentioned in them, by colour.
        schema: colours of the predicates and action schemas in training.
        card: description of the training and its validation.
        steps: calibration of scores to steps.
    """

    domain: str
    representation: Representation
    colours: NDArray[np.uint64]
    weights: NDArray[np.float64]
    seen: NDArray[np.int64]
    base_weight: float = 0.0
    constant: float = 0.0
    definitions: Mapping[int, str] = field(default_factory=dict)
    schema: frozenset[int] = frozenset()
    card: Mapping[str, Any] = field(default_factory=dict)
    steps: Calibration = field(default_factory=Calibration)

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
        colours = np.unique(self._observed.features(ids).colour)
        return float(np.isin(colours, self._model.colours).mean()) if len(colours) else 1.0

    def score(self, ids: NDArray[np.int32]) -> NDArray[np.float64]:
        """float64[k]: scores of `ids` (int32[k]), in steps."""
        base = self._model.base_weight * self._observed.base(ids)
        return self._model.weigh(*self._observed.features(ids)) + base + self._model.constant


def write_model(model: LinearModel, path: str | os.PathLike[str]) -> None:
    """Write a model as JSON with one line per feature, by descending absolute weight.

    The line has the colour, the weight, the number of training e-states and the text of the feature. Features that are
    only mentioned in these texts follow.
    """
    colours, weights, seen = model.colours.tolist(), model.weights.tolist(), model.seen.tolist()
    order = np.argsort(-np.abs(model.weights), kind="stable").tolist()
    others = sorted(set(model.definitions) - set(colours))
    content = add_checksum(
        {
            "format_version": FORMAT_VERSION,
            "domain": model.domain,
            "representation": asdict(model.representation),
            "base_weight": model.base_weight,
            "constant": model.constant,
            "steps": [list(model.steps.values), list(model.steps.steps)],
            "card": dict(model.card),
            "schema": sorted(f"{colour:016x}" for colour in model.schema),
            "features": [
                [f"{colours[place]:016x}", weights[place], seen[place], model.definitions.get(colours[place], "")]
                for place in order
            ],
            "mentioned": {f"{colour:016x}": model.definitions[colour] for colour in others},
        }
    )
    write_text(path, "".join(_lines(content)))


def _lines(content: Mapping[str, Any]) -> Iterator[str]:
    yield "{\n"
    for name, value in content.items():
        if name not in ("features", "mentioned"):
            yield f" {json.dumps(name)}: {json.dumps(value)},\n"
    yield ' "features": [\n'
    yield ",\n".join(f"  {json.dumps(row)}" for row in content["features"])
    yield '\n ],\n "mentioned": {\n'
    yield ",\n".join(f"  {json.dumps(colour)}: {json.dumps(text)}" for colour, text in content["mentioned"].items())
    yield "\n }\n}\n"


def read_model(path: str | os.PathLike[str]) -> LinearModel:
    """The model of a file of `write_model`.

    Raises:
        CheckpointError: when it is no such file, damaged, one of another version, or has an entry that is not a finite
            number, or a negative count.
        MissingError: when there is none.
    """
    try:
        data = read_model_file(path, FORMAT_VERSION)
        rows = sorted(
            (
                int(colour, 16),
                _finite(weight, f"the weight of feature {colour}"),
                _count(seen, f"the count of feature {colour}"),
                str(text),
            )
            for colour, weight, seen, text in data["features"]
        )
        return LinearModel(
            domain=str(data["domain"]),
            representation=make(Representation, data["representation"], "representation."),
            colours=np.array([row[0] for row in rows], dtype=np.uint64),
            weights=np.array([row[1] for row in rows], dtype=np.float64),
            seen=np.array([row[2] for row in rows], dtype=np.int64),
            definitions={row[0]: row[3] for row in rows if row[3]}
            | {int(colour, 16): str(text) for colour, text in data["mentioned"].items()},
            base_weight=_finite(data["base_weight"], "base_weight"),
            constant=_finite(data["constant"], "constant"),
            schema=as_schema(data["schema"]),
            card=dict(data["card"]),
            steps=Calibration(*data["steps"]),
        )
    except UsageError as error:
        raise CheckpointError(f"{path}: no linear model: {error}: train it again") from None
    except (AttributeError, KeyError, OverflowError, TypeError, ValueError) as error:
        raise CheckpointError(f"{path}: no linear model: {error!r}") from None


def read_schema(path: str | os.PathLike[str]) -> frozenset[int]:
    """Read only the schema from the beginning of a file of `write_model`; errors as `read_model`."""
    with suppress(OSError, TypeError, ValueError), open(path, encoding="utf-8") as file:
        for line in file:
            name, _, value = line.rstrip(",\n").partition(": ")
            if name == ' "schema"':
                return as_schema(json.loads(value))
    return read_model(path).schema


def _finite(value: Any, entry: str) -> float:
    if type(value) not in (int, float) or not abs(value) <= sys.float_info.max:
        raise UsageError(f"{entry} is {value!r}, expected a finite number")
    return float(value)


def _count(value: Any, entry: str) -> int:
    if type(value) is not int or not 0 <= value < 2**63:
        raise UsageError(f"{entry} is {value!r}, expected a whole number from 0 on")
    return value
