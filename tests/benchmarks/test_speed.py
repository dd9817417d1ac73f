"""Breadth-first search against the floor; run by hand: `pytest tests/benchmarks/test_speed.py`.

Timed through the public API from a built `StateSpace` to the plan, on one core, median of five fresh
spaces; parsing, building and re-execution are not part of it. Figures are printed, not asserted.
"""

import math
from collections.abc import Iterator

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from epigym.language import load
from epigym.space.space import StateSpace
from search.agents import make_agent
from tests.helpers.benchmark_files import mastar_files, table

ROUNDS = 5
SMALLEST = 100  # expanded nodes of a problem that counts in the mean ratio
FILES = {file.stem: file for file in mastar_files()}
FLOOR = {row["instance"]: float(row["limit_us_per_expanded"]) for row in table("speed")}

pytestmark = [pytest.mark.reference, pytest.mark.filterwarnings("ignore")]


@pytest.fixture(scope="module")
def ratios(one_core: None, lines: list[str]) -> Iterator[list[float]]:
    """Collects how many times the floor problems of a fair size took."""
    collected: list[float] = []
    yield collected
    if collected:
        mean = math.exp(sum(map(math.log, collected)) / len(collected))
        lines.append(f"geometric mean over {len(collected)} problems: {mean:.2f} x the floor")


@pytest.mark.parametrize("name", sorted(FLOOR))
def test_breadth_first_search(name: str, benchmark: BenchmarkFixture, ratios: list[float], lines: list[str]) -> None:
    task = load(FILES[name])
    bfs = make_agent("bfs")
    result = benchmark.pedantic(bfs.search, setup=lambda: ((StateSpace(task),), {}), rounds=ROUNDS)
    assert result.status.is_decided
    ratio = benchmark.stats.stats.median / (1e-6 * result.expanded * FLOOR[name])
    lines.append(f"{name:28s} {1e3 * benchmark.stats.stats.median:9.2f} ms {ratio:6.2f} x the floor")
    if result.expanded >= SMALLEST:
        ratios.append(ratio)
