"""The base class of heuristics."""

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


class Estimates(NamedTuple):
    """The scores and preferred actions of k e-states.

    Attributes:
        scores: float64[k], as `Heuristic.score` returns them.
        preferred_ptr: int64[k + 1], the start of the preferred actions of each e-state in `preferred`.
        preferred: int32[p], actions that seem to lead towards the goal.
    """

    scores: NDArray[np.float64]
    preferred_ptr: NDArray[np.int64]
    preferred: NDArray[np.int32]


class Heuristic(ABC):
    """Estimates the distances of e-states to a goal, in the state space that is its first argument.

    Agents call `evaluate` once for every e-state that they reach, after its parent. A heuristic that depends on the
    e-state alone, and prefers at most the actions of a relaxation, defines only `score`.

    Attributes:
        name: the heuristic's name in messages and, without a label, in tables.
        model: the file of a learned heuristic; else empty.
        note: what users should know about its values for this problem, for the message of a result; else empty.
        prefers: whether it prefers actions.
        relaxation: the one whose preferred actions `evaluate` prefers; None for no preferences.
        is_uninformative: whether another heuristic replaces it: it is infinite at the initial e-state, or a model that
            knows too little.
        made_for: its state space; None when its first argument is no state space.
    """

    name: str = "own"
    model: str = ""
    note: str = ""
    prefers: bool = False
    relaxation: Relaxation | None = None
    is_uninformative: bool = False
    made_for: StateSpace | None = None

    def __new__(cls, *args: Any, **settings: Any) -> Self:
        """Store the state space, independently of the `__init__` of a subclass."""
        made = super().__new__(cls)
        space = args[0] if args else settings.get("space")
        if isinstance(space, StateSpace):
            object.__setattr__(made, "made_for", space)
        return made

    @abstractmethod
    def score(self, ids: NDArray[np.int32]) -> NDArray[np.float64]:
        """float64[k]: the scores of the e-states `ids` (int32[k]), in steps if possible; lower is better.

        Infinity ranks an e-state last.
        """

    def steps(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        """float64[k]: scores, float64[k], converted to steps, for agents that add them to depths."""
        return scores

    def evaluate(self, ids: NDArray[np.int32], parents: NDArray[np.int64], actions: NDArray[np.int64]) -> Estimates:
        """Scores and preferred actions of e-states.

        Args:
            ids: int32[k], the e-states.
            parents: int64[k], the predecessors from which the agent reached them first; -1 for the initial e-state.
            actions: int64[k], the actions by which it reached them; -1 for the initial e-state.
        """
        scores = self.score(ids)
        if self.relaxation is None:
            return Estimates(scores, np.zeros(len(ids) + 1, dtype=np.int64), np.empty(0, dtype=np.int32))
        relaxed = self.relaxation(ids)  # cached if the scores use it
        return Estimates(scores, relaxed.preferred_ptr, relaxed.preferred)


HeuristicMaker = Callable[[StateSpace], Heuristic]
"""A function from a state space to a heuristic, such as a class."""


def bind_heuristic(heuristic: Heuristic | HeuristicMaker | None, space: StateSpace) -> Heuristic | None:
    """Return a heuristic for a space: the given one, or the result of the given function.

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


def name_method(owner: object, method: str) -> str:
    """Module, class and method of an object, for messages about classes of users."""
    return f"{type(owner).__module__}.{type(owner).__qualname__}.{method}"


def require_estimates(heuristic: Heuristic, count: int, found: object) -> Estimates:
    """Raise a TypeError when what `evaluate` of a heuristic returned is not Estimates of `count` e-states."""
    if not isinstance(found, Estimates):
        raise TypeError(f"{name_method(heuristic, 'evaluate')} returned {type(found).__name__}: expected Estimates")
    scores: object = found.scores
    if isinstance(scores, np.ndarray) and scores.shape == (count,) and scores.dtype.kind in "fiub":
        return found
    kind = f"{scores.dtype}{list(scores.shape)}" if isinstance(scores, np.ndarray) else type(scores).__name__
    raise TypeError(f"{name_method(heuristic, 'score')} returned {kind}: expected an array float64[{count}]")
