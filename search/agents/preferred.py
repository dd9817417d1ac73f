"""`hfs_preferred` and `lazy`: greedy best-first search with a second queue for what preferred actions reach.

Source: Helmert, "The Fast Downward Planning System" (JAIR 26, 2006), section 5; Richter, Helmert, "Preferred
Operators and Deferred Evaluation in Satisficing Planning" (ICAPS 2009).
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from epigym.config.values import AtLeast
from epigym.space.space import StateSpace
from search.agents.agent import Agent, Steps
from search.agents.best_first import round_to_thousandths
from search.agents.result import SearchStatus
from search.agents.run import SearchRun
from search.heuristics.heuristic import Heuristic

_ALL, _PREFERRED = range(2)
_Entry = tuple[float, int, int]  # score, number, e-state


class _Turns:
    """Which of two queues is popped next: each in its turn, that of preferred actions more often after progress.

    Args:
        boost: how many turns in a row progress is worth.
        descent: whether the queue of preferred actions has all turns until it is empty for the first time.
    """

    def __init__(self, boost: int, descent: bool) -> None:
        self._boost = boost
        self._descends = descent
        self._taken = [0, 0]
        self._best = np.inf

    def next(self, queues: Sequence[list[Any]]) -> int:
        """The queue whose turn it is, of those that are not empty; of equals that of preferred actions."""
        self._descends &= bool(queues[_PREFERRED])
        if self._descends:
            return _PREFERRED
        chosen = min((queue for queue in (_PREFERRED, _ALL) if queues[queue]), key=lambda queue: self._taken[queue])
        self._taken[chosen] += 1
        return chosen

    def report(self, score: float) -> None:
        """An e-state with this score was met; progress is a score lower than all before."""
        if score < self._best:
            self._best = score
            self._taken[_PREFERRED] -= self._boost


@dataclass(frozen=True)
class _TwoQueues(Agent):
    """What both agents are: informed, in need of preferences, and with these settings.

    Attributes:
        boost: how many turns in a row the queue of preferred actions gets whenever an e-state scores lower than all
            before.
        descent: whether it gets all turns until it is empty for the first time: first a search among preferred actions
            only, as in FF, then the full one.
    """

    is_informed = True
    needs_preferences = True

    boost: Annotated[int, AtLeast(0)] = 0
    descent: bool = False


@dataclass(frozen=True)
class Preferring(_TwoQueues):
    """Expands in turn the best of all e-states and the best of those that a preferred action reached.

    Best is lowest h, then the order of discovery; every e-state is expanded once. The first queue holds all e-states,
    so the search is complete.
    """

    name = "hfs_preferred"

    def start(self, run: SearchRun, heuristic: Heuristic | None) -> Steps:
        """Start the search."""
        assert heuristic is not None
        queues: tuple[list[_Entry], list[_Entry]] = ([], [])
        turns = _Turns(self.boost, self.descent)
        preferred = dict(_evaluate(run, heuristic, run.root)[1])
        expanded: set[int] = set()
        state = run.space.initial
        while True:
            yield
            expanded.add(state)
            fresh = run.expand(np.array([state], dtype=np.int32))
            if run.goal is not None:
                return SearchStatus.SOLVED
            liked = map_to_representatives(run.space, state, preferred.pop(state))
            if len(fresh):
                scores, theirs = _evaluate(run, heuristic, fresh)
                preferred.update(theirs)
                _, actions = run.parent_pointers(fresh)
                entries = zip(scores, run.numbers(fresh), fresh.tolist(), strict=True)
                for entry, action in zip(entries, actions.tolist(), strict=True):
                    heapq.heappush(queues[_ALL], entry)
                    if action in liked:
                        heapq.heappush(queues[_PREFERRED], entry)
                turns.report(min(scores))
            while state in expanded:
                if not any(queues):
                    return SearchStatus.UNSOLVABLE
                *_, state = heapq.heappop(queues[turns.next(queues)])


@dataclass(frozen=True)
class Lazy(_TwoQueues):
    """The same with deferred evaluation: a successor is built when its turn comes, under the score of its parent.

    Of equal scores what was scored first comes first, and its actions in the order of declaration. An e-state counts
    as generated when it is built, and as expanded when it is scored; whether it is a goal is asked when it is built.
    """

    name = "lazy"
    defers_evaluation = True

    def start(self, run: SearchRun, heuristic: Heuristic | None) -> Steps:
        """Start the search."""
        assert heuristic is not None
        queues: tuple[list[_Branch], list[_Branch]] = ([], [])
        turns = _Turns(self.boost, self.descent)
        built: set[tuple[int, int]] = set()
        state: int | None = run.space.initial
        while True:
            yield
            if state is not None:
                ids = np.array([state], dtype=np.int32)
                (score,), ((_, liked),) = _evaluate(run, heuristic, ids)
                run.expanded += 1
                turns.report(score)
                can, first = run.space.applicable(ids)[0], run.space.representatives(ids)[0]
                for queue, actions in zip(
                    queues, (np.flatnonzero(can).tolist(), [action for action in liked if can[action]]), strict=True
                ):
                    if actions:
                        tried = list(dict.fromkeys(first[actions].tolist()))
                        heapq.heappush(queue, _Branch(score, run.expanded, state, tried[::-1]))
            if not any(queues):
                return SearchStatus.UNSOLVABLE
            edge = _pop(queues[turns.next(queues)])
            state = None if edge in built else run.build(*edge)
            built.add(edge)
            if run.goal is not None:
                return SearchStatus.SOLVED


class _Branch(NamedTuple):
    """The actions of an e-state that are still to be tried, the next one last."""

    score: float
    number: int
    state: int
    actions: list[int]


def _pop(queue: list[_Branch]) -> tuple[int, int]:
    """The best e-state of a queue and its next action."""
    branch = queue[0]
    action = branch.actions.pop()
    if not branch.actions:
        heapq.heappop(queue)
    return branch.state, action


def _evaluate(
    run: SearchRun, heuristic: Heuristic, ids: NDArray[np.int32]
) -> tuple[list[float], list[tuple[int, list[int]]]]:
    """Scores of e-states, and each with its preferred actions."""
    scores, ptr, actions = heuristic.evaluate(ids, *run.parent_pointers(ids))
    return round_to_thousandths(heuristic.name, ids, scores).tolist(), list(split_by_state(ids, ptr, actions))


def split_by_state(
    ids: NDArray[np.int32], ptr: NDArray[np.int64], actions: NDArray[np.int32]
) -> Iterator[tuple[int, list[int]]]:
    """E-states, int32[k], each with its own of some actions, int32[p], which start where `ptr` (int64[k + 1]) says."""
    parts = np.split(actions, ptr[1:-1])
    return zip(ids.tolist(), (part.tolist() for part in parts), strict=True)


def map_to_representatives(space: StateSpace, state: int, actions: list[int]) -> frozenset[int]:
    """What the expansion of an e-state tries for applicable actions: themselves, or what a symmetry maps them to."""
    return frozenset(space.representatives([state])[0][actions].tolist()) if actions else frozenset()
