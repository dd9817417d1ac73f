"""`bfs`: breadth-first search, a batch of the queue at a time."""

from __future__ import annotations

from collections import deque

from search.agents.agent import Agent, Steps
from search.agents.result import SearchStatus
from search.agents.run import SearchRun
from search.heuristics.heuristic import Heuristic


class BreadthFirst(Agent):
    """Expands the e-states in the order in which they were seen; its plans are shortest plans."""

    name = "bfs"

    def start(self, run: SearchRun, heuristic: Heuristic | None) -> Steps:
        """Start the search."""
        run.is_shortest = True
        queue = deque([run.root])  # of arrays: the queue is their concatenation
        while queue:
            size = yield
            batch = queue.popleft()
            if len(batch) > size:
                queue.appendleft(batch[size:])
            fresh = run.expand(batch[:size])
            if run.goal is not None:
                return SearchStatus.SOLVED
            if len(fresh):
                queue.append(fresh)
        return SearchStatus.UNSOLVABLE
