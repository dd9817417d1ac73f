"""What a heuristic is."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from epigym.errors import UsageError
from epigym.space.space import StateSpace

if TYPE_CHECKING:
    from epigym.features.relaxation import Relaxation


class Evaluation(NamedTuple):
    """What a heuristic says of k e-states.

    Attributes:
        scores: float64[k], as `Heuristic.score` gives them.
        preferred_ptr: int64[k + 1], where the preferred actions of each e-state start.
        preferred: int32[p], actions that lead towards the goal, as far as the heuristic can tell.
    """

    scores: NDArray[np.float64]
    preferred_ptr: NDArray[np.int64]
    preferred: NDArray[np.int32]


class Heuristic(ABC):
    """Estimates how far e-states are from a goal; made for one state space, which is its first argument.

    Agents call `evaluate`, once for every e-state that they meet, and for its parent before it. A heuristic that
    depends on the e-state alone, and prefers no actions but those of a relaxation, defines only `score`.

    Attributes:
        name: in messages and, where nothing else is said, in tables.
        checkpoint: the file a learned heuristic was read from, empty for any other.
        prefers: whether it also prefers actions.
        relaxation: the one whose preferred actions `evaluate` prefers; None for no preferences.
        is_uninformative: whether it is infinite at the initial e-state, so that another one takes its place.
        made_for: its state space; None where its first argument is none.
    """

    name: str = "own"
    checkpoint: str = ""
    prefers: bool = False
    relaxation: Relaxation | None = None
    is_uninformative: bool = False
    made_for: StateSpace | None = None

    def __new__(cls, *args: Any, **settings: Any) -> Self:
        """Remember the state space, whatever a class of one's own does when it is made."""
        made = super().__new__(cls)
        space = args[0] if args else settings.get("space")
        if isinstance(space, StateSpace):
            object.__setattr__(made, "made_for", space)
        return made

    @abstractmethod
    def score(self, ids: NDArray[np.int32]) -> NDArray[np.float64]:
        """float64[k]: a score for each of the e-states `ids` (int32[k]), in steps where the heuristic knows steps.

        The lower the better; infinity puts an e-state last.
        """

    def steps(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        """float64[k]: the steps that scores, float64[k], mean; for searches that add them to depths."""
        return scores

    def evaluate(self, ids: NDArray[np.int32], parents: NDArray[np.int64], actions: NDArray[np.int64]) -> Evaluation:
        """Scores and preferred actions of e-states; without preferences none.

        Args:
            ids: int32[k], the e-states.
            parents: int64[k], the e-state from which the agent reached each of them first; -1 for the initial one.
            actions: int64[k], the action by which it did; -1 for the initial e-state.
        """
        scores = self.score(ids)
        if self.relaxation is None:
            return Evaluation(scores, np.zeros(len(ids) + 1, dtype=np.int64), np.empty(0, dtype=np.int32))
        relaxed = self.relaxation(ids)  # remembered where the scores asked for it
        return Evaluation(scores, relaxed.preferred_ptr, relaxed.preferred)


HeuristicMaker = Callable[[StateSpace], Heuristic]
"""What makes a heuristic for a state space, such as its class."""


def bind(heuristic: Heuristic | HeuristicMaker | None, space: StateSpace) -> Heuristic | None:
    """The heuristic that was made for a space, or that is made for it now.

    Raises:
        UsageError: when it was made for another space, or is no heuristic.
    """
    made: Any = heuristic
    if callable(heuristic) and not isinstance(heuristic, Heuristic):
        made = heuristic(space)
    if made is None:
        return None
    if not isinstance(made, Heuristic):
        raise UsageError(
            f"heuristic={heuristic!r}: expected a Heuristic, its class, or another function from a StateSpace to one; "
            "search.heuristics.make_heuristic makes one by name"
        )
    if made.made_for not in (None, space):
        raise UsageError(
            f"heuristic {made.name!r} was made for another state space than the one that is searched: "
            "make both for one SearchProblem (its search_space), or give the heuristic's class"
        )
    return made
