"""The order of best-first width search: first the e-states that show something new."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from epigym.formula import Formula, believes, literal
from epigym.space import StateSpace
from epigym.task import Task


def atoms(task: Task) -> tuple[Formula, ...]:
    """What an e-state can show: every fluent, every agent's beliefs about it, and the parts of the goal."""
    return tuple(dict.fromkeys(_atoms(task)))


def _atoms(task: Task) -> Iterator[Formula]:
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

    The first time among the e-states that have the same score, rounded to whole steps.

    Source: Lipovetzky, Geffner, "Best-First Width Search" (AAAI 2017), with the novelty w_h cut off after 1 and the
    atoms of a classical state extended by beliefs.

    Args:
        space: where the e-states live.
    """

    def __init__(self, space: StateSpace) -> None:
        shown = atoms(space.task)
        self._truth = space.query(shown)
        self._seen = defaultdict[float, NDArray[np.bool_]](lambda: np.zeros(len(shown), dtype=np.bool_))

    def classes(self, ids: NDArray[np.int32], scores: NDArray[np.float64]) -> NDArray[np.float64]:
        """float64[k]: 0 for novelty 1 and 1 for more, of `ids` (int32[k]) in their order, with float64[k] scores."""
        truth = self._truth(ids)
        classes = np.ones(len(ids))
        for row, score in enumerate(np.rint(scores).tolist()):
            seen = self._seen[score]
            if (truth[row] > seen).any():
                classes[row] = 0.0
                seen |= truth[row]
        return classes
