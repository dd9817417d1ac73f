"""How fast the scorer is, by batch size; run by hand: `pytest tests/benchmarks/test_scoring.py`.

r(B) is the time per state when B states are scored at once. The paper projects (Appendix H) 3.56 ms for its planner
plus 10.73 ms / B for its scoring. Figures are printed and drawn, not asserted.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import torch
from matplotlib.figure import Figure
from pytest_benchmark.fixture import BenchmarkFixture

from epigym.problem import load_problem
from epigym.space.space import StateSpace
from epigym.space.traversal import breadth_first
from learn.models.gine.scorer import make_scorer
from learn.models.scoring import Scorer
from tests.helpers.trained import random_regressor

BATCHES = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512)
PLANNER_MS, SCORING_MS = 3.56, 10.73  # per node in the paper: its planner, and one evaluation
PROBLEM = "coin_in_the_box/pl_7"
PICTURE = Path("outputs/benchmarks/scoring.png")


@pytest.fixture(scope="module")
def space() -> StateSpace:
    """The whole space of a problem with about ten worlds per e-state."""
    space = StateSpace(load_problem(PROBLEM))
    deque(breadth_first(space), maxlen=0)
    return space


@pytest.fixture(scope="module")
def scorer(space: StateSpace) -> Scorer:
    """The paper's architecture; the weights do not matter for the time."""
    scorer = make_scorer(random_regressor(), space)
    scorer.score(np.arange(len(space), dtype=np.int32))
    return scorer


@pytest.fixture(scope="module")
def seconds(pytestconfig: pytest.Config, space: StateSpace) -> Iterator[dict[int, float]]:
    """Collects the median seconds per batch; prints and draws r(B) at the end."""
    collected: dict[int, float] = {}
    yield collected
    worlds = space.world_counts(np.arange(len(space))).mean()
    lines = ["", f"{PROBLEM}: {worlds:.1f} worlds per e-state, {torch.get_num_threads()} threads"]
    lines.append(f"{'B':>4s} {'r(B) ms':>9s} {'states/s':>9s} {'paper: scoring':>15s} {'with planner':>13s}")
    for batch, time in sorted(collected.items()):
        projected = SCORING_MS / batch
        measured = f"{batch:4d} {1e3 * time / batch:9.4f} {batch / time:9,.0f}"
        lines.append(f"{measured} {projected:15.4f} {PLANNER_MS + projected:13.4f}")
    with pytestconfig.pluginmanager.getplugin("capturemanager").global_and_fixture_disabled():
        print("\n".join(lines))
    draw(collected, PICTURE)


def draw(seconds: dict[int, float], path: Path) -> None:
    figure = Figure(figsize=(6, 4), layout="constrained")
    axes = figure.subplots()
    batches = sorted(seconds)
    axes.plot(batches, [1e3 * seconds[batch] / batch for batch in batches], marker="o", label="measured")
    projected = [SCORING_MS / batch for batch in batches]
    axes.plot(batches, projected, linestyle="--", label="projected in the paper")
    with_planner = [PLANNER_MS + time for time in projected]
    axes.plot(batches, with_planner, linestyle=":", label="projected in the paper, with its planner")
    axes.set(xscale="log", yscale="log", xlabel="batch size B", ylabel="scoring time per state r(B) [ms]")
    axes.set_xticks(batches, [str(batch) for batch in batches])
    axes.minorticks_off()
    axes.grid(color="0.9")
    axes.legend(frameon=False)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=120)


@pytest.mark.parametrize("batch", BATCHES)
def test_scoring(
    benchmark: BenchmarkFixture, space: StateSpace, scorer: Scorer, seconds: dict[int, float], batch: int
) -> None:
    order = np.random.default_rng(0).permutation(len(space)).astype(np.int32)
    batches = iter(np.resize(order, (200, batch)))
    benchmark.pedantic(scorer.score, setup=lambda: ((next(batches),), {}), rounds=100, warmup_rounds=5)
    seconds[batch] = benchmark.stats.stats.median
