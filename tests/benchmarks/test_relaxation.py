"""How fast the relaxation is; run by hand: `pytest tests/benchmarks/test_relaxation.py`.

Evaluations of batches of e-states and the time to build it. Times are of the processor, those of threads of the clock;
they are printed, not asserted.
"""

import time
from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from pytest_benchmark.fixture import BenchmarkFixture

from epigym.features.relaxation import Relaxation
from epigym.space.sampling import sample_walk
from epigym.space.space import StateSpace
from epigym.space.traversal import breadth_first
from tests.helpers.epddl_files import competition_cases

TOWERS = "1-basic/blocks-world/problems/bw-50.epddl"
IMPOSTOR = "3-hard/gossip/problems/gos-06-imp-deceived.epddl"
MOST = 256  # e-states of a batch
BATCH = 32  # e-states of a batch for threads
ROUNDS = 10


pytestmark = [pytest.mark.reference, pytest.mark.benchmark(timer=time.process_time)]


@cache
def space_of(name: str) -> StateSpace:
    [case] = (case for case in competition_cases() if case.name == name)
    return StateSpace(case.ground().task)


def first(space: StateSpace) -> NDArray[np.int32]:
    """The e-states that a breadth-first walk meets first."""
    for _ in breadth_first(space):
        if len(space) >= MOST:
            break
    return np.arange(min(MOST, len(space)), dtype=np.int32)


def walk(space: StateSpace) -> NDArray[np.int32]:
    """The e-states of a random walk, which ends early where it closes in on itself."""
    return np.array(sample_walk(space, np.random.default_rng(0), steps=MOST - 1)[0], dtype=np.int32)


STATES: dict[str, Callable[[StateSpace], NDArray[np.int32]]] = {"breadth first": first, "random walk": walk}


def describe(name: str, what: str, seconds: float) -> str:
    """The time of an evaluation."""
    actions = len(space_of(name).task.actions)
    return f"{Path(name).stem:20s} {what:16s} {1e6 * seconds:9.1f} µs {1e9 * seconds / actions:9.1f} ns an action"


@pytest.mark.parametrize("name", [TOWERS, IMPOSTOR])
def test_building(name: str, benchmark: BenchmarkFixture, lines: list[str]) -> None:
    task = space_of(name).task
    benchmark.pedantic(Relaxation, setup=lambda: ((StateSpace(task),), {}), rounds=3)
    lines.append(f"{name}: {len(task.actions)} actions, built in {benchmark.stats.stats.median:.3f} s")


@pytest.mark.parametrize("source", STATES)
@pytest.mark.parametrize("name", [TOWERS, IMPOSTOR])
def test_evaluating(name: str, source: str, benchmark: BenchmarkFixture, lines: list[str]) -> None:
    def relaxation() -> tuple[Relaxation, NDArray[np.int32]]:
        """One that remembers nothing yet."""
        space = StateSpace(space_of(name).task)
        return Relaxation(space), STATES[source](space)

    ids = STATES[source](space_of(name))
    benchmark.pedantic(Relaxation.__call__, setup=lambda: (relaxation(), {}), rounds=ROUNDS, warmup_rounds=1)
    lines.append(describe(name, source, benchmark.stats.stats.median / len(ids)))


@pytest.mark.benchmark(timer=time.perf_counter)
@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("name", [TOWERS, IMPOSTOR])
def test_threads(name: str, threads: int, benchmark: BenchmarkFixture, lines: list[str]) -> None:
    def prepare() -> tuple[tuple[Relaxation, list[NDArray[np.int32]]], dict[str, object]]:
        space = StateSpace(space_of(name).task, threads=threads)
        ids = first(space)
        return (Relaxation(space), [ids[begin : begin + BATCH] for begin in range(0, len(ids), BATCH)]), {}

    def relax(relaxation: Relaxation, batches: list[NDArray[np.int32]]) -> None:
        for ids in batches:
            relaxation(ids)

    benchmark.pedantic(relax, setup=prepare, rounds=ROUNDS, warmup_rounds=1)
    count = len(first(space_of(name)))
    lines.append(describe(name, f"{threads} threads", benchmark.stats.stats.median / count))
