"""Rounds of training on what a search met: what they learn from, and when they are kept."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from epigym.features.types import FeatureTypes
from epigym.space.signature import signature
from epigym.space.space import StateSpace
from epigym.task.task import Task
from learn.data import sources
from learn.data.dataset import DataSet
from learn.data.distribution import MAX_STATES, SampledProblem, sample_problems
from learn.data.explorers import ExplorerSettings, explore
from learn.data.making import make_rollout
from learn.models.linear.model import LinearModel, LinearScorer
from learn.training import validation
from learn.training.linear import fit as fitting
from learn.training.linear import trials
from learn.training.linear.aggregation import make_added_pairs, sample_larger
from learn.training.linear.fit import FeatureData
from learn.training.linear.options import LinearOptions
from learn.training.linear.training import train_linear
from learn.training.validation import ValidationResult, find_states_along, search_greedily
from tests.helpers.runs import make_data_set

DOMAIN = "gossip"
LEAST = LinearOptions(
    validation_instances=1, nodes=100, features=40, iterations=[0], worlds=[False], losses=["ranking"], l2=[1e-3],
    bases=[], residual_l2=[1e-1], aggregation=0, larger_instances=2,
)  # fmt: skip


@pytest.fixture(scope="module")
def data(workdir: Path) -> DataSet:
    return make_data_set(workdir, [DOMAIN])


@pytest.fixture(scope="module")
def model(data: DataSet) -> LinearModel:
    return train_linear(data, LEAST, 0).model


def test_rounds_go_on_while_they_gain(data: DataSet, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each is fitted to what was there and to what the last met; the first that gains nothing is not kept."""
    fitted: list[int] = []

    def fit(observed: FeatureData, *arguments: Any, **options: Any) -> LinearModel:
        fitted.append(len(observed.target))
        return fitting.fit(observed, *arguments, **options)

    ends = (ValidationResult(1, expanded, (), False) for expanded in (50, 50, 50, 40, 30, 30))  # baselines first
    monkeypatch.setattr(trials, "fit", fit)
    monkeypatch.setattr(trials, "validate_by_search", lambda *arguments, **options: next(ends))
    chosen = train_linear(data, replace(LEAST, aggregation=5), 0)
    assert [one.aggregation for one in chosen.trials[3:]] == [0, 1, 2]
    assert fitted[0] < fitted[1] < fitted[2]
    assert (chosen.model.card["aggregation"], chosen.model.card["states"]) == (1, fitted[1])
    kept = chosen.trials[4].model
    assert chosen.model.weights.tolist() == kept.weights.tolist()
    assert set(chosen.model.definitions) >= set(kept.colours.tolist())


@pytest.mark.parametrize("excluded", [False, True])
def test_validation_and_rounds_exclude_the_inconsistent_beliefs_that_the_data_set_excludes(
    workdir: Path, monkeypatch: pytest.MonkeyPatch, excluded: bool
) -> None:
    found: list[bool] = []

    def make(task: Task, *, consistent_beliefs: bool, **options: Any) -> StateSpace:
        found.append(consistent_beliefs)
        return StateSpace(task, consistent_beliefs=consistent_beliefs, **options)

    data = make_data_set(workdir, [DOMAIN], consistent_beliefs=excluded)
    monkeypatch.setattr(validation, "StateSpace", make)
    monkeypatch.setattr(trials, "StateSpace", make)
    train_linear(data, replace(LEAST, aggregation=1), 0)
    baselines, models, larger = 3, 2, 2
    assert found == [excluded] * (baselines + models + larger)


def test_larger_problems_are_others_than_those_to_validate_on() -> None:
    validating = [one.task for one in islice(sample_problems(DOMAIN, "validation", 7), 3)]
    assert sample_larger([DOMAIN], 3, 7, validating) == []
    others = sample_larger([DOMAIN], 3, 8, validating)
    assert len(others) == 3
    assert {signature(task) for task in others}.isdisjoint(map(signature, validating))


def test_larger_problems_have_long_goals_where_these_are_learned_from(
    workdir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So have those to learn from and to validate on."""
    asked: list[tuple[str, bool]] = []

    def record(domain: str, split: str, *arguments: Any, long_goals: bool, **options: Any) -> Iterator[SampledProblem]:
        asked.append((split, long_goals))
        return sample_problems(domain, split, *arguments, long_goals=long_goals, **options)

    for long_goals in (False, True):
        data = make_data_set(workdir, [DOMAIN], long_goals=long_goals)
        with monkeypatch.context() as patch:
            patch.setattr(sources, "sample_problems", record)
            chosen = train_linear(data, replace(LEAST, aggregation=1), 0)
        assert asked == [("validation", long_goals)] * 2
        assert chosen.model.card["data"]["data"]["long_goals"] is long_goals
        asked.clear()


def test_what_can_be_exhausted_is_labelled_exactly_and_of_the_rest_the_plan_is_learned(model: LinearModel) -> None:
    small, large = next(sample_problems(DOMAIN, "train", 5)).task, next(sample_problems(DOMAIN, "validation", 5)).task
    exact, planned = make_added_pairs(map(StateSpace, (small, large)), model, nodes=1000, expansions=5, seed=3)
    explorer = ExplorerSettings("exhaustive", max_visited=MAX_STATES, max_kept=None, seed=3)
    expected = make_rollout(small, explorer, 5)
    assert expected is not None
    assert (exact.ids.tolist(), exact.distance.tolist()) == (expected.ids.tolist(), expected.distance.tolist())
    assert not explore(large, explorer).complete
    space = StateSpace(large)
    plan = search_greedily(space, LinearScorer(space, model, FeatureTypes(large)).score, 1000).plan
    assert plan
    path = find_states_along(space, plan)
    assert space.is_goal(path).tolist() == [False] * len(plan) + [True]
    assert {*planned.ids[planned.better].tolist()} == {*path[1:]}
    assert planned.distance.max() == len(path) - 1


def test_what_is_not_solved_teaches_nothing(model: LinearModel) -> None:
    large = next(sample_problems(DOMAIN, "validation", 5)).task
    assert make_added_pairs([StateSpace(large)], model, nodes=1, expansions=5, seed=0) == []
