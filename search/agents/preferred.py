"""`hfs_preferred` and `lazy`: greedy best-first search with a second open list for preferred actions.

Source: Helmert, "The Fast Downward Planning System" (JAIR 26, 2006), section 5; Richter, Helmert, "Preferred
Operators and Deferred Evaluation in Satisficing Planning" (ICAPS 2009).
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from epigym.config.values import Natural
from epigym.space.space import StateSpace
from search.agents.agent import Agent, Steps
from search.agents.best_first import round_to_thousandths
from search.agents.result import SearchStatus
from search.agents.run import SearchRun

_ALL, _PREFERRED = range(2)
_Entry = tuple[float, int, int]  # score, number, e-state


class _Turns:
    """Chooses the open list of the next turn: both in alternation, with extra turns for preferred actions.

    Args:
        boost: the extra turns of the list of preferred actions after progress.
        descent: whether that list has all turns until it is empty for the first time.
    """

    def __init__(self, boost: int, descent: bool) -> None:
        self._boost = boost
        self._descends = descent
        self._taken = [0, 0]
        self._best = np.inf

    def choose(self, open_lists: Sequence[list[Any]]) -> int:
        """Choose one of the lists that are not empty: the one with fewer turns, in doubt that of preferred actions."""
        self._descends &= bool(open_lists[_PREFERRED])
        if self._descends:
            return _PREFERRED
        chosen = min((each for each in (_PREFERRED, _ALL) if open_lists[each]), key=lambda each: self._taken[each])
        self._taken[chosen] += 1
        return chosen

    def report(self, score: float) -> None:
        """Report a score; a score lower than all before is progress."""
        if score < self._best:
            self._best = score
            self._taken[_PREFERRED] -= self._boost


@dataclass(frozen=True)
class _TwoOpenLists(Agent):
    """The settings of both agents.

    Attributes:
        boost: the extra turns of the open list of preferred actions whenever an e-state scores lower than all before.
        descent: whether that list has all turns until it is empty for the first time: first a search by preferred
            actions only, as in FF, then a complete search.
    """

    is_informed = True
    needs_preferences = True

    boost: Natural = 0
    descent: bool = False


@dataclass(frozen=True)
class PreferredBestFirst(_TwoOpenLists):
    """Alternates between two open lists: all e-states, and those reached by a preferred action.

    Both are ordered by lowest h, then by the order of discovery. Every e-state is expanded once. The first list holds
    all e-states, so the search is complete.
    """

    name = "hfs_preferred"

    def search(self, run: SearchRun) -> Steps:
        """Search with two open lists."""
        open_lists: tuple[list[_Entry], list[_Entry]] = ([], [])
        turns = _Turns(self.boost, self.descent)
        preferred = dict(_evaluate(run, run.root)[1])
        expanded: set[int] = set()
        state = run.space.initial
        while True:
            yield
            expanded.add(state)
            new = run.expand(np.array([state], dtype=np.int32))
            if run.goal is not None:
                return SearchStatus.SOLVED
            tried = frozenset(map_to_representatives(run.space, state, preferred.pop(state)))
            if len(new):
                scores, theirs = _evaluate(run, new)
                preferred.update(theirs)
                _, actions = run.parent_pointers(new)
                entries = zip(scores, run.number(new), new.tolist(), strict=True)
                for entry, action in zip(entries, actions.tolist(), strict=True):
                    heapq.heappush(open_lists[_ALL], entry)
                    if action in tried:
                        heapq.heappush(open_lists[_PREFERRED], entry)
                turns.report(min(scores))
            while state in expanded:
                if not any(open_lists):
                    return SearchStatus.UNSOLVABLE
                *_, state = heapq.heappop(open_lists[turns.choose(open_lists)])


@dataclass(frozen=True)
class LazyBestFirst(_TwoOpenLists):
    """The same with deferred evaluation: a successor is generated when it is popped, under the score of its parent.

    Equal scores are ordered by the time of evaluation, the actions of one e-state by declaration. An e-state counts as
    generated when it is popped, and as expanded when it is scored. The goal test takes place when it is generated.
    """

    name = "lazy"
    defers_evaluation = True

    def search(self, run: SearchRun) -> Steps:
        """Search with two open lists of e-states and their actions."""
        open_lists: tuple[list[_ParentEntry], list[_ParentEntry]] = ([], [])
        turns = _Turns(self.boost, self.descent)
        generated: set[tuple[int, int]] = set()
        state: int | None = run.space.initial
        while True:
            yield
            if state is not None:
                ids = np.array([state], dtype=np.int32)
                (score,), ((_, preferred),) = _evaluate(run, ids)
                run.expanded += 1
                turns.report(score)
                can = run.space.applicable(ids)[0]
                choices = (np.flatnonzero(can).tolist(), [action for action in preferred if can[action]])
                for open_list, actions in zip(open_lists, choices, strict=True):
                    if tried := list(dict.fromkeys(map_to_representatives(run.space, state, actions))):
                        heapq.heappush(open_list, _ParentEntry(score, run.expanded, state, tried[::-1]))
            if not any(open_lists):
                return SearchStatus.UNSOLVABLE
            edge = _pop(open_lists[turns.choose(open_lists)])
            state = None if edge in generated else run.generate_successor(*edge)
            generated.add(edge)
            if run.goal is not None:
                return SearchStatus.SOLVED


class _ParentEntry(NamedTuple):
    """An e-state in an open list with its remaining actions, the next one last."""

    score: float
    number: int
    state: int
    actions: list[int]


def _pop(open_list: list[_ParentEntry]) -> tuple[int, int]:
    """Take the next action of the best e-state; returns both."""
    branch = open_list[0]
    action = branch.actions.pop()
    if not branch.actions:
        heapq.heappop(open_list)
    return branch.state, action


def _evaluate(run: SearchRun, ids: NDArray[np.int32]) -> tuple[list[float], list[tuple[int, list[int]]]]:
    """Scores of e-states in thousandths, and each e-state with its preferred actions."""
    scores, ptr, actions = run.evaluate(ids)
    return round_to_thousandths(run.heuristic.name, ids, scores).tolist(), list(split_by_state(ids, ptr, actions))


def split_by_state(
    ids: NDArray[np.int32], ptr: NDArray[np.int64], actions: NDArray[np.int32]
) -> Iterator[tuple[int, list[int]]]:
    """E-states, int32[k], each with its part of `actions`, int32[p]; `ptr`, int64[k + 1], separates the parts."""
    flat = actions.tolist()
    return zip(ids.tolist(), (flat[first:end] for first, end in pairwise(ptr.tolist())), strict=True)


def map_to_representatives(space: StateSpace, state: int, actions: list[int]) -> list[int]:
    """Map applicable actions to those that the expansion of an e-state uses: with symmetries, their representatives."""
    if not actions or not space.symmetries:
        return actions
    representatives: list[int] = space.representatives([state])[0][actions].tolist()
    return representatives
