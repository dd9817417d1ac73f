"""`learned`: the score of a linear model over relational features."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from epigym.features.types import FeatureTypes
from epigym.space.space import StateSpace
from learn.models.linear.model import LinearScorer
from learn.models.linear.ranker import ActionRanker
from learn.models.linear.shipped import SHIPPED, fitting, ranking
from search.heuristics.heuristic import Evaluation, Heuristic


class Learned(Heuristic):
    """Scores e-states with a linear model; needs neither PyTorch nor a GPU.

    What a linear model of actions prefers is preferred, where one is given; else, where the model of e-states corrects
    the relaxation, the helpful actions of the relaxed plan.

    Args:
        space: where the e-states live.
        checkpoint: a file of `learn.train model=linear`, `{domain}` in it stands for the task's domain; None takes the
            model that comes with epigym for the task's domain, or else the general one.
        actions: a file of `learn.train model=actions`, named in the same way; None is none.

    Raises:
        MissingError: when there is no such file.
        CheckpointError: when it cannot be read, or is a model of something else.
    """

    name = "learned"
    prefers = True  # as far as is known before its file is read

    def __init__(self, space: StateSpace, checkpoint: str | None = None, actions: str | None = None) -> None:
        types = FeatureTypes(space.task)
        self.checkpoint, chosen = fitting(checkpoint, space.task.domain, types.schema)
        self._scorer = LinearScorer(space, chosen, types)
        self._ranker = None if actions is None else ActionRanker(space, ranking(actions, space.task.domain), types)
        self.prefers = self._ranker is not None or self._scorer.relaxation is not None

    def score(self, ids: NDArray[np.int32]) -> NDArray[np.float64]:
        """float64[k]: the score of each of `ids` (int32[k])."""
        return self._scorer.score(ids)

    def evaluate(self, ids: NDArray[np.int32], parents: NDArray[np.int64], actions: NDArray[np.int64]) -> Evaluation:
        """The same with the actions that the model of actions prefers, or the relaxation, if there is one."""
        if not self.prefers:
            return super().evaluate(ids, parents, actions)
        relaxed = None if self._scorer.relaxation is None else self._scorer.relaxation(ids)
        scores = self._scorer.score(ids, relaxed)
        if self._ranker is not None:
            return Evaluation(scores, *self._ranker.preferred(ids, relaxed))
        assert relaxed is not None
        return Evaluation(scores, relaxed.helpful_ptr, relaxed.helpful)


def shipped_models() -> list[Path]:
    """What `learned` may take when no checkpoint is named."""
    return sorted(SHIPPED.glob("*.json"))
