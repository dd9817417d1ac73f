"""Searches for policies in the and-or graph: replanning, and breadth first."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import count
from math import inf

import numpy as np
from numpy.typing import ArrayLike, NDArray

from epigym.space.space import StateSpace, Transitions
from search.agents.best_first import hfs
from search.agents.limits import Budget
from search.agents.result import SearchStatus
from search.agents.run import REPORT_SECONDS, Counts, SearchRun, Tell
from search.heuristics.heuristic import Heuristic
from search.policies.graph import AndOrGraph, Choices
from search.policies.policy import Policy

_FAILURES = 1000
"""Of replanning, after which it is left to breadth-first search."""
_BATCH = 16
"""E-states expanded at a time."""

Path = list[tuple[int, int]]


class LimitError(Exception):
    """Raised when a limit ends a search.

    Attributes:
        status: the limit.
    """

    def __init__(self, status: SearchStatus) -> None:
        super().__init__(status)
        self.status = status


class PolicySearch:
    """A search for policies in the and-or graph of a space.

    Args:
        space: whose initial e-state is the start.
        heuristic: estimates distances to the goal.
        budget: the limits, with a running clock.
        tell: receives the counts now and then, until a policy is found.

    Attributes:
        graph: what is explored.
        cyclic: the strong cyclic policy that was found, if one was searched.
        is_optimal: whether no strong policy has a lower depth than the one that was found.
    """

    def __init__(self, space: StateSpace, heuristic: Heuristic, budget: Budget, tell: Tell | None = None) -> None:
        self.graph = AndOrGraph(space)
        self.cyclic: Choices | None = None
        self.is_optimal = False
        self._root = space.initial
        self._tell = tell
        self._heuristic, self._budget = heuristic, budget
        self._next_report = 0.0

    @property
    def is_solved(self) -> bool:
        """Whether a policy was found."""
        return self._root in self.graph.depth or self.cyclic is not None

    def policy(self) -> Policy:
        """The policy that was found."""
        is_cyclic = self._root not in self.graph.depth
        choice = self.cyclic if is_cyclic and self.cyclic is not None else self.graph.choice
        return Policy.of(self.graph.space, choice, is_cyclic=is_cyclic)

    def counts(self) -> Counts:
        """How far the search came."""
        return Counts(len(self.graph.options), self.graph.generated, len(self.graph))

    def strong(self) -> bool:
        """Search a strong policy: replanning first, then breadth first; False is a proof that there is none."""
        self.replan()
        for _ in self._explore(inf):
            self.graph.find_dead()
        return self._root in self.graph.depth

    def improve(self) -> None:
        """Go on from a strong policy until none has a lower depth.

        When all e-states up to some distance are expanded as far as they matter, each policy that is at most one step
        deeper than that is known: one of two steps more cannot be improved.
        """
        for distance in count():
            if self.graph.depth[self._root] <= distance + 1:
                break
            for _ in self._explore(distance):
                self.graph.find_dead()
        self.is_optimal = True

    def strong_cyclic(self) -> bool:
        """Search a strong policy by replanning, then a strong cyclic one; False is a proof that there is none."""
        self.replan()
        if self._root in self.graph.depth:
            return True
        for _ in self._explore(inf, is_cyclic=True):
            self.cyclic = self.graph.find_cyclic(self._root)
            if self.cyclic is not None or self.graph.find_cyclic(self._root, optimistic=True) is None:
                break
        return self.is_solved  # also by a strong policy, which ends the loop without a step

    def follow(self, plan: Sequence[int]) -> None:
        """Expand what a linear plan comes to; where it reaches the goal whatever happens, that is a policy."""
        reached = {self._root}
        for action in plan:
            states = sorted(reached - self.graph.depth.keys())
            self._expand(states)
            found = self.graph.space.outcomes(np.array(states, np.int32))
            reached = set(found.target[found.action == action].tolist())

    def replan(self) -> None:
        """Search a strong policy by replanning on the all-outcomes determinisation; it may give up.

        A path leads to a goal or a solved e-state. Then the other outcomes on it are solved, the last ones first. An
        action is forbidden for the time being where an outcome of it has no path that avoids the e-states before it.

        Source: Muise, McIlraith, Beck, "Improved Non-deterministic Planning by Exploiting State Relevance" (ICAPS
        2012), without the generalisation of e-states.
        """
        graph, stack, planned, failures = self.graph, [self._root], dict[int, int](), 0
        forbidden: defaultdict[int, set[int]] = defaultdict(set)
        while stack and failures < _FAILURES:
            state = stack[-1]
            if state in graph.depth or state in graph.dead:
                stack.pop()
                forbidden.pop(state, None)
                continue
            view = _Determinised(self, stack, forbidden)
            if state not in planned or not view.allows(state, planned[state]):
                if path := self._find_path(view):
                    planned.update(path)
                    continue
                failures += 1
                graph.find_dead()
                stack.pop()
                forbidden.pop(state, None)
                if stack:
                    forbidden[stack[-1]].add(planned.pop(stack[-1]))
                continue
            unsolved = [target for target in graph.options[state][planned[state]] if target not in graph.depth]
            stack.append(next((target for target in unsolved if target in planned), unsolved[0]))

    def _find_path(self, view: _Determinised) -> Path | None:
        """A path to a solved e-state; None where there is none."""
        run = SearchRun(view, self._budget)
        steps = hfs().start(run, self._heuristic)
        try:
            next(steps)
            while True:
                steps.send(1)
        except StopIteration:
            pass
        if run.goal is None:
            return None
        path: Path = []
        state = run.goal
        while state != view.initial:
            parents, actions = run.ways(np.array([state], np.int32))
            state = int(parents[0])
            path.append((state, int(actions[0])))
        return path

    def _explore(self, most: float, *, is_cyclic: bool = False) -> Iterator[None]:
        """Expand the e-states up to a distance that matter; stop whenever the graph has doubled, and at the end.

        With a limit, solved e-states matter while a lower depth is possible; without one they do not, and the end comes
        when the initial e-state is solved or dead.
        """
        graph, next_stop = self.graph, 2 * len(self.graph.options)
        layer, distance = [self._root], 0
        seen = set(layer)
        while layer and distance <= most:
            for k in range(0, len(layer), _BATCH):
                is_dead = not is_cyclic and self._root in graph.dead
                if most == inf and (is_dead or self._root in graph.depth):
                    return
                self._expand(layer[k : k + _BATCH])
                if len(graph.options) > next_stop:
                    next_stop = 2 * len(graph.options)
                    yield
            dead = set[int]() if is_cyclic else graph.dead
            actions = (targets for state in layer for targets in graph.options[state].values())
            targets = (target for found in actions if dead.isdisjoint(found) for target in found)
            fresh = dict.fromkeys(target for target in targets if target not in seen)
            layer = [state for state in fresh if state not in graph.depth or graph.depth[state] > most - distance]
            seen.update(layer)
            distance += 1
        yield

    def _expand(self, states: Sequence[int]) -> None:
        if (limit := self._budget.exceeded(len(self.graph.options))) is not None:
            raise LimitError(limit)
        self.graph.expand(states)
        if self._tell and not self.is_solved and (now := self._budget.seconds) >= self._next_report:
            self._next_report = now + REPORT_SECONDS
            self._tell(self.counts())


class _Determinised(StateSpace):
    """The same space where an action leads to whichever outcome is wanted, and solved e-states are goals.

    Args:
        search: remembers outcomes, and has a budget.
        stack: e-states to avoid; the last one is where to start.
        forbidden: actions not to use.
    """

    def __init__(self, search: PolicySearch, stack: Sequence[int], forbidden: Mapping[int, Collection[int]]) -> None:
        self.__dict__.update(search.graph.space.__dict__)
        self.initial = stack[-1]
        self._search, self._graph = search, search.graph
        self._avoided, self._forbidden = set(stack), forbidden

    def __len__(self) -> int:
        """One e-state more than there are, so that a run remembers itself what it has seen."""
        return super().__len__() + 1

    def allows(self, state: int, action: int) -> bool:
        """Whether an action may be used, and none of its outcomes is to be avoided."""
        targets = self._graph.options[state][action]
        is_free = action not in self._forbidden.get(state, ())
        return is_free and self._graph.dead.isdisjoint(targets) and self._avoided.isdisjoint(targets)

    def is_goal(self, ids: ArrayLike) -> NDArray[np.bool_]:
        """bool[k]: which e-states are solved."""
        return np.array([state in self._graph.depth for state in np.asarray(ids).tolist()], np.bool_)

    def expand(self, ids: ArrayLike, *, stop_at_goal: bool = False, threads: int | None = None) -> Transitions:
        """Where actions may lead, up to the first goal."""
        states = np.asarray(ids).tolist()
        self._search._expand(states)
        found = [
            (state, action, target)
            for state in states
            for action, targets in self._graph.options[state].items()
            if self.allows(state, action)
            for target in targets
        ]
        end = next((k for k, (_, _, target) in enumerate(found, 1) if target in self._graph.depth), len(found))
        source, action, target = np.array(found[:end], np.int32).reshape(-1, 3).T
        return Transitions(source, action, target, np.zeros(end, np.bool_))
