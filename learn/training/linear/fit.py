"""Fitting of linear models: a ranking of pairs by logistic loss, or distances by least squares."""

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
from learn.data.rollout import Rollout
from learn.models.linear.model import LinearModel, Observed, Representation

Loss = Literal["ranking", "regression"]
Floats = NDArray[np.float64]

_LEAST_PROBLEMS = 2  # minimum number of problems in which a feature occurs
_ITERATIONS = 200


@dataclass(frozen=True)
class FeatureData:
    """The features, distances and pairs of e-states of many problems.

    Attributes:
        representation: the feature set.
        colours: uint64[n], the features that occur in at least two problems, ascending.
        table: float64[k, n], the value of each feature in each e-state.
        base: float64[k], value of the base heuristic of each e-state.
        better: int64[p], the preferred e-state of each pair.
        worse: int64[p], the other e-state of each pair.
        weight: float64[p], with sum 1; problems, and expansions within a problem, have equal total weights.
        target: float64[k], number of actions to the nearest goal; for an e-state without one, 10 more than the largest
            distance of its problem.
        importance: float64[k], weight of each e-state, with sum 1; problems have equal total weights.
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
        """float64[k]: the scores of a model with the same feature set."""
        weights = np.zeros(len(self.colours))
        weights[np.searchsorted(self.colours, model.colours)] = model.weights
        found: Floats = self.table @ weights + model.base_weight * self.base + model.constant
        return found

    def accuracy(self, model: LinearModel) -> float:
        """The weighted share of pairs that a model ranks correctly."""
        scores = self.scores(model)
        return float(self.weight @ (scores[self.worse] > scores[self.better]))


def observe(problems: Sequence[Rollout], types: Sequence[FeatureTypes], representation: Representation) -> FeatureData:
    """Compute the features of the e-states of some problems, given the types of each task."""
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
    return FeatureData(
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


def fit(data: FeatureData, loss: Loss, l2: float, most: int) -> LinearModel:
    """Fit the linear model with the least loss.

    Args:
        data: the training data.
        loss: `ranking`, the logistic loss of pairs, or `regression`, the squared error of distances.
        l2: weight of the L2 penalty.
        most: maximum number of features; if there are more, those with the largest weights are fitted again.
    """
    if loss == "ranking":
        return _fit_order(data, l2, most)
    table, base = data.table, data.base
    kept, weights = _fit_features(table, base, 1.0, data.importance, _squares(data.target), l2, most)
    return _make_model(data, kept, weights)


def _fit_order(data: FeatureData, l2: float, most: int) -> LinearModel:
    """Fit the linear model with the least logistic loss of pairs; arguments as `fit`.

    Scores are scaled so that the median distance between the e-states of a pair is one step.
    """
    table, base = data.table[data.worse] - data.table[data.better], data.base[data.worse] - data.base[data.better]
    kept, weights = _fit_features(table, base, 0.0, data.weight, _logistic, l2, most)
    unit = float(np.median(np.abs(table[:, kept] @ weights[:-2] + base * weights[-2])))
    return _make_model(data, kept, weights / max(unit, 1e-9))


def _make_model(data: FeatureData, kept: NDArray[np.int64], weights: Floats) -> LinearModel:
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
    """Fit weights; return the kept features int64[n] and float64[n + 2], the weights of features, base and constant.

    Features are scaled to a mean square of 1, so `l2` penalises them equally. The weights of the base heuristic and of
    the constant are not penalised.
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
"""Map scores, float64[k], to losses and their derivatives."""


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
