"""What an agent does while it searches: expand, count, remember."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from epigym.errors import InconsistentBeliefsError
from epigym.space.space import StateSpace, Transitions
from search.agents.limits import Budget

_UNSEEN, _ROOT = -1, -2  # in place of how an e-state was reached
_FIRST_ROOM = 1024  # e-states, before the array grows
REPORT_SECONDS = 0.1


@dataclass(frozen=True, slots=True)
class Counts:
    """How far a search came; counts are those of the specification, section 7."""

    expanded: int
    generated: int
    distinct: int


Tell = Callable[[Counts], None]
"""Where a search says now and then how far it came."""


class SearchRun:
    """One search of one agent: the e-states it has seen, how each was reached first, and the counts.

    The space may hold e-states that others have met: what counts here is what this agent has seen.

    Attributes:
        space: where to search.
        budget: the limits, with a running clock.
        expanded: nodes expanded so far.
        generated: successors generated so far.
        distinct: e-states seen so far, the initial one included.
        goal: the first goal that was reached, or None.
        is_shortest: whether the way to the goal is a shortest plan, as far as the agent says.
        message: what else the result says.
    """

    def __init__(self, space: StateSpace, budget: Budget, tell: Tell | None = None) -> None:
        """Begin; `tell` receives the counts ten times a second, before e-states are expanded."""
        self.space = space
        self.budget = budget
        self.is_shortest = False
        self.message = ""
        self._tell = tell
        self._next_report = 0.0
        self.expanded = 0
        self.generated = 0
        self.distinct = 1
        self._n_actions = max(len(space.task.actions), 1)
        # How an e-state was reached first: predecessor * n_actions + action.
        self._via = np.full(max(len(space), _FIRST_ROOM), _UNSEEN, dtype=np.int64)
        self._via[space.initial] = _ROOT
        self.root = np.array([space.initial], dtype=np.int32)
        self.goal: int | None = space.initial if space.is_goal(self.root)[0] else None

    def generate(self, ids: NDArray[np.int32]) -> Transitions:
        """Expand e-states in the order given, up to the first goal, which becomes `self.goal`.

        Args:
            ids: int32[k], e-states seen by this agent.
        """
        self.report()
        transitions = self.space.expand(ids, stop_at_goal=True)
        source, _, target, _ = transitions
        self.expanded += len(ids)
        self.generated += len(target)
        if len(target) and self.space.is_goal(target[-1:])[0]:
            self.goal = int(target[-1])
            self.expanded -= len(ids) - 1 - int(np.flatnonzero(ids == source[-1])[0])
        return transitions

    def expand(self, ids: NDArray[np.int32]) -> NDArray[np.int32]:
        """Generate the successors of e-states and keep those that this agent had not seen.

        Args:
            ids: int32[k], e-states seen by this agent.

        Returns:
            int32[m], the unseen successors, each once, in the order of generation.
        """
        is_alone = len(self.space) == self.distinct  # then what is new to the space is new to this agent
        source, action, target, is_new = self.generate(ids)
        via = self._room_for(len(self.space))
        first = is_new
        if not is_alone:
            first = np.zeros(len(target), dtype=np.bool_)
            first[np.unique(target, return_index=True)[1]] = True  # not those further to the right
            first &= via[target] == _UNSEEN
        fresh: NDArray[np.int32] = target[first]
        via[fresh] = source[first] * np.int64(self._n_actions) + action[first]
        self.distinct += len(fresh)
        return fresh

    def numbers(self, fresh: NDArray[np.int32]) -> range:
        """The places, in the order of discovery, of the e-states that `expand` returned last, or of the root.

        Ties are broken by them, as other searches of the space change ids, but not this order.
        """
        return range(self.distinct - len(fresh), self.distinct)

    def build(self, state: int, action: int) -> int | None:
        """Generate one successor of an e-state seen by this agent; a goal becomes `self.goal`.

        Returns:
            The successor, or None when this agent had seen it, or it is ruled out by `consistent_beliefs`.
        """
        self.report()
        try:
            target = self.space.successor(state, action)
        except InconsistentBeliefsError:
            return None
        self.generated += 1
        if self._room_for(len(self.space))[target] != _UNSEEN:
            return None
        self.reach(target, state, action)
        if self.space.is_goal(np.array([target], dtype=np.int32))[0]:
            self.goal = target
        return target

    def report(self) -> None:
        """Report the counts, at most ten times a second."""
        if self._tell is not None and (now := self.budget.seconds) >= self._next_report:
            self._next_report = now + REPORT_SECONDS
            self._tell(Counts(self.expanded, self.generated, self.distinct))

    def adopt(self, other: SearchRun) -> None:
        """Take over the way that another run in the same space found to a goal, and what it says of it."""
        self.goal, self._via, self.is_shortest = other.goal, other._via, other.is_shortest

    @staticmethod
    def union(runs: Iterable[SearchRun]) -> int:
        """How many e-states some run in one space has seen."""
        seen = [run._via != _UNSEEN for run in runs]
        together = np.zeros(max(map(len, seen)), dtype=np.bool_)
        for each in seen:
            together[: len(each)] |= each
        return int(together.sum())

    def reach(self, state: int, predecessor: int, action: int) -> None:
        """Remember that `action` leads from `predecessor` to `state`, whatever was remembered before."""
        via = self._room_for(len(self.space))
        self.distinct += int(via[state] == _UNSEEN)
        via[state] = predecessor * self._n_actions + action

    def parent_pointers(self, ids: NDArray[np.int32]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """How seen e-states, int32[k], were reached first: from where and how, int64[k]; -1 for the initial one."""
        via = self._via[ids]
        parents, actions = np.divmod(via, self._n_actions)
        is_root = via == _ROOT
        return np.where(is_root, -1, parents), np.where(is_root, -1, actions)

    def plan(self) -> tuple[str, ...] | None:
        """Names of the actions that lead to the goal by the ways remembered, or None without a goal."""
        if self.goal is None:
            return None
        names: list[str] = []
        state = self.goal
        while (step := int(self._via[state])) != _ROOT:
            state, action = divmod(step, self._n_actions)
            names.append(self.space.task.actions[action].name)
        return tuple(reversed(names))

    def _room_for(self, count: int) -> NDArray[np.int64]:
        if count > len(self._via):
            grown = np.full(2 * count, _UNSEEN, dtype=np.int64)
            grown[: len(self._via)] = self._via
            self._via = grown
        return self._via
