"""`dfs` and `idfs`: depth-first search, without and with iterative deepening."""

from __future__ import annotations

from collections.abc import Generator

import numpy as np

from search.agents.agent import Agent, Steps
from search.agents.result import SearchStatus
from search.agents.run import SearchRun


class DepthFirst(Agent):
    """Expands the e-state generated last; of one expansion, the successor by the action declared first."""

    name = "dfs"

    def search(self, run: SearchRun) -> Steps:
        """Search with a stack."""
        stack = [run.space.initial]
        while stack:
            yield
            new = run.expand(np.array([stack.pop()], dtype=np.int32))
            if run.goal is not None:
                return SearchStatus.SOLVED
            stack.extend(new[::-1].tolist())
        return SearchStatus.UNSOLVABLE


class IterativeDeepening(Agent):
    """Depth-first search with a depth limit of 1, 2, 3, …; its plans are shortest plans.

    Within an iteration an e-state reached again on a shorter path is expanded again: otherwise the limit could cut off
    e-states below it. The counts are sums over all iterations.
    """

    name = "idfs"

    def search(self, run: SearchRun) -> Steps:
        """Search with increasing depth limits."""
        run.is_shortest = True
        most, end = 0, None
        while end is None:
            most += 1
            end = yield from self._search_to(most, run)
        return end

    @staticmethod
    def _search_to(most: int, run: SearchRun) -> Generator[None, int, SearchStatus | None]:
        """Search to a depth of `most` actions; returns None when the limit cut off some e-state."""
        depths = {run.space.initial: 0}
        stack = [(run.space.initial, 0)]
        was_cut = False
        while stack:
            yield
            state, depth = stack.pop()
            if depth == most:
                was_cut = True
                continue
            _, actions, targets, _ = run.generate(np.array([state], dtype=np.int32))
            closer = []
            for action, target in zip(actions.tolist(), targets.tolist(), strict=True):
                if depth + 1 < depths.get(target, most + 1):
                    depths[target] = depth + 1
                    run.set_parent(target, state, action)
                    closer.append((target, depth + 1))
            if run.goal is not None:
                return SearchStatus.SOLVED
            stack.extend(reversed(closer))
        return None if was_cut else SearchStatus.UNSOLVABLE
