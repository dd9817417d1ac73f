"""`learned`: the score of a linear model over relational features."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from epigym.config.values import AtLeast
from epigym.features.types import FeatureTypes
from epigym.space.space import StateSpace
from learn.models.linear.model import LinearScorer
from learn.models.linear.shipped import SHIPPED, fitting
from search.heuristics.belief_relaxation import RelaxedPlan
from search.heuristics.heuristic import Evaluation, Heuristic

_FIRST = 64  # successors of the initial e-state whose feature types are looked up


class Learned(Heuristic):
    """Scores e-states with a linear model; needs neither PyTorch nor a GPU.

    Where the model corrects the relaxation, the preferred actions are those of the relaxed plan.

    Args:
        space: where the e-states live.
        checkpoint: a file of `learn.train model=linear`, `{domain}` in it stands for the task's domain; None takes the
            model that comes with epigym for the task's domain, or else the general one.
        least_known: a share; where the model knows fewer of the feature types of the first successors, `h_ff` takes
            its place: such a model would only decide between e-states of equal cost.

    Raises:
        MissingError: when there is no such file.
        CheckpointError: when it cannot be read.
    """

    name = "learned"
    prefers = True  # as far as is known before its file is read

    def __init__(
        self, space: StateSpace, checkpoint: str | None = None, least_known: Annotated[float, AtLeast(0)] = 0.0
    ) -> None:
        types = FeatureTypes(space.task)
        self.checkpoint, chosen = fitting(checkpoint, space.task.domain, types.schema)
        self._scorer = LinearScorer(space, chosen, types)
        self.prefers = self._scorer.relaxation is not None
        self._instead: RelaxedPlan | None = None
        if least_known and self._scorer.known(_first_successors(space)) < least_known:
            self.checkpoint, self.prefers, self._instead = "", True, RelaxedPlan(space)

    def score(self, ids: NDArray[np.int32]) -> NDArray[np.float64]:
        """float64[k]: the score of each of `ids` (int32[k])."""
        return self._scorer.score(ids) if self._instead is None else self._instead.score(ids)

    def evaluate(self, ids: NDArray[np.int32], parents: NDArray[np.int64], actions: NDArray[np.int64]) -> Evaluation:
        """The same with the preferred actions of the relaxation, if the model corrects one."""
        if self._instead is not None:
            return self._instead.evaluate(ids, parents, actions)
        if self._scorer.relaxation is None:
            return super().evaluate(ids, parents, actions)
        relaxed = self._scorer.relaxation(ids)
        return Evaluation(self._scorer.score(ids), relaxed.helpful_ptr, relaxed.helpful)


def _first_successors(space: StateSpace) -> NDArray[np.int32]:
    found: NDArray[np.int32] = np.unique(space.expand([space.initial]).target)[:_FIRST]
    return found


def shipped_models() -> list[Path]:
    """What `learned` may take when no checkpoint is named."""
    return sorted(SHIPPED.glob("*.json"))
