"""What preferred actions are worth to `lazy`; run by hand: `pytest tests/benchmarks/test_preferred_actions.py`.

The problems are validation problems of another seed than those that models are chosen by. Models of actions are read
from `outputs/actions`, where `learn.train model=actions model.folder=outputs/actions domain=…` writes them.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from itertools import islice
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from epigym.features.relaxation import Relaxation
from epigym.space.space import StateSpace
from learn.data.distribution import draw
from search.agents import make_agent
from search.agents.limits import Limits
from search.agents.result import SearchStatus
from search.heuristics import make_heuristic
from search.heuristics.heuristic import Evaluation, Heuristic
from tests.benchmarks.figures import show

DOMAINS = (
    "active_muddy_child", "blocks_world", "coin_in_the_box", "gossip", "grapevine", "search_and_rescue",
)  # fmt: skip
FILE = "outputs/actions/{domain}.json"
SEED, PROBLEMS, NODES = 7, 20, 1000


class LearnedHelpful(Heuristic):
    """The learned score with the helpful actions of the relaxation, whether it corrects that or not."""

    prefers = True

    def __init__(self, space: StateSpace) -> None:
        self._learned, self._relaxation = make_heuristic("learned", space), Relaxation(space)

    def score(self, ids: NDArray[np.int32]) -> NDArray[np.float64]:
        return self._learned.score(ids)

    def evaluate(self, ids: NDArray[np.int32], parents: NDArray[np.int64], actions: NDArray[np.int64]) -> Evaluation:
        relaxed = self._relaxation(ids)
        return Evaluation(self.score(ids), relaxed.helpful_ptr, relaxed.helpful)


HOW: Mapping[str, Callable[[StateSpace], Heuristic]] = {
    "h_ff, helpful actions": lambda space: make_heuristic("h_ff", space),
    "learned, helpful actions": LearnedHelpful,
    "learned, model of actions": lambda space: make_heuristic("learned", space, actions=FILE),
}


@pytest.mark.parametrize("domain", DOMAINS)
def test_lazy(domain: str, pytestconfig: pytest.Config) -> None:
    if not Path(FILE.replace("{domain}", domain)).exists():
        pytest.skip(f"python -m learn.train domain={domain} model=actions model.folder=outputs/actions")
    tasks = [drawn.task for drawn in islice(draw(domain, "validation", SEED), PROBLEMS)]
    lines = ["", f"{domain}: solved of {PROBLEMS}, expanded, built, seconds to set up and to search"]
    for how, heuristic in HOW.items():
        solved, expanded, built, made, searched = 0, 0, 0, 0.0, 0.0
        for task in tasks:
            space, start = StateSpace(task), time.process_time()
            bound, between = heuristic(space), time.process_time()
            result = make_agent("lazy").search(space, bound, Limits(max_expanded=NODES))
            made, searched = made + between - start, searched + time.process_time() - between
            solved += result.status is SearchStatus.SOLVED
            expanded, built = expanded + result.expanded, built + result.generated
        lines.append(f"    {how:26s} {solved:3d} {expanded:7,d} {built:7,d} {made:7.2f} {searched:7.2f}")
    show(pytestconfig, "\n".join(lines))
