"""Anytime weighted A*: searches for ever shorter plans until there is none.

Source: Hansen, Zhou, "Anytime Heuristic Search" (JAIR 28, 2007); the weight may decrease, as in Likhachev, Gordon,
Thrun, "ARA*" (NIPS 2003). No heuristic here is admissible, so only the depth bounds the search.
"""

from __future__ import annotations

import heapq

import numpy as np

from epigym.space.space import StateSpace
from search.agents.best_first import STEP, score_in_thousandths
from search.agents.limits import Budget
from search.agents.result import SearchStatus
from search.agents.run import ProgressCallback, SearchRun
from search.heuristics.heuristic import Heuristic


class ShorterPlans:
    """A search that continues after each plan towards a shorter one.

    E-states reached again on a shorter path are expanded again. The search drops only e-states too deep for a shorter
    plan: once its frontier is empty, there is none.

    Args:
        space: the state space.
        heuristic: bound to the same space.
        budget: the limits, with a running clock.
        on_progress: receives the counts, at most ten times a second.

    Attributes:
        run: counts and parent pointers.
    """

    def __init__(
        self, space: StateSpace, heuristic: Heuristic, budget: Budget, on_progress: ProgressCallback | None = None
    ) -> None:
        self.run = SearchRun(space, budget, on_progress=on_progress)
        self._heuristic = heuristic
        self._depths = {space.initial: 0}
        self._scores: dict[int, float] = {}
        self._frontier: list[tuple[float, float, int, int]] = []  # priority, score, e-state, depth
        self._add([space.initial], 0, 0.0)

    def next(self, weight: float, length: int) -> SearchStatus:
        """Continue, lowest g + weight * h first, until a plan of fewer than `length` actions is found.

        Args:
            weight: at least 0.
            length: the length of a known plan; at most that of the previous call.

        Returns:
            `solved`: `run.plan()` is such a plan; `unsolvable`: there is none; or the limit that ended the search.

        Raises:
            TaskError: when an action cannot be applied because designated worlds disagree about an observability type.
        """
        run = self.run
        run.goal = None
        entries = [(STEP * depth + weight * score, score, state, depth) for _, score, state, depth in self._frontier]
        heapq.heapify(entries)
        self._frontier = entries
        while entries:
            _, _, state, depth = heapq.heappop(entries)
            if depth > self._depths[state] or depth + 1 >= length:
                continue
            if limit := run.budget.check(run.expanded):
                return limit
            closer = self._expand(state, depth, length)
            if run.goal is not None:
                return SearchStatus.SOLVED
            if depth + 2 < length:  # else no successor of them can end a shorter plan
                self._add(closer, depth + 1, weight)
        return SearchStatus.UNSOLVABLE

    def _expand(self, state: int, depth: int, length: int) -> list[int]:
        """Expand an e-state; returns the successors with a new least depth, if it is less than `length`."""
        _, actions, targets, _ = self.run.generate(np.array([state], dtype=np.int32))
        closer = []
        for action, target in zip(actions.tolist(), targets.tolist(), strict=True):
            if depth + 1 < self._depths.get(target, length):
                self._depths[target] = depth + 1
                self.run.set_parent(target, state, action)
                closer.append(target)
        return closer

    def _add(self, states: list[int], depth: int, weight: float) -> None:
        """Add distinct e-states to the frontier; each is scored once."""
        unscored = np.array([state for state in states if state not in self._scores], dtype=np.int32)
        if len(unscored):
            scores = score_in_thousandths(self._heuristic, unscored, *self.run.parent_pointers(unscored))
            self._scores.update(zip(unscored.tolist(), scores.tolist(), strict=True))
        for state in states:
            score = self._scores[state]
            heapq.heappush(self._frontier, (STEP * depth + weight * score, score, state, depth))
