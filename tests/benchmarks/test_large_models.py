"""Successors of large models; run by hand: `pytest tests/benchmarks/test_large_models.py`.

From every e-state of three random walks all successors are built, in a fresh space, and the seconds of the processor
are divided by their number; the goal test of new e-states is part of it. Figures are printed, not asserted. The cost
of active muddy child against its worlds goes to `outputs/bench`, as a table and a picture.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cache, partial
from pathlib import Path

import numpy as np
import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from epigym.io.files import write_rows
from epigym.problem import domain_problem
from epigym.space.sampling import random_walk
from epigym.space.space import StateSpace
from epigym.task.task import Task
from tests.benchmarks.figures import printed
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
CHILDREN = range(6, 15)
STEPS = 10
MOST_SECONDS = 5.0
OUT = Path("outputs/bench")

pytestmark = pytest.mark.benchmark(timer=time.process_time)


@dataclass(frozen=True)
class Cost:
    """What the successors of some e-states cost.

    Attributes:
        worlds: the median of the e-states.
        agents: of the task.
        successors: how many were built.
        microseconds: of the processor, for each.
        bytes_per_state: that the space holds for each e-state.
    """

    worlds: int
    agents: int
    successors: int
    microseconds: float
    bytes_per_state: float


def walked(task: Task) -> tuple[StateSpace, list[int]]:
    """The e-states of three random walks, in a space that has expanded none of them."""
    space, walks = StateSpace(task), StateSpace(task)
    met = {space.initial}
    for seed in range(3):
        state = space.initial
        for action in random_walk(walks, np.random.default_rng(seed), steps=STEPS)[1]:
            state = space.successor(state, int(action))
            met.add(state)
    return space, sorted(met)


def cost(task: Task) -> Cost:
    """Expand the e-states of the walks, until time is up."""
    space, states = walked(task)
    start, successors = time.process_time(), 0
    for state in states:
        successors += len(space.expand([state]).action)
        if time.process_time() - start > MOST_SECONDS:
            break
    seconds = time.process_time() - start
    worlds = int(np.median(space.world_counts(states)))
    return Cost(worlds, len(task.agents), successors, 1e6 * seconds / successors, space.nbytes / len(space))


@dataclass
class Figures:
    """The costs by name."""

    costs: dict[str, Cost] = field(default_factory=dict)

    def __str__(self) -> str:
        lines = ["", f"{'':58s} worlds  successors   us each   ns by world and agent   bytes by e-state"]
        for name, one in self.costs.items():
            by_pair = 1e3 * one.microseconds / (one.worlds * one.agents)
            lines.append(
                f"{name:58s} {one.worlds:6d} {one.successors:11d} {one.microseconds:9.2f} {by_pair:23.2f}"
                f" {one.bytes_per_state:18.0f}"
            )
        return "\n".join(lines)


@pytest.fixture(scope="module")
def figures(pytestconfig: pytest.Config) -> Iterator[Figures]:
    yield from printed(pytestconfig, Figures())


def measured(benchmark: BenchmarkFixture, figures: Figures, name: str, make: Callable[[], Task]) -> None:
    task = make()
    figures.costs[name] = benchmark.pedantic(cost, (task,), rounds=3)
    benchmark.extra_info.update(vars(figures.costs[name]))
    assert figures.costs[name].successors > 0


@cache
def published() -> dict[str, Callable[[], Task]]:
    return {case.name: lambda case=case: case.ground().task for case in competition_cases()}


@pytest.mark.reference
@pytest.mark.skipif(not SHARED.exists(), reason="the public files are not here")
@pytest.mark.parametrize("name", PUBLISHED)
def test_successors_of_published_problems(name: str, benchmark: BenchmarkFixture, figures: Figures) -> None:
    measured(benchmark, figures, name, published()[name])


@pytest.mark.parametrize("name", OWN)
def test_successors_of_own_problems(name: str, benchmark: BenchmarkFixture, figures: Figures) -> None:
    measured(benchmark, figures, name, OWN[name])


def test_cost_against_worlds(benchmark: BenchmarkFixture, figures: Figures) -> None:
    tasks = {children: domain_problem("active_muddy_child", children=children) for children in CHILDREN}
    costs = benchmark.pedantic(lambda: {children: cost(task) for children, task in tasks.items()}, rounds=1)
    figures.costs |= {f"active_muddy_child, {children} children": one for children, one in costs.items()}
    OUT.mkdir(parents=True, exist_ok=True)
    rows = [{"children": children, **vars(one)} for children, one in costs.items()]
    write_rows(OUT / "cost_against_worlds.csv", list(rows[0]), rows)
    draw(list(costs.values()), OUT / "cost_against_worlds.png")


def draw(costs: list[Cost], file: Path) -> None:
    """Cost of a successor against worlds, and the line of what the largest costs for each world and agent."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(5, 3.5), layout="constrained")
    size = [one.worlds * one.agents for one in costs]
    axes.loglog(size, [one.microseconds for one in costs], "o-", label="measured")
    slope = costs[-1].microseconds / size[-1]
    axes.loglog(size, [slope * one for one in size], ":", label=f"{1e3 * slope:.1f} ns for each world and agent")
    axes.set(xlabel="worlds × agents", ylabel="µs for a successor", title="active muddy child")
    axes.legend()
    figure.savefig(file, dpi=150)
    plt.close(figure)
