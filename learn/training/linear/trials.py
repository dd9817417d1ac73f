"""Trials: linear models and baselines validated by greedy search, and the selection of the best model."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import nan
from typing import Any, cast

from epigym.features.types import FeatureTypes
from epigym.io.progress import track
from epigym.space.space import StateSpace
from learn.data.dataset import DataSet
from learn.data.rollout import Rollout
from learn.data.sources import keep_known
from learn.models.base import Base, BaseHeuristic
from learn.models.linear.model import LinearModel, LinearScorer, Representation
from learn.training.linear.aggregation import make_added_pairs, sample_larger
from learn.training.linear.fit import FeatureData, Loss, fit, observe
from learn.training.linear.options import LinearOptions
from learn.training.validation import Problems, Scores, ValidationResult, validate_by_search
from search.heuristics.goal_count import SplitGoalCount

BASELINES = ("split_goal_count", "h_ff", "h_add")
"""Heuristics without training that models are compared with."""
_TOLERANCE = 1.1  # ratio of expansions up to which a simpler model is selected


@dataclass(frozen=True, slots=True)
class Trial:
    """A linear model, or a baseline, with its validation.

    Attributes:
        name: of the feature set, or of the baseline.
        validation: result of greedy search on the validation problems.
        loss: of the fit; empty for a baseline.
        l2: weight of the sum of squares.
        accuracy: share of the training pairs in the right order; all problems, and all expansions of a problem, have
            equal weight. Not a number for a baseline.
        model: None for a baseline.
        aggregation: number of aggregations in the training data.
    """

    name: str
    validation: ValidationResult
    loss: str = ""
    l2: float = 0.0
    accuracy: float = nan
    model: LinearModel | None = None
    aggregation: int = 0

    def row(self) -> dict[str, Any]:
        """The row of the table of trials."""
        return {
            "feature set": self.name,
            "loss": self.loss,
            "l2": self.l2,
            "aggregation": self.aggregation,
            "features": 0 if self.model is None else len(self.model.colours),
            "pairs in order": self.accuracy,
            "solved": self.validation.solved,
            "expanded": self.validation.expanded,
            "stopped": "yes, bounds" if self.validation.stopped else "",
        }


@dataclass(frozen=True, slots=True)
class TrialMaker:
    """Makes trials with the same options and validation problems.

    Attributes:
        options: see `conf/train_linear.yaml`.
        validation: the validation problems.
        consistent_beliefs: whether e-states with inconsistent beliefs are excluded, see `StateSpace`.
    """

    options: LinearOptions
    validation: Problems
    consistent_beliefs: bool

    def run_baselines(self) -> list[Trial]:
        """A trial for each of `BASELINES`."""
        names = track(BASELINES, "validating heuristics", "heuristics")
        return [self._validate(name, partial(_score, name)) for name in names]

    def fit_all(
        self, choices: Sequence[tuple[Representation, Loss, float]], problems: list[Rollout], types: list[FeatureTypes]
    ) -> list[Trial]:
        """A trial for each choice, in the same order."""
        trials: list[Trial] = []
        data: dict[Representation, FeatureData] = {}
        for representation, loss, l2 in track(choices, "fitting models", "models"):
            if representation not in data:
                data = {representation: observe(problems, types, representation)}
            bound = min((one.validation.score for one in trials), default=None)
            trials.append(self._fit(data[representation], loss, l2, bound))
        return trials

    def aggregate(
        self, best: Trial, problems: list[Rollout], types: list[FeatureTypes], data: DataSet, seed: int
    ) -> tuple[Trial, list[Rollout], list[Trial]]:
        """The best trial after dataset aggregation, its training pairs, and all trials of the aggregation."""
        trials: list[Trial] = []
        options, chosen_by = self.options, [task for task, _ in self.validation]
        domains = keep_known(data.domains)
        numbers = range(1, options.aggregation + 1) if domains else ()
        for number in track(numbers, "refitting", "aggregations"):
            tasks = sample_larger(
                domains, options.larger_instances, seed + number, chosen_by, long_goals=data.samples_long_goals
            )
            model, larger = cast(LinearModel, best.model), track(tasks, "adding pairs")
            spaces = (StateSpace(one, consistent_beliefs=self.consistent_beliefs, threads="auto") for one in larger)
            added = make_added_pairs(spaces, model, nodes=options.nodes, expansions=data.expansions, seed=seed)
            more, more_types = [*problems, *added], [*types, *make_types(added)]
            observed = observe(more, more_types, model.representation)
            trial = self._fit(observed, cast(Loss, best.loss), best.l2, best.validation.score)
            trials.append(replace(trial, aggregation=best.aggregation + 1))
            if trial.validation.stopped or trial.validation.score >= best.validation.score:
                break
            best, problems, types = trials[-1], more, more_types
        return best, problems, trials

    def _fit(self, data: FeatureData, loss: Loss, l2: float, bound: tuple[int, int] | None) -> Trial:
        """Fit a model and validate it."""
        model = fit(data, loss, l2, most=self.options.features)
        found = self._validate(
            str(data.representation), lambda space, types: LinearScorer(space, model, types).score, bound
        )
        return replace(found, loss=loss, l2=l2, accuracy=data.accuracy(model), model=model)

    def _validate(
        self, name: str, scores: Callable[[StateSpace, FeatureTypes], Scores], bound: tuple[int, int] | None = None
    ) -> Trial:
        found = validate_by_search(
            self.validation, self.options.nodes, scores, bound=bound, consistent_beliefs=self.consistent_beliefs
        )
        return Trial(name, found)


def _score(baseline: str, space: StateSpace, types: FeatureTypes) -> Scores:
    return SplitGoalCount(space).score if baseline == "split_goal_count" else BaseHeuristic(space, cast(Base, baseline))


def make_types(problems: Sequence[Rollout]) -> list[FeatureTypes]:
    """The types of the task of each problem."""
    return [FeatureTypes(pairs.space.task) for pairs in problems]


def select_model(trials: Sequence[Trial]) -> Trial:
    """The simplest of the trials that solve most problems with about the fewest expansions.

    Args:
        trials: of models, simple ones first; those whose validation stopped are left out.
    """
    ended = [one for one in trials if not one.validation.stopped]
    unsolved, fewest = min(one.validation.score for one in ended)
    best = (one for one in ended if len(one.validation.unsolved) == unsolved)
    return next(one for one in best if one.validation.expanded <= _TOLERANCE * fewest)
