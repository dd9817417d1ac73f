"""How fast the scorer is, by batch size; run by hand: `pytest tests/benchmarks/test_scoring.py`.

r(B) is the time per state when B states are scored at once; the paper (Appendix H) takes 10.73 ms for one evaluation.
Figures are printed, not asserted.
"""

from collections import deque

import numpy as np
import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from epigym import StateSpace, load_problem
from epigym.space.traversal import breadth_first
from learn.models.scoring import Scorer
from tests.helpers.trained import random_regressor

BATCHES = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512)
PROBLEM = "coin_in_the_box/pl_7"


@pytest.fixture(scope="module")
def space() -> StateSpace:
    """The whole space of a problem with about ten worlds per e-state."""
    space = StateSpace(load_problem(PROBLEM))
    deque(breadth_first(space), maxlen=0)
    return space


@pytest.fixture(scope="module")
def scorer(space: StateSpace) -> Scorer:
    """The paper's architecture; the weights do not matter for the time."""
    scorer = random_regressor().make_scorer(space)
    scorer.score(np.arange(len(space), dtype=np.int32))
    return scorer


@pytest.mark.parametrize("batch", BATCHES)
def test_scoring(batch: int, benchmark: BenchmarkFixture, space: StateSpace, scorer: Scorer, lines: list[str]) -> None:
    order = np.random.default_rng(0).permutation(len(space)).astype(np.int32)
    batches = iter(np.resize(order, (200, batch)))
    benchmark.pedantic(scorer.score, setup=lambda: ((next(batches),), {}), rounds=100, warmup_rounds=5)
    seconds = benchmark.stats.stats.median
    lines.append(f"batch of {batch:3d}: {1e3 * seconds / batch:9.4f} ms, {batch / seconds:9,.0f} e-states a second")
