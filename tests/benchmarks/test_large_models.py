"""Successors of large models; run by hand: `pytest tests/benchmarks/test_large_models.py`.

From every e-state of three random walks all successors are built, in a fresh space, and the seconds of the processor
are divided by their number; the goal test of new e-states is part of it. Figures are printed, not asserted.
"""

import time
from collections.abc import Callable
from functools import cache, partial

import numpy as np
import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from epigym import Task
from epigym.problem import domain_problem
from tests.benchmarks.costs import generate, walk
from tests.helpers.benchmark_files import SHARED
from tests.helpers.epddl_files import competition_cases

PUBLISHED = [
    "1-basic/gossip/problems/gos-09-all.epddl",
    "1-basic/gossip/problems/gos-11-all.epddl",
    "1-basic/gossip/problems/gos-13-all.epddl",
    "2-intermediate/gossip/problems/gos-07-all.epddl",
    "2-intermediate/gossip/problems/gos-09-all.epddl",
    "2-intermediate/gossip/problems/gos-11-all.epddl",
    "3-hard/gossip/problems/gos-06-all-deceived.epddl",
    "3-hard/gossip/problems/gos-10-all-deceived.epddl",
    "1-basic/active-muddy-child/problems/amc-09-09-muddy.epddl",
    "1-basic/active-muddy-child/problems/amc-12-12-muddy.epddl",
]
OWN = {
    "assembly_line, 8 agents": partial(domain_problem, "assembly_line", agents=8),
    "collaboration_communication, 6 agents": partial(domain_problem, "collaboration_communication", agents=6),
    "grapevine, 4 agents": partial(domain_problem, "grapevine", agents=4),
}
WALKS = 3

pytestmark = pytest.mark.benchmark(timer=time.process_time)


def cost(task: Task) -> str:
    """Expand the e-states of the walks, until time is up, and tell the cost of a successor."""
    space, states = walk(task, WALKS)
    generated, seconds = generate(space, states)
    worlds = int(np.median(space.world_counts(states)))
    each = seconds / len(generated)
    return (
        f"{worlds:6d} worlds {len(generated):11d} successors {1e6 * each:9.2f} µs each"
        f" {1e9 * each / (worlds * len(task.agents)):9.2f} ns by world and agent"
        f" {space.nbytes / len(space):9.0f} bytes by e-state"
    )


def measure(benchmark: BenchmarkFixture, lines: list[str], name: str, make: Callable[[], Task]) -> None:
    lines.append(f"{name:58s} {benchmark.pedantic(cost, (make(),), rounds=3)}")


@cache
def list_published() -> dict[str, Callable[[], Task]]:
    return {case.name: lambda case=case: case.ground().task for case in competition_cases()}


@pytest.mark.reference
@pytest.mark.skipif(not SHARED.exists(), reason="the public files are not here")
@pytest.mark.parametrize("name", PUBLISHED)
def test_successors_of_published_problems(name: str, benchmark: BenchmarkFixture, lines: list[str]) -> None:
    measure(benchmark, lines, name, list_published()[name])


@pytest.mark.parametrize("name", OWN)
def test_successors_of_own_problems(name: str, benchmark: BenchmarkFixture, lines: list[str]) -> None:
    measure(benchmark, lines, name, OWN[name])
