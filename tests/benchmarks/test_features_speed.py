"""How fast features are counted; run by hand: `pytest tests/benchmarks/test_features_speed.py`.

Batches of the e-states that a breadth-first walk meets first, with random tables: few types, so that parts share them,
or many, so that hardly any do. Times are of the processor; they are printed, not asserted.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache

import numpy as np
import pytest
from numpy.typing import NDArray
from pytest_benchmark.fixture import BenchmarkFixture

from epigym.features.counts import RelationalFeatures
from epigym.problem import domain_problem
from epigym.space.space import StateSpace
from epigym.space.traversal import breadth_first
from tests.benchmarks.figures import printed
from tests.oracles.features import random_tables

PROBLEMS = {
    "grapevine of 3": ("grapevine", {"agents": 3}),
    "grapevine of 5": ("grapevine", {"agents": 5}),
    "12 blocks": ("blocks_world", {"blocks": 12}),
    "selective": ("selective_communication/4_2_pl_5", {}),
    "4,095 worlds": ("active_muddy_child", {"children": 12}),
}
HOW = {"L0": (0, False), "L1": (1, False), "L2": (2, False), "L0 W": (0, True), "L2 W": (2, True)}
TYPES = {"few": 8, "many": 100_000}
MOST = 256  # e-states of a batch
ROUNDS = 20

pytestmark = pytest.mark.benchmark(timer=time.process_time)


@cache
def batch(name: str) -> tuple[StateSpace, NDArray[np.int32]]:
    domain, parameters = PROBLEMS[name]
    space = StateSpace(domain_problem(domain, **parameters))
    most = MOST if space.world_counts([0])[0] < 1000 else 1
    for _ in breadth_first(space) if most > 1 else ():
        if len(space) >= most:
            break
    return space, np.arange(min(most, len(space)), dtype=np.int32)


@dataclass
class Figures:
    """Seconds and features of one e-state by problem and types, then by level."""

    lines: dict[tuple[str, str], dict[str, tuple[float, float]]] = field(default_factory=dict)

    def __str__(self) -> str:
        text = ["", f"processor time of an e-state and how many features it has; median of {ROUNDS} rounds"]
        for (name, types), found in self.lines.items():
            space, ids = batch(name)
            task, worlds = space.task, space.world_counts(ids).mean()
            text.append(
                f"{name}, {types} types: {len(task.fluents)} fluents, {len(task.agents)} agents, {worlds:.0f} worlds"
            )
            text += [f"    {how:5s} {1e6 * seconds:9.2f} µs {size:7.0f}" for how, (seconds, size) in found.items()]
        return "\n".join(text)


@pytest.fixture(scope="module")
def figures(pytestconfig: pytest.Config) -> Iterator[Figures]:
    yield from printed(pytestconfig, Figures())


@pytest.mark.parametrize("how", HOW)
@pytest.mark.parametrize("types", TYPES)
@pytest.mark.parametrize("name", PROBLEMS)
def test_evaluating(name: str, types: str, how: str, benchmark: BenchmarkFixture, figures: Figures) -> None:
    space, ids = batch(name)
    features = RelationalFeatures(space, random_tables(space.task, 1, TYPES[types]), *HOW[how])
    rows = benchmark.pedantic(features, args=(ids,), rounds=ROUNDS, warmup_rounds=1)
    seconds = benchmark.stats.stats.median / len(ids)
    figures.lines.setdefault((name, types), {})[how] = seconds, len(rows.colour) / len(ids)
