"""Trials: models and baselines validated by greedy search, and the selection of the best model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

from epigym.space.space import StateSpace
from learn.models.base import Base, BaseHeuristic
from learn.training.validation import Problems, Scores, ValidationResult, validate_by_search
from search.heuristics.goal_count import SplitGoalCount

BASELINES = ("split_goal_count", "h_ff", "h_add")
"""Heuristics without training that models are compared with."""


@dataclass(frozen=True, slots=True)
class Trial:
    """A model or a baseline with its validation by search.

    Attributes:
        name: of the model or the baseline.
        validation: result of greedy search on the validation problems.
    """

    name: str
    validation: ValidationResult


def run_baseline(name: str, problems: Problems, nodes: int) -> Trial:
    """Validate a baseline.

    Args:
        name: one of `BASELINES`.
        problems: the validation problems.
        nodes: maximum number of expansions on each.
    """
    return Trial(name, validate_by_search(problems, nodes, lambda space, _: _score(name, space)))


def _score(baseline: str, space: StateSpace) -> Scores:
    return SplitGoalCount(space).score if baseline == "split_goal_count" else BaseHeuristic(space, cast(Base, baseline))


def select(scores: Sequence[tuple[int, int]], tolerance: float = 1.0) -> int:
    """The position of the best validation score.

    The best score has the fewest unsolved problems. Of several, it is the first with at most `tolerance` times the
    fewest expansions.

    Args:
        scores: at least one, see `ValidationResult.score`; simple models come first.
        tolerance: at least 1.
    """
    unsolved, fewest = min(scores)
    return next(
        place
        for place, (missed, expanded) in enumerate(scores)
        if missed == unsolved and expanded <= tolerance * fewest
    )
