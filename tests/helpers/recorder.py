"""A state space that remembers what was asked of it."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from epigym.space.space import StateSpace, Transitions
from epigym.task.task import Task


class Recorder(StateSpace):
    """Remembers which e-states were expanded and which actions were applied to the initial one by themselves.

    Of `lazy`, which applies actions one by one, those count as expanded of which it asks for the applicable actions.
    """

    def __init__(self, task: Task, *, symmetry: bool = False) -> None:
        super().__init__(task, symmetry=symmetry)
        self.expanded: list[int] = []
        self.applied: list[int] = []

    def expand(self, ids: ArrayLike, *, stop_at_goal: bool = False, threads: int = 1) -> Transitions:
        self.expanded += np.asarray(ids).tolist()
        return super().expand(ids, stop_at_goal=stop_at_goal, threads=threads)

    def applicable(self, ids: ArrayLike) -> NDArray[np.bool_]:
        self.expanded += np.asarray(ids).tolist()
        return super().applicable(ids)

    def successors(self, ids: ArrayLike, actions: ArrayLike) -> NDArray[np.int32]:
        pairs = zip(np.asarray(ids).tolist(), np.asarray(actions).tolist(), strict=True)
        self.applied += [action for state, action in pairs if state == self.initial]
        return super().successors(ids, actions)
