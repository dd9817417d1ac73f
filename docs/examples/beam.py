"""Beam search: follows the best new e-states of each expansion and keeps the others for later."""

import numpy as np

from search.agents import Agent
from search.agents.agent import Steps
from search.agents.result import SearchStatus
from search.agents.run import SearchRun


class Beam(Agent):
    """Expands the new e-states of lowest h together, then their successors; returns to the others at a dead end.

    Args:
        width: the number of e-states expanded together.
    """

    name = "beam"
    is_informed = True

    def __init__(self, width: int = 4) -> None:
        self.width = width

    def search(self, run: SearchRun) -> Steps:
        """Search with a stack of beams."""
        beams = [run.root]  # arrays of e-states, the next one last
        while beams:
            new = yield from run.expand_in_turns(beams.pop())
            if run.goal is not None:
                return SearchStatus.SOLVED
            best = new[np.argsort(run.evaluate(new).scores, kind="stable")]
            beams += [best[k : k + self.width] for k in range(0, len(best), self.width)][::-1]
        return SearchStatus.UNSOLVABLE
