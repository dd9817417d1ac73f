"""Searches for policies in the and-or graph: replanning and breadth-first search."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from heapq import heappop, heappush
from itertools import count, takewhile
from math import inf

import numpy as np

from epigym.space.space import StateSpace
from search.agents.limits import Budget
from search.agents.result import SearchStatus
from search.agents.run import REPORT_SECONDS, Counts, ProgressCallback
from search.heuristics.heuristic import Heuristic
from search.policies.graph import AndOrGraph, Choices
from search.policies.policy import Policy

_FAILURES = 1000
"""The failures of replanning after which breadth-first search takes over."""
_BATCH = 16
"""The number of e-states expanded at a time."""


class BudgetExceededError(Exception):
    """Raised when a limit ends the search.

    Attributes:
        status: the status that names the limit.
    """

    def __init__(self, status: SearchStatus) -> None:
        super().__init__(status)
        self.status = status


class PolicySearch:
    """A search for policies in the and-or graph of a space.

    Args:
        space: the state space; the search starts at its initial e-state.
        heuristic: estimates distances to the goal.
        budget: the limits, with a running clock.
        on_progress: receives the counts, at most ten times a second, until the search has found a policy.

    Attributes:
        graph: the explored part of the and-or graph.
        cyclic: the strong cyclic policy that `find_strong_cyclic` has found.
        is_optimal: whether no strong policy has a lower depth than the current one.
    """

    def __init__(
        self, space: StateSpace, heuristic: Heuristic, budget: Budget, on_progress: ProgressCallback | None = None
    ) -> None:
        self.graph = AndOrGraph(space)
        self.cyclic: Choices | None = None
        self.is_optimal = False
        self._root = space.initial
        self._on_progress = on_progress
        self._heuristic, self._budget = heuristic, budget
        self._next_report = 0.0

    @property
    def is_solved(self) -> bool:
        """Whether the search has found a policy."""
        return self._root in self.graph.depth or self.cyclic is not None

    def make_policy(self) -> Policy:
        """Make the best policy until now."""
        is_cyclic = self._root not in self.graph.depth
        choice = self.cyclic if is_cyclic and self.cyclic is not None else self.graph.choice
        return Policy.of(self.graph.space, choice, is_cyclic=is_cyclic)

    def counts(self) -> Counts:
        """Expanded e-states, computed outcomes, and e-states of the and-or graph."""
        return Counts(len(self.graph.options), self.graph.generated, len(self.graph))

    def find_strong(self) -> bool:
        """Search for a strong policy by replanning, then breadth first; False proves that there is none."""
        self.replan()
        for _ in self._explore(inf):
            self.graph.find_dead()
        return self._root in self.graph.depth

    def improve(self) -> None:
        """Improve a strong policy until none has a lower depth.

        Once the relevant e-states up to a distance d are expanded, all policies of depth d + 1 or less are known, so
        that a policy of depth d + 2 has the least depth.
        """
        for distance in takewhile(lambda distance: self.graph.depth[self._root] > distance + 1, count()):
            for _ in self._explore(distance):
                self.graph.find_dead()
        self.is_optimal = True

    def find_strong_cyclic(self) -> bool:
        """Search for a strong policy by replanning, then for a strong cyclic one; False proves that there is none."""
        self.replan()
        self.graph.dead.clear()  # they may have a strong cyclic policy
        for _ in self._explore(inf):
            self.cyclic = self.graph.find_cyclic()
            if self.cyclic is not None or self.graph.find_cyclic(optimistic=True) is None:
                break
        return self.is_solved  # a strong policy ends the loop without a step

    def follow(self, plan: Sequence[str]) -> None:
        """Expand the e-states that a linear plan reaches; if all its executions end in goals, the search is solved."""
        reached, names = {self._root}, [action.name for action in self.graph.space.task.actions]
        for name in plan:
            states = sorted(reached - self.graph.depth.keys())
            self._expand(states)
            found = self.graph.space.outcomes(np.array(states, np.int32))
            reached = set(found.target[found.action == names.index(name)].tolist())

    def replan(self) -> None:
        """Search for a strong policy by replanning on the all-outcomes determinisation; gives up after some failures.

        The search finds a path to a goal or a solved e-state, then solves the other outcomes on that path, the last
        ones first. It forbids an action while some outcome has no path that avoids the e-states before the action.

        Source: Muise, McIlraith, Beck, "Improved Non-deterministic Planning by Exploiting State Relevance" (ICAPS
        2012), without the generalisation of e-states.
        """
        graph, stack, planned, failures = self.graph, [self._root], dict[int, int](), 0
        forbidden = defaultdict[int, set[int]](set)

        def allows(state: int, action: int) -> bool:
            targets = graph.options[state][action]
            return action not in forbidden[state] and graph.dead.isdisjoint(targets) and not seen.intersection(targets)

        while stack and failures < _FAILURES:
            state, seen = stack[-1], set(stack)
            if state in graph.depth or state in graph.dead:
                forbidden.pop(stack.pop(), None)
            elif state in planned and allows(state, planned[state]):
                unsolved = [target for target in graph.options[state][planned[state]] if target not in graph.depth]
                stack.append(next((target for target in unsolved if target in planned), unsolved[0]))
            elif path := self._find_path(state, allows):
                planned.update(path)
            else:
                failures += 1
                graph.find_dead()
                forbidden.pop(stack.pop(), None)
                if stack:
                    forbidden[stack[-1]].add(planned.pop(stack[-1]))

    def _find_path(self, start: int, allows: Callable[[int, int], bool]) -> Choices | None:
        """Find the actions of a path to a solved e-state by greedy best-first search; None if there is no path."""
        graph, parents = self.graph, {start: (start, -1)}
        numbers = count()
        frontier = [(0.0, next(numbers), start)]  # heuristic value, number, e-state
        while frontier:
            *_, state = heappop(frontier)
            self._expand([state])
            new = list[int]()
            for action in filter(partial(allows, state), graph.options[state]):
                for target in graph.options[state][action]:
                    if target not in parents:
                        parents[target] = state, action
                        new.append(target)
                    if target in graph.depth:
                        path: Choices = {}
                        while target != start:
                            target, action = parents[target]
                            path[target] = action
                        return path
            for value, target in zip(self._heuristic.score(np.array(new, np.int32)).tolist(), new, strict=True):
                heappush(frontier, (value, next(numbers), target))
        return None

    def _explore(self, most: float) -> Iterator[None]:
        """Expand the relevant e-states up to a distance; yields whenever the graph has doubled, and at the end.

        With a finite distance, solved e-states are relevant while a lower depth is possible. Otherwise they are not,
        and the exploration ends when the initial e-state is solved or dead.
        """
        graph, next_stop = self.graph, 2 * len(self.graph.options)
        layer, distance = [self._root], 0
        seen = set(layer)
        while layer and distance <= most:
            for k in range(0, len(layer), _BATCH):
                if most == inf and (self._root in graph.dead or self._root in graph.depth):
                    return
                self._expand(layer[k : k + _BATCH])
                if len(graph.options) > next_stop:
                    next_stop = 2 * len(graph.options)
                    yield
            actions = (targets for state in layer for targets in graph.options[state].values())
            targets = (target for found in actions if graph.dead.isdisjoint(found) for target in found)
            new = dict.fromkeys(target for target in targets if target not in seen)
            layer = [state for state in new if state not in graph.depth or graph.depth[state] > most - distance]
            seen.update(layer)
            distance += 1
        yield

    def _expand(self, states: Sequence[int]) -> None:
        if (limit := self._budget.check(len(self.graph.options))) is not None:
            raise BudgetExceededError(limit)
        self.graph.expand(states)
        if self._on_progress and not self.is_solved and (now := self._budget.seconds) >= self._next_report:
            self._next_report = now + REPORT_SECONDS
            self._on_progress(self.counts())
