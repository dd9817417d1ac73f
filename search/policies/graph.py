"""The explored part of the and-or graph of outcomes, with its solved e-states and those without a policy."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterable
from math import inf

import numpy as np

from epigym.space.space import StateSpace

Choices = dict[int, int]
"""Maps each e-state of a policy, goals excepted, to an action."""


class AndOrGraph:
    """E-states, their actions, and the outcomes of each action.

    Args:
        space: the state space of the e-states.

    Attributes:
        space: the state space of the e-states.
        options: maps each expanded e-state to its actions, and each action to the distinct e-states that its outcomes
            lead to. It omits actions that change nothing, and those that lead to the same e-states as an earlier one.
        depth: maps each solved e-state to the least known depth of a strong policy, which is 0 at goals. The outcomes
            of the chosen action have smaller depths, so that choices have no cycle.
        choice: maps each solved e-state, goals excepted, to its action.
        dead: e-states that provably have no strong policy.
        trapped: e-states that provably have no strong cyclic policy.
        generated: the number of outcomes computed.
        tested: the number of outcomes that `find_dead` has followed, which measures its work.
    """

    def __init__(self, space: StateSpace) -> None:
        self.space = space
        self.options: dict[int, dict[int, tuple[int, ...]]] = {}
        self.depth: dict[int, int] = {}
        self.choice: Choices = {}
        self.dead, self.trapped = set[int](), set[int]()
        self.generated, self.tested = 0, 0
        self._checked = 0  # the number of expanded e-states at the last call of `find_dead`
        self._seen: set[int] = set()
        self._uses: defaultdict[int, list[tuple[int, int]]] = defaultdict(list)
        self._add([space.initial])

    def __len__(self) -> int:
        """Number of e-states generated, the initial one included."""
        return len(self._seen)

    def expand(self, states: Iterable[int]) -> None:
        """Compute the outcomes of e-states that are not expanded yet, and update depths and choices."""
        new = [state for state in dict.fromkeys(states) if state not in self.options]
        if not new:
            return
        found = self.space.outcomes(np.array(new, np.int32))
        self.generated += len(found.target)
        self._add(found.target.tolist())
        targets: defaultdict[tuple[int, int], dict[int, None]] = defaultdict(dict)
        for source, action, target in np.stack([found.source, found.action, found.target], axis=1).tolist():
            targets[source, action][target] = None
        self.options.update((state, {}) for state in new)
        known = {(state, frozenset({state})) for state in new}
        for (source, action), reached in targets.items():
            if (source, frozenset(reached)) not in known:
                known.add((source, frozenset(reached)))
                self.options[source][action] = tuple(reached)
                for target in reached:
                    self._uses[target].append((source, action))
        self._solve(new)

    def find_dead(self) -> None:
        """Mark the e-states that would have no strong policy even if all unexpanded e-states were goals."""
        if self._checked == len(self.options):
            return
        self._checked = len(self.options)
        self.tested += self.generated
        solved = (self._seen - self.options.keys()) | self.depth.keys()
        self.dead = self._seen - solved - self._regress(solved).keys()

    def find_trapped(self) -> None:
        """Mark the e-states that would have no strong cyclic policy even if all unexpanded e-states were goals."""
        goals = self._goals | (self._seen - self.options.keys())
        self.trapped = self._seen - goals - self._regress_cyclic(goals).keys()

    def find_cyclic(self) -> Choices | None:
        """Find a strong cyclic policy from the initial e-state through expanded e-states; None if there is none."""
        choice = self._regress_cyclic(self._goals)
        return choice if self.space.initial in choice.keys() | self._goals else None

    @property
    def _goals(self) -> set[int]:
        return {state for state, depth in self.depth.items() if depth == 0}

    def _regress_cyclic(self, goals: set[int]) -> Choices:
        """Search for all e-states that have a strong cyclic policy to `goals`; returns the action of each."""
        kept = self._seen
        while True:
            choice = self._regress(goals, kept)
            if kept == (reached := choice.keys() | goals):
                return choice
            kept = reached

    def _add(self, states: Iterable[int]) -> None:
        new = np.array(sorted(set(states) - self._seen), np.int32)
        self._seen.update(new.tolist())
        self.depth.update(dict.fromkeys(new[self.space.is_goal(new)].tolist(), 0))

    def _solve(self, states: Iterable[int]) -> None:
        """Lower the depths of expanded e-states, and of their predecessors, as far as the graph allows."""
        queue = deque((state, action) for state in states for action in self.options[state])
        while queue:
            state, action = queue.popleft()
            depth = 1 + max(self.depth.get(target, inf) for target in self.options[state][action])
            if depth < self.depth.get(state, inf):
                self.depth[state], self.choice[state] = int(depth), action
                queue.extend(self._uses[state])

    def _regress(self, goals: set[int], kept: set[int] | None = None) -> Choices:
        """Search backwards for the e-states from which actions reach `goals`; returns the first action of each.

        Without `kept`, all outcomes of these actions reach `goals`; with it, one outcome does, and all stay in `kept`.
        """
        choice: Choices = {}
        reached, queue = set(goals), deque(goals)
        inside = reached if kept is None else kept
        while queue:
            for source, action in self._uses[queue.popleft()]:
                if source not in reached and inside.issuperset(self.options[source][action]):
                    choice[source] = action
                    reached.add(source)
                    queue.append(source)
        return choice
