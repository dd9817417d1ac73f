"""How fast typed graphs are built and scored, and by how many threads; run by hand:
`pytest tests/benchmarks/test_relational_speed.py`.

Batches of the e-states that breadth-first searches of sampled problems meet first. Times are of the processor, those of
threads of the clock; they are printed, not asserted.
"""

import time
from functools import cache
from itertools import islice

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from pytest_benchmark.fixture import BenchmarkFixture

from epigym import _core
from epigym.encoding.relational import Relational, RelationalEncoder
from epigym.space.space import StateSpace
from epigym.space.traversal import breadth_first
from learn.data.distribution import sample_problems
from tests.helpers.gine_weights import TYPES, random_weights
from tests.oracles.gine import Network

DOMAINS = ("blocks_world", "grapevine", "coin_in_the_box", "active_muddy_child")
PROBLEMS = 3  # of each domain, larger ones: those of validation
STATES = 256  # of each problem
BATCH = 32
LAYERS = 3
TYPE_IDS = Relational().type_ids
ROUNDS = 20

Batches = list[tuple[RelationalEncoder, list[NDArray[np.int32]]]]

pytestmark = pytest.mark.benchmark(timer=time.process_time)


@cache
def batches(domain: str) -> Batches:
    found: Batches = []
    for problem in islice(sample_problems(domain, "validation", seed=7), PROBLEMS):
        space = StateSpace(problem.task)
        for _ in breadth_first(space):
            if len(space) >= STATES:
                break
        ids = np.arange(min(STATES, len(space)), dtype=np.int32)
        parts = [ids[first : first + BATCH] for first in range(0, len(ids), BATCH)]
        found.append((RelationalEncoder(space, Relational()), parts))
    return found


def describe(domain: str, what: str, benchmark: BenchmarkFixture) -> str:
    """The time of an e-state, median of the rounds, and how large its graph is."""
    graphs = [encoder.graphs(ids) for encoder, parts in batches(domain) for ids in parts]
    count = sum(len(ids) for _, parts in batches(domain) for ids in parts)
    nodes, edges = (
        sum(sizes) / count for sizes in zip(*((len(g.nodes), len(g.edge_label)) for g in graphs), strict=True)
    )
    seconds = benchmark.stats.stats.median / count
    return f"{domain:20s} {nodes:5.0f} nodes {edges:5.0f} edges {what:20s} {1e6 * seconds:9.2f} µs"


@pytest.mark.parametrize("domain", DOMAINS)
def test_building(domain: str, benchmark: BenchmarkFixture, lines: list[str]) -> None:
    def build() -> None:
        for encoder, parts in batches(domain):
            for ids in parts:
                encoder.graphs(ids)

    benchmark.pedantic(build, rounds=ROUNDS, warmup_rounds=1)
    lines.append(describe(domain, "graphs", benchmark))


@pytest.mark.parametrize("how", ["pytorch", "core"])
@pytest.mark.parametrize("width", [16, 32])
@pytest.mark.parametrize("domain", DOMAINS)
def test_forward_pass(domain: str, width: int, how: str, benchmark: BenchmarkFixture, lines: list[str]) -> None:
    weights, index = random_weights(width, LAYERS), np.arange(TYPE_IDS + 1) % TYPES
    network, core = Network(weights), _core.GineNetwork(weights, index)
    graphs = [encoder.graphs(ids) for encoder, parts in batches(domain) for ids in parts]

    def run() -> None:
        with torch.inference_mode():
            for batch in graphs:
                core.forward(*batch) if how == "core" else network.of_nodes(batch, index)

    benchmark.pedantic(run, rounds=ROUNDS, warmup_rounds=1)
    lines.append(describe(domain, f"width {width}, {how}", benchmark))


@pytest.mark.parametrize("batch", [1, BATCH])
@pytest.mark.parametrize("width", [16, 32])
@pytest.mark.parametrize("domain", DOMAINS)
def test_scoring(domain: str, width: int, batch: int, benchmark: BenchmarkFixture, lines: list[str]) -> None:
    core = _core.GineNetwork(random_weights(width, LAYERS), np.arange(TYPE_IDS + 1) % TYPES)

    def run() -> None:
        for encoder, parts in batches(domain):
            for ids in parts:
                for first in range(0, len(ids), batch):
                    core.score(encoder.core, ids[first : first + batch])

    benchmark.pedantic(run, rounds=ROUNDS, warmup_rounds=1)
    lines.append(describe(domain, f"score, {width}, by {batch}", benchmark))


@pytest.mark.benchmark(timer=time.perf_counter)
@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("domain", DOMAINS)
def test_threads(domain: str, threads: int, benchmark: BenchmarkFixture, lines: list[str]) -> None:
    core = _core.GineNetwork(random_weights(32, LAYERS), np.arange(TYPE_IDS + 1) % TYPES)

    def run() -> None:
        for encoder, parts in batches(domain):
            for ids in parts:
                core.score(encoder.core, ids, threads)

    benchmark.pedantic(run, rounds=ROUNDS, warmup_rounds=1)
    lines.append(describe(domain, f"scored by {threads}", benchmark))
