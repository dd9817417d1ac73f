"""Breadth-first search against the floor; run by hand: `pytest tests/benchmarks/test_speed.py`.

Timed through the public API from a built `StateSpace` to the plan, on one core, median of five fresh
spaces; parsing, building and re-execution are not part of it. Figures are printed, not asserted.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from dataclasses import dataclass, field

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from epigym.language import load
from epigym.space.space import StateSpace
from search.agents import make_agent
from tests.benchmarks.figures import show
from tests.helpers.benchmark_files import mastar_files, table

ROUNDS = 5
SMALLEST = 100  # expanded nodes of a problem that counts in the mean ratio
FILES = {file.stem: file for file in mastar_files()}
FLOOR = {row["instance"]: float(row["limit_us_per_expanded"]) for row in table("speed")}

pytestmark = [pytest.mark.reference, pytest.mark.filterwarnings("ignore")]


@dataclass
class Figures:
    """Seconds of all problems, and how many times the floor those of a fair size took."""

    seconds: dict[str, float] = field(default_factory=dict)
    ratios: dict[str, float] = field(default_factory=dict)

    def __str__(self) -> str:
        lines = [""]
        for name, ratio in sorted(self.ratios.items(), key=lambda item: item[1]):
            lines.append(f"{name:28s} {1e3 * self.seconds[name]:9.2f} ms {ratio:6.2f} x the floor")
        if self.ratios:
            mean = math.exp(sum(map(math.log, self.ratios.values())) / len(self.ratios))
            lines.append(f"geometric mean over {len(self.ratios)} problems: {mean:.2f} x the floor")
        lines.append(f"all {len(self.seconds)} problems: {sum(self.seconds.values()):.2f} s")
        return "\n".join(lines)


@pytest.fixture(scope="module")
def figures(pytestconfig: pytest.Config) -> Iterator[Figures]:
    """Collects the figures on one core and prints the summary at the end."""
    cores = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(cores)})
    collected = Figures()
    yield collected
    os.sched_setaffinity(0, cores)
    show(pytestconfig, collected)


@pytest.mark.parametrize("name", sorted(FLOOR))
def test_breadth_first_search(name: str, benchmark: BenchmarkFixture, figures: Figures) -> None:
    task = load(FILES[name])
    bfs = make_agent("bfs")
    result = benchmark.pedantic(bfs.search, setup=lambda: ((StateSpace(task),), {}), rounds=ROUNDS)
    assert result.status.is_decided
    figures.seconds[name] = benchmark.stats.stats.median
    if result.expanded >= SMALLEST:
        figures.ratios[name] = figures.seconds[name] / (1e-6 * result.expanded * FLOOR[name])
