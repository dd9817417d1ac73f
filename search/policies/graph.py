"""The and-or graph of outcomes as far as it is explored: which e-states are solved, and which have no policy."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Collection, Iterable
from math import inf

import numpy as np

from epigym.space.space import StateSpace

Choices = dict[int, int]
"""The action to take in each e-state that is no goal."""


class AndOrGraph:
    """E-states, their actions, and the outcomes of each action.

    Args:
        space: where the e-states live.

    Attributes:
        space: where the e-states live.
        options: of each expanded e-state, for each action the distinct e-states that it may lead to. Actions that
            change nothing, and further ones with the same outcomes, are left out.
        depth: of each solved e-state the least known depth of a strong policy, 0 of goals; the depths of the outcomes
            of the chosen action are smaller, so that choices never run in a circle.
        choice: of each solved e-state that is no goal its action.
        dead: e-states that provably have no strong policy.
        generated: outcomes computed.
    """

    def __init__(self, space: StateSpace) -> None:
        self.space = space
        self.options: dict[int, dict[int, tuple[int, ...]]] = {}
        self.depth: dict[int, int] = {}
        self.choice: Choices = {}
        self.dead: set[int] = set()
        self.generated = 0
        self._checked = 0  # e-states expanded when the dead ones were found last
        self._seen: set[int] = set()
        self._uses: defaultdict[int, list[tuple[int, int]]] = defaultdict(list)
        self._add([space.initial])

    def __len__(self) -> int:
        """Number of e-states generated, the initial one included."""
        return len(self._seen)

    def expand(self, states: Iterable[int]) -> None:
        """Compute the outcomes of e-states, unless they are known, and solve what these solve."""
        new = [state for state in dict.fromkeys(states) if state not in self.options]
        if not new:
            return
        found = self.space.outcomes(np.array(new, np.int32))
        self.generated += len(found.target)
        self._add(found.target.tolist())
        targets: defaultdict[tuple[int, int], dict[int, None]] = defaultdict(dict)
        columns = (found.source.tolist(), found.action.tolist(), found.target.tolist())
        for source, action, target in zip(*columns, strict=True):
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
        """Mark the e-states that would have no strong policy even if all that are not expanded were goals."""
        if self._checked == len(self.options):
            return
        self._checked = len(self.options)
        open_ = self._seen - self.options.keys()
        self.dead = self._seen - self._forced(open_ | self.depth.keys())

    def find_cyclic(self, *, optimistic: bool = False) -> Choices | None:
        """A strong cyclic policy from the initial e-state through expanded e-states; None where there is none.

        With `optimistic` e-states that are not expanded count as goals: None is then a proof that there is none.
        """
        goals = {state for state, depth in self.depth.items() if depth == 0}
        if optimistic:
            goals |= self._seen - self.options.keys()
        kept: Collection[int] = self._seen
        while True:
            choice = self._reaching(goals, kept)
            if len(choice) + len(goals) == len(kept):
                return choice if self.space.initial in choice or self.space.initial in goals else None
            kept = choice.keys() | goals

    def _add(self, states: Iterable[int]) -> None:
        new = [state for state in dict.fromkeys(states) if state not in self._seen]
        self._seen.update(new)
        are_goals = self.space.is_goal(np.array(new, np.int32))
        self.depth.update((state, 0) for state, is_goal in zip(new, are_goals.tolist(), strict=True) if is_goal)

    def _solve(self, states: Iterable[int]) -> None:
        """Give e-states, and those that lead to them, the least depth that is known now."""
        changed = deque(state for state in states if self._improve(state, self.options[state]))
        while changed:
            for source, action in self._uses[changed.popleft()]:
                if self._improve(source, (action,)):
                    changed.append(source)

    def _improve(self, state: int, actions: Iterable[int]) -> bool:
        before = self.depth.get(state, inf)
        for action in actions:
            depth = 1 + max(self.depth.get(target, inf) for target in self.options[state][action])
            if depth < self.depth.get(state, inf):
                self.depth[state], self.choice[state] = int(depth), action
        return self.depth.get(state, inf) < before

    def _forced(self, goals: Collection[int]) -> set[int]:
        """The e-states from which some actions reach `goals` whatever their outcomes."""
        reached, queue = set(goals), deque(goals)
        left: dict[tuple[int, int], int] = {}
        while queue:
            for use in self._uses[queue.popleft()]:
                source, action = use
                if source not in reached:
                    left[use] = left.get(use, len(self.options[source][action])) - 1
                    if not left[use]:
                        reached.add(source)
                        queue.append(source)
        return reached

    def _reaching(self, goals: Collection[int], kept: Collection[int]) -> Choices:
        """Of `kept` e-states those with a path to `goals` that cannot leave what is kept, with its first action."""
        choice: Choices = {}
        queue = deque(goals)
        while queue:
            for source, action in self._uses[queue.popleft()]:
                is_open = source in kept and source not in choice and source not in goals
                if is_open and all(target in kept for target in self.options[source][action]):
                    choice[source] = action
                    queue.append(source)
        return choice
