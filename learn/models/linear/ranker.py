"""Actions in the order of a linear model, and which of them it prefers; without PyTorch."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from epigym.features.action_features import ActionFeatures
from epigym.features.relaxation import Relaxation, Relaxed
from epigym.features.types import FeatureTypes
from epigym.space.space import StateSpace
from learn.models.linear.model import LinearModel, Representation

MOST_PREFERRED = 3
"""Of an e-state at most so many actions are preferred."""
MARGIN = 1.0
"""By so much the score of a preferred action is worse than the best, at most."""


class ObservedActions:
    """Actions in e-states as a model sees them.

    Args:
        space: where the e-states live, with the goal.
        representation: what is seen.
        types: of the space's task.

    Attributes:
        features: of actions in e-states.
    """

    def __init__(self, space: StateSpace, representation: Representation, types: FeatureTypes) -> None:
        self.features = ActionFeatures(space, types)
        self._relaxation = None if representation.base == "none" else Relaxation(space)
        self._actions = len(space.task.actions)

    def base(
        self,
        ids: NDArray[np.int32],
        place: NDArray[np.int64],
        actions: NDArray[np.int32],
        relaxed: Relaxed | None = None,
    ) -> NDArray[np.float64]:
        """float64[n]: of each action 0 where the relaxation holds it helpful, 1 where not; 0 where none is looked at.

        Args:
            ids: int32[k], e-states.
            place: int64[n], of each action its e-state, as a position in `ids`.
            actions: int32[n], the actions.
            relaxed: what the relaxation says of `ids`, where that is known.
        """
        if self._relaxation is None:
            return np.zeros(len(actions))
        relaxed = relaxed or self._relaxation(ids)
        is_other = np.ones((len(ids), self._actions))
        is_other[np.repeat(np.arange(len(ids)), np.diff(relaxed.helpful_ptr)), relaxed.helpful] = 0
        found: NDArray[np.float64] = is_other[place, actions]
        return found


class ActionRanker:
    """A linear model of actions on a space.

    Args:
        space: where the e-states live.
        model: the model.
        types: of the space's task.
    """

    def __init__(self, space: StateSpace, model: LinearModel, types: FeatureTypes) -> None:
        self._space, self._model = space, model
        self._observed = ObservedActions(space, model.representation, types)

    def score(
        self,
        ids: NDArray[np.int32],
        place: NDArray[np.int64],
        actions: NDArray[np.int32],
        relaxed: Relaxed | None = None,
    ) -> NDArray[np.float64]:
        """float64[n]: of actions in e-states, the lower the better; arguments as those of `ObservedActions.base`."""
        base = self._model.base_weight * self._observed.base(ids, place, actions, relaxed)
        return self._model.weigh(*self._observed.features(ids[place], actions)) + base

    def preferred(
        self, ids: NDArray[np.int32], relaxed: Relaxed | None = None
    ) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        """The preferred actions of e-states: the best of those that are applicable, the very best first.

        Of actions that score alike the one that is declared first comes first.

        Args:
            ids: int32[k], the e-states.
            relaxed: what the relaxation says of them, where that is known.

        Returns:
            int64[k + 1], where those of each e-state start; int32[p], the actions.
        """
        place, number = np.nonzero(self._space.applicable(ids))
        actions = number.astype(np.int32)
        score = self.score(ids, place, actions, relaxed)
        order = np.lexsort((score, place))
        first = np.searchsorted(place, place)  # where those of the same e-state start
        is_near = score[order] <= score[order][first] + MARGIN
        kept = is_near & (np.arange(len(place)) - first < MOST_PREFERRED)
        return np.searchsorted(place[kept], np.arange(len(ids) + 1)), actions[order][kept]
