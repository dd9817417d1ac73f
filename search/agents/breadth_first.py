"""`bfs`: breadth-first search, a batch of the queue at a time."""

from __future__ import annotations

from collections import deque

from search.agents.agent import Agent, Steps
from search.agents.result import SearchStatus
from search.agents.run import SearchRun


class BreadthFirst(Agent):
    """Expands e-states in the order of discovery; its plans are shortest plans."""

    name = "bfs"

    def search(self, run: SearchRun) -> Steps:
        """Search with a queue of arrays, in order."""
        run.is_shortest = True
        queue = deque([run.root])
        while queue:
            size = yield
            batch = queue.popleft()
            if len(batch) > size:
                queue.appendleft(batch[size:])
            new = run.expand(batch[:size])
            if run.goal is not None:
                return SearchStatus.SOLVED
            if len(new):
                queue.append(new)
        return SearchStatus.UNSOLVABLE
