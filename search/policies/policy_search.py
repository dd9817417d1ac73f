"""Searches for policies in the and-or graph: replanning and breadth-first search take turns by counted work.

Equal inputs give equal results on every machine, as with `search.agents.interleaved`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from functools import partial
from heapq import heappop, heappush
from itertools import count, takewhile
from math import inf

import numpy as np

from epigym.space.space import StateSpace
from search.agents.interleaved import TURN, Work
from search.agents.limits import Budget
from search.agents.result import SearchStatus
from search.agents.run import REPORT_SECONDS, Counts, ProgressCallback
from search.heuristics.heuristic import Heuristic
from search.policies.graph import AndOrGraph, Choices
from search.policies.policy import Policy

_BATCH = 16
"""The number of e-states that breadth-first search expands at a time."""
_TEST = 0.5
"""The work of a test for dead e-states per outcome; see `Work`."""
_PATIENCE = 5_000.0
"""The work for which a first cyclic policy waits for a strong one."""


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
        on_progress: receives the counts, at most ten times a second.

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
        self._wants_cyclic, self._patience = False, inf
        self._on_progress = on_progress
        self._heuristic, self._budget, self._work = heuristic, budget, Work(space)
        self._next_report = 0.0

    @property
    def is_solved(self) -> bool:
        """Whether the search has found a policy."""
        return self._root in self.graph.depth or self.cyclic is not None

    @property
    def depth(self) -> int | None:
        """The depth of the best strong policy; None when there is none."""
        return self.graph.depth.get(self._root)

    def make_policy(self) -> Policy:
        """Make the best policy until now."""
        is_cyclic = self._root not in self.graph.depth
        choice = self.cyclic if is_cyclic and self.cyclic is not None else self.graph.choice
        return Policy.of(self.graph.space, choice, is_cyclic=is_cyclic)

    def counts(self) -> Counts:
        """Expanded e-states, computed outcomes, and e-states of the and-or graph."""
        return Counts(len(self.graph.options), self.graph.generated, len(self.graph))

    def find_strong(self) -> bool:
        """Search for a strong policy; False proves that there is none."""
        self._wants_cyclic = False
        self._take_turns(self.replan(), self._explore(inf))
        return self._root in self.graph.depth

    def improve(self) -> None:
        """Improve a strong policy until none has a lower depth.

        Once the relevant e-states up to a distance d are expanded, all policies of depth d + 1 or less are known, so
        that a policy of depth d + 2 has the least depth.
        """
        for distance in takewhile(lambda distance: self.graph.depth[self._root] > distance + 1, count()):
            self._take_turns(self._explore(distance))
        self.is_optimal = True

    def find_strong_cyclic(self) -> bool:
        """Search for a strong cyclic policy, or a strong one if that costs little; False proves that there is none."""
        self._wants_cyclic = True
        self._take_turns(self.replan(), self._explore(inf))
        return self.is_solved

    def follow(self, plan: Sequence[str]) -> None:
        """Expand the e-states that a linear plan reaches; if all its executions end in goals, the search is solved."""
        reached, names = {self._root}, [action.name for action in self.graph.space.task.actions]
        for name in plan:
            states = sorted(reached - self.graph.depth.keys())
            self._expand(states)
            found = self.graph.space.outcomes(np.array(states, np.int32))
            reached = set(found.target[found.action == names.index(name)].tolist())

    def replan(self) -> Iterator[None]:
        """Search for a strong policy by replanning on the all-outcomes determinisation; yields after each expansion.

        The search finds a path to a goal or a solved e-state, then solves the other outcomes on that path, the last
        ones first. It forbids an action while some outcome has no path that avoids the e-states before the action.
        It may fail although there is a strong policy.

        Source: Muise, McIlraith, Beck, "Improved Non-deterministic Planning by Exploiting State Relevance" (ICAPS
        2012), without the generalisation of e-states.
        """
        graph, stack, planned = self.graph, [self._root], dict[int, int]()
        forbidden = defaultdict[int, set[int]](set)

        def allows(state: int, action: int) -> bool:
            targets = graph.options[state][action]
            return action not in forbidden[state] and graph.dead.isdisjoint(targets) and not seen.intersection(targets)

        while stack:
            state, seen = stack[-1], set(stack)
            if self._is_decided(stack):
                forbidden.pop(stack.pop(), None)
            elif state in planned and allows(state, planned[state]):
                unsolved = [target for target in graph.options[state][planned[state]] if target not in graph.depth]
                stack.append(next((target for target in unsolved if target in planned), unsolved[0]))
            elif path := (yield from self._find_path(stack, allows)):
                planned.update(path)
            elif not self._is_decided(stack):
                graph.find_dead()
                forbidden.pop(stack.pop(), None)
                if stack:
                    forbidden[stack[-1]].add(planned.pop(stack[-1]))

    def _find_path(
        self, stack: Sequence[int], allows: Callable[[int, int], bool]
    ) -> Generator[None, None, Choices | None]:
        """Find the actions of a path to a solved e-state by greedy best-first search from the last e-state of a stack.

        The result is None if there is no path, or an e-state of the stack is solved or dead.
        """
        graph, parents = self.graph, {stack[-1]: (stack[-1], -1)}
        numbers = count()
        frontier = [(0.0, next(numbers), stack[-1])]  # heuristic value, number, e-state
        while frontier and not self._is_decided(stack):
            *_, state = heappop(frontier)
            self._expand([state])
            yield
            new = list[int]()
            for action in filter(partial(allows, state), graph.options[state]):
                for target in graph.options[state][action]:
                    if target not in parents:
                        parents[target] = state, action
                        new.append(target)
            if (solved := next((each for each in (state, *new) if each in graph.depth), None)) is not None:
                path: Choices = {}
                while solved != stack[-1]:
                    solved, action = parents[solved]
                    path[solved] = action
                return path
            for value, target in zip(self._heuristic.score(np.array(new, np.int32)).tolist(), new, strict=True):
                heappush(frontier, (value, next(numbers), target))
        return None

    def _is_decided(self, states: Iterable[int]) -> bool:
        """Whether an e-state is known to have a strong policy, or to have none."""
        return any(state in self.graph.depth or state in self.graph.dead for state in states)

    def _explore(self, most: float) -> Iterator[None]:
        """Expand the relevant e-states up to a distance; yields after each batch.

        With a finite distance, solved e-states are relevant while a lower depth is possible. Otherwise they are not,
        and the exploration ends when the search is decided.
        """
        graph, layer, distance = self.graph, [self._root], 0
        seen = set(layer)
        while layer and distance <= most:
            for k in range(0, len(layer), _BATCH):
                if most == inf and self._is_finished:
                    return
                self._expand(layer[k : k + _BATCH])
                yield
            actions = (targets for state in layer for targets in graph.options[state].values())
            targets = (target for found in actions if self._hopeless.isdisjoint(found) for target in found)
            new = dict.fromkeys(target for target in targets if target not in seen)
            layer = [state for state in new if state not in graph.depth or graph.depth[state] > most - distance]
            seen.update(layer)
            distance += 1

    def _take_turns(self, *searches: Iterator[None]) -> None:
        """Let searches take turns until the last one ends: the one with the least work until now has the next turn.

        Whenever the graph has doubled, and at the end, it is tested whether it has or excludes a policy.
        """
        spent, next_test = dict.fromkeys(searches, 0.0), 1
        while searches[-1] in spent:
            search = min(spent, key=spent.__getitem__)
            before = self._measure_work()
            if next(search, True):  # it has ended
                del spent[search]
            else:
                spent[search] += TURN + self._measure_work() - before
            has_ended = searches[-1] not in spent and not self.is_solved
            if has_ended or len(self.graph.options) >= next_test:
                self._test()
                next_test = 2 * len(self.graph.options)

    def _measure_work(self) -> float:
        """The work until now, counted in about microseconds, see `search.agents.interleaved.Work`."""
        return self._work.measure() + _TEST * self.graph.tested

    def _test(self) -> None:
        """Update the e-states without a policy and, in a search for one, the cyclic policy."""
        self.graph.find_dead()
        if self._wants_cyclic and self.cyclic is None:
            self.graph.find_trapped()
            self.cyclic = self.graph.find_cyclic()
            self._patience = 2 * self._measure_work() + _PATIENCE

    @property
    def _hopeless(self) -> set[int]:
        """The e-states that have no policy of the kind that is searched for."""
        return self.graph.trapped if self._wants_cyclic else self.graph.dead

    @property
    def _is_finished(self) -> bool:
        """Whether a search for any policy may end: the initial e-state is decided.

        A cyclic policy waits for a strong one while there may be one, until the work has doubled.
        """
        if self._root in self.graph.depth or self._root in self._hopeless:
            return True
        return self.cyclic is not None and (self._root in self.graph.dead or self._measure_work() >= self._patience)

    def _expand(self, states: Sequence[int]) -> None:
        if (limit := self._budget.check(len(self.graph.options))) is not None:
            raise BudgetExceededError(limit)
        new = [state for state in states if state not in self.graph.options]
        most = self._budget.expansions_left(len(self.graph.options))
        self.graph.expand(new[:most])
        if len(new) > most:
            raise BudgetExceededError(SearchStatus.EXPANSION_LIMIT)
        if self._on_progress and (now := self._budget.seconds) >= self._next_report:
            self._next_report = now + REPORT_SECONDS
            self._on_progress(self.counts())
