"""Fitting linear models: an order of pairs by logistic loss, or distances by least squares."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.sparse import csr_array

from epigym.features.types import FeatureTypes
from learn.data.labels import make_targets
from learn.data.pairs import Pairs
from learn.models.linear.model import LinearModel, Observed, Representation

Loss = Literal["ranking", "regression"]
Floats = NDArray[np.float64]

_LEAST_PROBLEMS = 2  # in which a feature has to occur
_ITERATIONS = 200


@dataclass(frozen=True)
class TrainingData:
    """Pairs of e-states of many problems as a model sees them, and the distances of these e-states.

    Attributes:
        representation: what it sees.
        colours: uint64[n], the features that occur in several problems, ascending.
        table: float64[k, n], how often each occurs in an e-state.
        base: float64[k], what the relaxation says of each.
        better: int64[p], of each pair the e-state that is preferred.
        worse: int64[p], the other.
        weight: float64[p], of each pair, together 1: each problem counts the same, and each expansion in it.
        target: float64[k], actions to the nearest goal; what has none is farther than all others of its problem.
        importance: float64[k], of each e-state: each problem counts the same.
    """

    representation: Representation
    colours: NDArray[np.uint64]
    table: csr_array
    base: Floats
    better: NDArray[np.int64]
    worse: NDArray[np.int64]
    weight: Floats
    target: Floats
    importance: Floats

    def scores(self, model: LinearModel) -> Floats:
        """float64[k]: what a model that sees the same says."""
        weights = np.zeros(len(self.colours))
        weights[np.searchsorted(self.colours, model.colours)] = model.weights
        found: Floats = self.table @ weights + model.base_weight * self.base + model.constant
        return found

    def accuracy(self, model: LinearModel) -> float:
        """The share of the pairs that a model orders rightly."""
        scores = self.scores(model)
        return float(self.weight @ (scores[self.worse] > scores[self.better]))


def observe(problems: Sequence[Pairs], types: Sequence[FeatureTypes], representation: Representation) -> TrainingData:
    """What a model of a representation sees of problems, whose types are given."""
    observed = [Observed(pairs.space, representation, own) for pairs, own in zip(problems, types, strict=True)]
    rows = [one.features(pairs.ids) for one, pairs in zip(observed, problems, strict=True)]
    bases = [one.base(pairs.ids) for one, pairs in zip(observed, problems, strict=True)]
    counts = [len(pairs.ids) for pairs in problems]
    colours, column = np.unique(np.concatenate([one.colour for one in rows]), return_inverse=True)
    problem = np.repeat(np.arange(len(rows)), [len(one.colour) for one in rows])
    occurs = np.bincount(np.unique(column * len(rows) + problem) // len(rows), minlength=len(colours))
    kept = np.flatnonzero(occurs >= min(_LEAST_PROBLEMS, len(rows)))
    ptr = np.cumsum([0, *np.concatenate([np.diff(one.ptr) for one in rows])])
    values = np.concatenate([one.value for one in rows]).astype(np.float64)
    starts = np.cumsum([0, *counts])
    return TrainingData(
        representation,
        colours[kept],
        csr_array((values, column, ptr), shape=(int(starts[-1]), len(colours)))[:, kept],
        np.concatenate(bases),
        np.concatenate([pairs.better + start for pairs, start in zip(problems, starts[:-1], strict=True)]),
        np.concatenate([pairs.worse + start for pairs, start in zip(problems, starts[:-1], strict=True)]),
        np.concatenate([pairs.weight / len(problems) for pairs in problems]),
        np.concatenate([make_targets(pairs.distance) for pairs in problems]),
        np.concatenate([np.full(count, 1 / count / len(counts)) for count in counts]),
    )


def fit(data: TrainingData, loss: Loss, l2: float, most: int) -> LinearModel:
    """The linear model with the least loss.

    Args:
        data: what to fit.
        loss: `ranking` is the logistic loss of pairs, `regression` the squared error of distances.
        l2: weight of the sum of squares.
        most: features that the model may have; where it has more, those that weigh most are fitted again.
    """
    if loss == "ranking":
        return _fit_order(data, l2, most)
    table, base = data.table, data.base
    kept, weights = _fit_features(table, base, 1.0, data.importance, _squares(data.target), l2, most)
    return _make_model(data, kept, weights)


def _fit_order(data: TrainingData, l2: float, most: int) -> LinearModel:
    """The linear model with the least logistic loss of pairs, arguments as those of `fit`.

    Its scores are scaled so that half of the pairs are one step apart or more.
    """
    table, base = data.table[data.worse] - data.table[data.better], data.base[data.worse] - data.base[data.better]
    kept, weights = _fit_features(table, base, 0.0, data.weight, _logistic, l2, most)
    unit = float(np.median(np.abs(table[:, kept] @ weights[:-2] + base * weights[-2])))
    return _make_model(data, kept, weights / max(unit, 1e-9))


def _make_model(data: TrainingData, kept: NDArray[np.int64], weights: Floats) -> LinearModel:
    return LinearModel(
        domain="",
        representation=data.representation,
        colours=data.colours[kept],
        weights=weights[:-2],
        seen=np.bincount(data.table.indices, minlength=len(data.colours))[kept],
        base_weight=float(weights[-2]),
        constant=float(weights[-1]),
    )


def _fit_features(
    table: csr_array, base: Floats, constant: float, mass: Floats, losses: _Losses, l2: float, most: int
) -> tuple[NDArray[np.int64], Floats]:
    """The features that are kept, int64[n], and what they weigh, then the base and the constant: float64[n + 2].

    Features are scaled to a mean square of 1 in what is fitted, so that `l2` weighs them alike; what the base and the
    constant weigh is free.
    """
    scale = np.sqrt(np.maximum(mass @ table.power(2), 1e-12))
    free = np.stack([base, np.full(len(base), constant)], axis=1)
    kept = np.arange(table.shape[1])
    while True:
        design = (table[:, kept] / scale[kept]).tocsr()
        weights = _minimize(design, free, mass, losses, l2, has_base=bool(base.any()))
        if len(kept) <= most:
            break
        kept = np.sort(kept[np.argsort(-np.abs(weights[:-2]), kind="stable")[:most]])
    weights[:-2] /= scale[kept]
    return kept, weights


_Losses = Callable[[Floats], tuple[Floats, Floats]]
"""From scores, float64[k], to the losses and their derivatives."""


def _logistic(margin: Floats) -> tuple[Floats, Floats]:
    return np.logaddexp(0, -margin), -1 / (1 + np.exp(np.minimum(margin, 700)))


def _squares(target: Floats) -> _Losses:
    return lambda score: ((score - target) ** 2, 2 * (score - target))


def _minimize(design: csr_array, free: Floats, mass: Floats, losses: _Losses, l2: float, *, has_base: bool) -> Floats:
    """float64[n + 2]: the weights of scaled features, of the base and of the constant."""
    transposed = design.T.tocsr()

    def objective(weights: Floats) -> tuple[float, Floats]:
        own = weights[:-2]
        loss, slope = losses(design @ own + free @ weights[-2:])
        slope *= mass
        gradient = np.concatenate([transposed @ slope + 2 * l2 * own, slope @ free])
        return float(mass @ loss + l2 * own @ own), gradient

    start = np.zeros(design.shape[1] + 2)
    start[-2] = float(has_base)
    found: Any = minimize(objective, start, jac=True, method="L-BFGS-B", options={"maxiter": _ITERATIONS})
    return np.asarray(found.x)
