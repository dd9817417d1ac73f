"""`dfs` and `idfs`: depth-first search, without and with iterative deepening."""

from __future__ import annotations

from collections.abc import Generator

import numpy as np

from search.agents.agent import Agent, Steps
from search.agents.result import SearchStatus
from search.agents.run import SearchRun
from search.heuristics.heuristic import Heuristic


class DepthFirst(Agent):
    """Expands the e-state that was generated last; of one expansion, the successor declared first."""

    name = "dfs"

    def start(self, run: SearchRun, heuristic: Heuristic | None) -> Steps:
        """Start the search."""
        stack = [run.space.initial]
        while stack:
            yield
            fresh = run.expand(np.array([stack.pop()], dtype=np.int32))
            if run.goal is not None:
                return SearchStatus.SOLVED
            stack.extend(fresh[::-1].tolist())
        return SearchStatus.UNSOLVABLE


class IterativeDeepening(Agent):
    """Depth-first search with a depth limit of 1, 2, 3, …; its plans are shortest plans.

    Within an iteration an e-state that is reached again by a shorter way is expanded again; without that,
    a limit could hide the e-states behind it. The counts are those of all iterations together.
    """

    name = "idfs"

    def start(self, run: SearchRun, heuristic: Heuristic | None) -> Steps:
        """Start the search."""
        run.is_shortest = True
        most, end = 0, None
        while end is None:
            most += 1
            end = yield from self._search_to(most, run)
        return end

    @staticmethod
    def _search_to(most: int, run: SearchRun) -> Generator[None, int, SearchStatus | None]:
        """Search to a depth of `most` actions; None when something lies deeper."""
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
                    run.reach(target, state, action)
                    closer.append((target, depth + 1))
            if run.goal is not None:
                return SearchStatus.SOLVED
            stack.extend(reversed(closer))
        return None if was_cut else SearchStatus.UNSOLVABLE
