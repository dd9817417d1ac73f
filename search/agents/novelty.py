"""Novelty of e-states, for best-first width search."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from epigym.features.relaxation import Relaxation
from epigym.space.space import Query, StateSpace
from epigym.task.formula import Formula, believes, literal
from epigym.task.task import Task
from search.heuristics.goal_count import SplitGoalCount

_MANY = 2.0**32  # more than the subgoals of a goal


def atoms(task: Task) -> Iterator[Formula]:
    """The atoms of novelty: fluents, belief literals of every agent, and subformulas of the goal; some occur twice."""
    for name in task.fluents:
        yield literal(name, True)
    for agent in task.agents:
        for name in task.fluents:
            yield believes(agent, literal(name, True))
            yield believes(agent, literal(name, False))
    for subgoal in task.goal:
        yield from subgoal.negation_normal_form().subformulas()


class Novelty:
    """Recognizes e-states of novelty 1: they make an atom true for the first time in their class.

    A class is any value, such as a score.

    Source: Lipovetzky, Geffner, "Best-First Width Search" (AAAI 2017), with the novelty cut off after 1 and the atoms
    of a classical state extended by beliefs.

    Args:
        space: the state space of the e-states.
    """

    def __init__(self, space: StateSpace) -> None:
        formulas = list(dict.fromkeys(atoms(space.task)))
        self._truth = space.query(formulas)
        self._seen = defaultdict[Hashable, int](int)  # the atoms of each class as bits

    def __call__(self, ids: NDArray[np.int32], classes: Iterable[Hashable]) -> NDArray[np.float64]:
        """float64[k]: 0 for novelty 1 and 1 for more, of `ids` (int32[k]) in their order, each in its class."""
        found = np.ones(len(ids))
        for row, (own, packed) in enumerate(zip(classes, np.packbits(self._truth(ids), axis=1), strict=True)):
            seen = self._seen[own]
            together = seen | int.from_bytes(packed)
            if together != seen:
                found[row] = 0.0
                self._seen[own] = together
        return found


class NoveltyByGoalCount:
    """Ranks e-states by novelty, then by lowest goal count over split subgoals; each count is a class of novelty.

    Args:
        space: the state space of the e-states.
    """

    def __init__(self, space: StateSpace) -> None:
        self._novelty = Novelty(space)
        self._goal_count = SplitGoalCount(space)

    def __call__(self, ids: NDArray[np.int32]) -> NDArray[np.float64]:
        """float64[k]: the ranks of `ids` (int32[k]), lowest first, in their order."""
        counts = self._goal_count.score(ids)
        return _MANY * self._novelty(ids, counts.tolist()) + counts


class Progress:
    """The counters (#g, #r): goal count over split subgoals, and relaxed facts reached since it last decreased.

    The facts are those that a relaxed plan adds, computed at the e-state of the path where #g last decreased, or at the
    initial one; there are none where the relaxation is infinite. The path follows the parent pointers.

    Source: Lipovetzky, Geffner, "Best-First Width Search" (AAAI 2017).

    Args:
        space: the state space of the e-states.
    """

    def __init__(self, space: StateSpace) -> None:
        self._space = space
        self._goal_count = SplitGoalCount(space)
        self._relaxation = Relaxation(space)
        self._standing: dict[int, _GoalProgress] = {}

    def __call__(self, ids: NDArray[np.int32], parents: NDArray[np.int64]) -> list[tuple[int, int]]:
        """(#g, #r) of `ids` (int32[k]) with `parents` (int64[k], of earlier calls; -1 for the initial e-state)."""
        counts = self._goal_count.score(ids).astype(np.int64).tolist()
        return [
            self._classify(state, self._standing.get(parent), count)
            for state, parent, count in zip(ids.tolist(), parents.tolist(), counts, strict=True)
        ]

    def _classify(self, state: int, before: _GoalProgress | None, goal_count: int) -> tuple[int, int]:
        if before is None or goal_count < before.goal_count:
            added = self._relaxation.find_added_facts(state).tolist()
            facts = self._space.query(self._relaxation.facts[fact] for fact in added)
            standing = _GoalProgress(goal_count, facts, np.zeros(len(added), dtype=np.bool_))
        else:
            standing = _GoalProgress(goal_count, before.facts, before.reached | before.facts([state])[0])
        self._standing[state] = standing
        return goal_count, int(standing.reached.sum())


class _GoalProgress(NamedTuple):
    """The progress at an e-state: #g, the query for the relaxed facts, and the facts reached on the path, bool[n]."""

    goal_count: int
    facts: Query
    reached: NDArray[np.bool_]
