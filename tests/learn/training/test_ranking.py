"""Fits of linear models: they find what was planted, keep to the base where they shall, and mind the bounds."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.optimize import check_grad
from scipy.sparse import csr_array

from epigym.features.types import FeatureTypes
from epigym.problem import load_problem
from learn.data.explorers import ExplorerSettings
from learn.data.labels import UNREACHABLE
from learn.data.making import make_rollout
from learn.data.rollout import Rollout
from learn.models.base import Base
from learn.models.linear.model import LinearModel, LinearScorer, Observed, Representation
from learn.training.linear import fit as ranking
from learn.training.linear.fit import FeatureData, Loss, fit, observe

TRUTH = np.array([2.0, -1.0, 0.5, 0.0, 3.0])


def plant(
    *, truth: NDArray[np.float64] = TRUTH, base: NDArray[np.float64] | None = None, seed: int = 0, states: int = 60
) -> FeatureData:
    """E-states whose distances are a weighted sum of their features and their base, and 7 for good measure."""
    rng = np.random.default_rng(seed)
    table = rng.integers(0, 5, size=(states, len(truth))).astype(np.float64)
    base = np.zeros(states) if base is None else base
    target = table @ truth + base + 7
    better, worse = rng.integers(states, size=(2, 10 * states))
    better, worse = np.where(target[better] < target[worse], (better, worse), (worse, better))
    differ = target[better] < target[worse]
    weight = rng.uniform(0.5, 1, size=differ.sum())
    return FeatureData(
        representation=Representation(0, base="h_ff" if base.any() else "none"),
        colours=np.arange(10, 10 + 10 * len(truth), 10, dtype=np.uint64),
        table=csr_array(table),
        base=base,
        target=target,
        importance=np.full(states, 1 / states),
        better=better[differ],
        worse=worse[differ],
        weight=weight / weight.sum(),
    )


def in_order(data: FeatureData, model: LinearModel) -> float:
    scores = data.scores(model)
    return 1 - float(data.weight @ (scores[data.better] >= scores[data.worse]))


def margins(data: FeatureData, model: LinearModel) -> NDArray[np.float64]:
    scores = data.scores(model)
    return scores[data.worse] - scores[data.better]


def weight_of(model: LinearModel) -> dict[int, float]:
    return dict(zip(model.colours.tolist(), model.weights.tolist(), strict=True))


def test_a_ranking_finds_the_order_that_was_planted() -> None:
    data = plant()
    model = fit(data, "ranking", 1e-6, most=100)
    assert in_order(data, model) == 1
    assert model.weights / model.weights[0] == pytest.approx(TRUTH / TRUTH[0], abs=0.1)
    assert (model.base_weight, model.constant) == (0, 0)
    assert model.representation == data.representation
    assert model.seen.tolist() == (data.table.toarray() > 0).sum(axis=0).tolist()


def test_it_is_the_pairs_that_are_learned() -> None:
    data = plant()
    turned = fit(FeatureData(**{**vars(data), "better": data.worse, "worse": data.better}), "ranking", 1e-6, most=100)
    assert in_order(data, turned) == pytest.approx(0)
    kept = data.weight * (np.arange(len(data.weight)) % 2)
    # What weighs nothing may be turned round.
    better, worse = (np.where(kept > 0, a, b) for a, b in ((data.better, data.worse), (data.worse, data.better)))
    some = FeatureData(**{**vars(data), "better": better, "worse": worse, "weight": kept / kept.sum()})
    assert in_order(some, fit(some, "ranking", 1e-6, most=100)) == 1


def test_regressions() -> None:
    data = plant()
    model = fit(data, "regression", 0, most=100)
    assert data.scores(model) == pytest.approx(data.target, abs=1e-2)
    assert model.weights == pytest.approx(TRUTH, abs=1e-2)
    assert model.constant == pytest.approx(7, abs=2e-2)
    data = plant()
    wrong = data.target.copy()
    wrong[:30] += 100
    importance = np.where(np.arange(60) < 30, 0, 1 / 30)
    model = fit(FeatureData(**{**vars(data), "target": wrong, "importance": importance}), "regression", 0, most=100)
    assert data.scores(model) == pytest.approx(data.target, abs=5e-2)


@pytest.mark.parametrize("loss", ["ranking", "regression"])
def test_what_the_base_says_alone_is_left_to_it(loss: Loss) -> None:
    """Where the features say nothing and much is asked of them, the model is the base."""
    base = np.random.default_rng(1).integers(0, 30, size=60).astype(np.float64)
    data = plant(truth=np.zeros(5), base=base)
    model = fit(data, loss, 100, most=100)
    assert np.abs(model.weights).max() < 1e-2 * model.base_weight
    assert in_order(data, model) == 1
    if loss == "regression":
        assert (model.base_weight, model.constant) == pytest.approx((1, 7), abs=1e-2)


@pytest.mark.parametrize("loss", ["ranking", "regression"])
def test_features_correct_the_base_as_far_as_they_may(loss: Loss) -> None:
    base = np.random.default_rng(1).integers(0, 10, size=60).astype(np.float64)
    data = plant(base=base)
    much, little = (fit(data, loss, l2, most=100) for l2 in (1e-6, 100))
    assert in_order(data, much) > 0.99 > in_order(data, little)
    assert much.weights / much.base_weight == pytest.approx(TRUTH, abs=0.3)
    assert np.abs(little.weights).max() < 0.01 * np.abs(much.weights).max()
    assert little.base_weight > 0


def test_what_weighs_nothing() -> None:
    for loss in ("ranking", "regression"):
        assert fit(plant(), loss, 1e-3, most=100).base_weight == 0
    data = plant()
    table = csr_array(np.hstack([data.table.toarray()[:, :2], np.ones((60, 1))]))
    model = fit(FeatureData(**{**vars(data), "table": table, "colours": data.colours[:3]}), "ranking", 1e-3, most=100)
    assert weight_of(model)[30] == pytest.approx(0)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("with_base", [False, True])
def test_half_of_the_pairs_are_a_step_apart(seed: int, with_base: bool) -> None:
    base = np.random.default_rng(seed).uniform(0, 100, size=60) if with_base else None
    data = plant(base=base, seed=seed)
    for l2 in (1e-4, 1):
        assert np.median(np.abs(margins(data, fit(data, "ranking", l2, most=100)))) == pytest.approx(1)


@pytest.mark.parametrize("loss", ["ranking", "regression"])
def test_the_weightiest_features_are_kept_and_fitted_again(loss: Loss) -> None:
    data = plant()
    model = fit(data, loss, 1e-6, most=2)
    assert model.colours.tolist() == [10, 50]  # those that weigh 2 and 3
    assert model.seen.tolist() == (data.table.toarray() > 0).sum(axis=0)[[0, 4]].tolist()
    alone = FeatureData(**{**vars(data), "colours": data.colours[[0, 4]], "table": data.table[:, [0, 4]]})
    assert fit(alone, loss, 1e-6, most=2).weights == pytest.approx(model.weights, rel=1e-3)
    assert fit(data, loss, 1e-6, most=5).colours.tolist() == data.colours.tolist()


def test_equal_features_weigh_alike_and_their_scale_does_not_matter() -> None:
    data = plant()
    model = fit(data, "ranking", 1e-2, most=100)
    scaled = FeatureData(**{**vars(data), "table": csr_array(data.table.toarray() * np.array([10, 1, 0.1, 1, 100]))})
    other = fit(scaled, "ranking", 1e-2, most=100)
    assert other.weights * np.array([10, 1, 0.1, 1, 100]) == pytest.approx(model.weights, rel=1e-2, abs=1e-3)
    column = data.table.toarray()[:, :1]
    twice = FeatureData(**{**vars(data), "table": csr_array(np.hstack([column, column])), "colours": data.colours[:2]})
    one, two = fit(twice, "ranking", 1e-2, most=100).weights
    assert one == pytest.approx(two, rel=1e-3)


@pytest.mark.parametrize("l2", [0, 0.3])
@pytest.mark.parametrize("loss", ["ranking", "regression"])
def test_gradients_are_those_of_finite_differences(loss: Loss, l2: float, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []
    minimize = ranking.minimize

    def record(objective: Any, start: NDArray[np.float64], **options: Any) -> Any:
        asked.append((objective, start))
        return minimize(objective, start, **options)

    monkeypatch.setattr(ranking, "minimize", record)
    fit(plant(base=np.random.default_rng(1).uniform(0, 9, size=60)), loss, l2, most=100)
    [(objective, start)] = asked
    assert start.tolist() == [0, 0, 0, 0, 0, 1, 0]  # it starts from the base
    rng = np.random.default_rng(0)
    for size in (0, 0.1, 1):
        point = start + size * rng.normal(size=7)
        value, gradient = objective(point)
        error = check_grad(lambda x: objective(x)[0], lambda x: objective(x)[1], point)
        assert error <= 1e-5 * max(1, np.linalg.norm(gradient), value)
    for far in (-1e6, 1e6):
        value, gradient = objective(far * (start + 1))
        assert np.isfinite([value, *gradient]).all()


PROBLEMS = ("collaboration_communication/2_2_3_pl_6", "gossip", "selective_communication/4_2_pl_5")


def observe_some(
    representation: Representation, problems: tuple[str, ...] = PROBLEMS
) -> tuple[FeatureData, list[Rollout]]:
    explorer = ExplorerSettings("exhaustive", max_visited=1000, max_kept=None, seed=0)
    found = [make_rollout(load_problem(name), explorer, 4) for name in problems]
    pairs = [one for one in found if one is not None]
    assert len(pairs) == len(problems)
    return observe(pairs, [FeatureTypes(one.space.task) for one in pairs], representation), pairs


@pytest.mark.parametrize("base", ["none", "h_ff", "h_add"])
@pytest.mark.parametrize(("iterations", "worlds"), [(0, False), (1, True), (2, False)])
@pytest.mark.parametrize("loss", ["ranking", "regression"])
def test_scores_are_those_of_a_scorer(loss: Loss, iterations: int, worlds: bool, base: Base) -> None:
    data, problems = observe_some(Representation(iterations, worlds, base))
    model = fit(data, loss, 1e-2, most=10)
    expected = np.concatenate([LinearScorer(one.space, model).score(one.ids) for one in problems])
    assert data.scores(model) == pytest.approx(expected)
    assert len(set(expected.tolist())) > 3


def test_what_is_observed() -> None:
    data, problems = observe_some(Representation(1, base="h_ff"))
    counts = [len(one.ids) for one in problems]
    starts = np.cumsum([0, *counts])
    assert data.table.shape == (starts[-1], len(data.colours))
    assert (np.diff(data.colours.astype(object)) > 0).all()
    rows = [
        Observed(one.space, data.representation, FeatureTypes(one.space.task)).features(one.ids) for one in problems
    ]
    occurs = [set(one.colour.tolist()) for one in rows]
    several = {colour for colour in set.union(*occurs) if sum(colour in own for own in occurs) >= 2}
    assert set(data.colours.tolist()) == several
    place = {colour: number for number, colour in enumerate(data.colours.tolist())}
    expected = np.zeros(data.table.shape)
    for start, one in zip(starts, rows, strict=False):
        for state in range(len(one.ptr) - 1):
            part = slice(one.ptr[state], one.ptr[state + 1])
            for colour, value in zip(one.colour[part].tolist(), one.value[part].tolist(), strict=True):
                if colour in place:
                    expected[start + state, place[colour]] = value
    assert data.table.toarray().tolist() == expected.tolist()
    assert data.weight.sum() == pytest.approx(1)
    assert data.importance.sum() == pytest.approx(1)
    problem_of = np.searchsorted(starts, data.better, side="right") - 1
    assert problem_of.tolist() == (np.searchsorted(starts, data.worse, side="right") - 1).tolist()
    for number, pairs in enumerate(problems):
        own = slice(starts[number], starts[number + 1])
        assert data.weight[problem_of == number].sum() == pytest.approx(1 / 3)
        assert data.importance[own].sum() == pytest.approx(1 / 3)
        far = pairs.distance == UNREACHABLE
        assert data.target[own][~far].tolist() == pairs.distance[~far].tolist()
        assert set(data.target[own][far].tolist()) <= {pairs.distance.max() + 10}
        assert (data.better[problem_of == number] - starts[number]).tolist() == pairs.better.tolist()
        assert data.base[own].tolist() == Observed(pairs.space, data.representation).base(pairs.ids).tolist()
    assert (data.target[data.better] < data.target[data.worse]).all()


def test_of_a_single_problem_every_feature_is_seen() -> None:
    data, [pairs] = observe_some(Representation(0), PROBLEMS[:1])
    rows = Observed(pairs.space, data.representation).features(pairs.ids)
    assert set(data.colours.tolist()) == set(rows.colour.tolist())
