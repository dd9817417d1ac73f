"""How fast features are counted; run by hand: `pytest tests/benchmarks/test_features_speed.py`.

Batches of the e-states that a breadth-first walk meets first, with random tables: few types, so that parts share them,
or many, so that hardly any do. Times are of the processor; they are printed, not asserted.
"""

import time
from functools import cache

import numpy as np
import pytest
from numpy.typing import NDArray
from pytest_benchmark.fixture import BenchmarkFixture

from epigym.features.counts import RelationalFeatures
from epigym.problem import domain_problem
from epigym.space.space import StateSpace
from epigym.space.traversal import breadth_first
from tests.oracles.features import random_tables

PROBLEMS = {
    "grapevine of 3": ("grapevine", {"agents": 3}),
    "grapevine of 5": ("grapevine", {"agents": 5}),
    "12 blocks": ("blocks_world", {"blocks": 12}),
    "selective": ("selective_communication/4_2_pl_5", {}),
    "4,095 worlds": ("active_muddy_child", {"children": 12}),
}
HOW = {"wl0": (0, False), "wl1": (1, False), "wl2": (2, False), "wl0+worlds": (0, True), "wl2+worlds": (2, True)}
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


@pytest.mark.parametrize("how", HOW)
@pytest.mark.parametrize("types", TYPES)
@pytest.mark.parametrize("name", PROBLEMS)
def test_evaluating(name: str, types: str, how: str, benchmark: BenchmarkFixture, lines: list[str]) -> None:
    space, ids = batch(name)
    features = RelationalFeatures(space, random_tables(space.task, 1, TYPES[types]), *HOW[how])
    rows = benchmark.pedantic(features, args=(ids,), rounds=ROUNDS, warmup_rounds=1)
    cost, count, worlds = benchmark.stats.stats.median / len(ids), len(rows.colour) / len(ids), space.world_counts(ids)
    lines.append(
        f"{name:15s} {worlds.mean():5.0f} worlds {types:4s} types {how:4s} {1e6 * cost:9.2f} µs {count:6.0f} features"
    )
