"""The order of best-first width search: first the e-states that show something new."""

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

_MANY = 2.0**32  # more parts than a goal has


def atoms(task: Task) -> Iterator[Formula]:
    """What an e-state can show: every fluent, every agent's beliefs about it, and the parts of the goal; some twice."""
    for name in task.fluents:
        yield literal(name, True)
    for agent in task.agents:
        for name in task.fluents:
            yield believes(agent, literal(name, True))
            yield believes(agent, literal(name, False))
    for subgoal in task.goal:
        yield from subgoal.negation_normal_form().subformulas()


class Novelty:
    """Tells the e-states of novelty 1 from the others: they make an atom true for the first time.

    The first time among the e-states of the same class, such as those of the same score.

    Source: Lipovetzky, Geffner, "Best-First Width Search" (AAAI 2017), with the novelty cut off after 1 and the atoms
    of a classical state extended by beliefs.

    Args:
        space: where the e-states live.
    """

    def __init__(self, space: StateSpace) -> None:
        shown = list(dict.fromkeys(atoms(space.task)))
        self._truth = space.query(shown)
        self._seen = defaultdict[Hashable, NDArray[np.bool_]](lambda: np.zeros(len(shown), dtype=np.bool_))

    def __call__(self, ids: NDArray[np.int32], classes: Iterable[Hashable]) -> NDArray[np.float64]:
        """float64[k]: 0 for novelty 1 and 1 for more, of `ids` (int32[k]) in their order, each in its class."""
        truth = self._truth(ids)
        found = np.ones(len(ids))
        for row, own in enumerate(classes):
            seen = self._seen[own]
            if (truth[row] > seen).any():
                found[row] = 0.0
                seen |= truth[row]
        return found


class NovelParts:
    """Ranks e-states by novelty and then by the open parts of the goal, fewest first.

    What is new is so among the e-states with as many open parts.

    Args:
        space: where the e-states live.
    """

    def __init__(self, space: StateSpace) -> None:
        self._novelty = Novelty(space)
        self._open_parts = SplitGoalCount(space)

    def __call__(self, ids: NDArray[np.int32]) -> NDArray[np.float64]:
        """float64[k]: the ranks of `ids` (int32[k]), lowest first, in their order."""
        open_parts = self._open_parts.score(ids)
        return _MANY * self._novelty(ids, open_parts.tolist()) + open_parts


class Progress:
    """The counters (#g, #r): parts of the goal that are open, and relaxed facts reached since the last part was.

    The facts are those that a relaxed plan adds, from the e-state on the way where #g fell last or else from the
    initial one; where the relaxation is uninformative there are none. The way is the one by which an e-state was first
    reached.

    Source: Lipovetzky, Geffner, "Best-First Width Search" (AAAI 2017).

    Args:
        space: where the e-states live.
    """

    def __init__(self, space: StateSpace) -> None:
        self._space = space
        self._open_parts = SplitGoalCount(space)
        self._relaxation = Relaxation(space)
        self._standing: dict[int, _Standing] = {}

    def __call__(self, ids: NDArray[np.int32], parents: NDArray[np.int64]) -> list[tuple[int, int]]:
        """(#g, #r) of `ids` (int32[k]), reached from `parents` (int64[k], asked before; -1 for the initial e-state)."""
        open_parts = self._open_parts.score(ids).astype(np.int64).tolist()
        return [
            self._classify(state, self._standing.get(parent), parts)
            for state, parent, parts in zip(ids.tolist(), parents.tolist(), open_parts, strict=True)
        ]

    def _classify(self, state: int, before: _Standing | None, open_parts: int) -> tuple[int, int]:
        if before is None or open_parts < before.open_parts:
            added = self._relaxation.added(state).tolist()
            facts = self._space.query(self._relaxation.facts[fact] for fact in added)
            standing = _Standing(open_parts, facts, np.zeros(len(added), dtype=np.bool_))
        else:
            standing = _Standing(open_parts, before.facts, before.reached | before.facts([state])[0])
        self._standing[state] = standing
        return open_parts, int(standing.reached.sum())


class _Standing(NamedTuple):
    """Of an e-state: #g, the query for the relaxed facts that count, and which of them were reached on the way."""

    open_parts: int
    facts: Query
    reached: NDArray[np.bool_]
