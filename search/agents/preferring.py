"""`hfs_preferred`: greedy best-first search with a second queue for what the heuristic's preferred actions reach."""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from epigym.errors import UsageError
from epigym.values import AtLeast
from search.agents.agent import Agent
from search.agents.best_first import thousandths
from search.agents.result import SearchStatus
from search.agents.run import SearchRun
from search.heuristics.heuristic import Heuristic

_ALL, _PREFERRED = range(2)


@dataclass(frozen=True)
class Preferring(Agent):
    """Expands in turn the best of all e-states and the best of those that a preferred action reached.

    Best is lowest h, then lowest id; every e-state is expanded once. Both queues hold all that falls to them, so the
    search is complete.

    Source: Helmert, "The Fast Downward Planning System" (JAIR 26, 2006), section 5; Richter, Helmert, "Preferred
    Operators and Deferred Evaluation in Satisficing Planning" (ICAPS 2009).

    Attributes:
        boost: how many turns in a row the queue of preferred actions gets whenever an e-state scores lower than all
            before.
    """

    name = "hfs_preferred"
    is_informed = True

    boost: Annotated[int, AtLeast(0)] = 0

    def _search(self, run: SearchRun, heuristic: Heuristic | None) -> SearchStatus:
        if heuristic is None or not heuristic.prefers:
            raise UsageError(f"agent {self.name!r} needs a heuristic that prefers actions, for example heuristic=h_add")
        queues: tuple[list[tuple[float, int]], list[tuple[float, int]]] = ([(0.0, run.space.initial)], [])
        turns = [0, 0]
        best = np.inf
        expanded: set[int] = set()
        preferred = dict(_preferred(heuristic, run.root)[1])
        while any(queues):
            if limit := run.budget.exceeded(run.expanded):
                return limit
            chosen = min((queue for queue in (_ALL, _PREFERRED) if queues[queue]), key=lambda queue: turns[queue])
            turns[chosen] += 1
            _, state = heapq.heappop(queues[chosen])
            if state in expanded:
                continue
            expanded.add(state)
            fresh = run.expand(np.array([state], dtype=np.int32))
            if run.goal is not None:
                return SearchStatus.SOLVED
            liked = preferred.pop(state)
            if len(fresh) == 0:
                continue
            scores, theirs = _preferred(heuristic, fresh)
            preferred.update(theirs)
            for entry, action in zip(
                zip(scores, fresh.tolist(), strict=True), run.actions(fresh).tolist(), strict=True
            ):
                heapq.heappush(queues[_ALL], entry)
                if action in liked:
                    heapq.heappush(queues[_PREFERRED], entry)
            if min(scores) < best:
                best = min(scores)
                turns[_PREFERRED] -= self.boost
        return SearchStatus.UNSOLVABLE


def _preferred(heuristic: Heuristic, ids: NDArray[np.int32]) -> tuple[list[float], list[tuple[int, frozenset[int]]]]:
    """Scores of e-states, and each with its preferred actions."""
    scores, ptr, actions = heuristic.evaluate(ids)
    parts = np.split(actions, ptr[1:-1])
    liked = [(state, frozenset(part.tolist())) for state, part in zip(ids.tolist(), parts, strict=True)]
    return thousandths(heuristic.name, ids, scores).tolist(), liked
