"""How large it gets; run by hand: `pytest tests/benchmarks/test_limits.py`, which takes minutes and 16 GB.

E-states of up to 2^20 worlds and five agents, ten million e-states, and two threads beside one. Figures are printed,
not asserted. Seconds are of the processor, those of threads of the clock.
"""

import resource
import sys
import time
from collections.abc import Callable
from functools import partial

import numpy as np
import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from epigym.problem import domain_problem
from epigym.space.space import StateSpace
from epigym.task.formula import TRUE, fluent
from epigym.task.task import Action, EState, Event, Task

FLUENTS = range(9, 21)
AGENTS = tuple("abcde")
STATES = 10_000_000
BLOCK = 2000
LAYER = 4000
LARGE: dict[str, Callable[[], Task]] = {
    "active muddy child, 12 children": partial(domain_problem, "active_muddy_child", children=12),
    "gossip, 11 agents": partial(domain_problem, "gossip", agents=11),
}
SMALL: dict[str, Callable[[], Task]] = {
    "grapevine, 4 agents": partial(domain_problem, "grapevine", agents=4),
    "gossip, 5 agents": partial(domain_problem, "gossip", agents=5),
}


def peak() -> float:
    """The most memory that this process has taken, in GiB; on macOS it is told in bytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (2**30 if sys.platform == "darwin" else 2**20)


def every_valuation(fluents: int) -> Task:
    """Every valuation of some fluents is a world; each agent does not know four of them, and is told one."""
    names = tuple(f"p{k}" for k in range(fluents))
    worlds = range(2**fluents)
    valuations = tuple(frozenset(name for k, name in enumerate(names) if w >> k & 1) for w in worlds)
    successors = []
    for number in range(len(AGENTS)):
        bits = [1 << (4 * number + k) % fluents for k in range(4)]
        unknown = [sum(bit for k, bit in enumerate(bits) if choice >> k & 1) for choice in range(16)]
        rows = {w: frozenset(w | other for other in unknown) for w in worlds if not w & unknown[-1]}
        successors.append(tuple(rows[w & ~unknown[-1]] for w in worlds))
    told, nothing = Event("told", fluent(names[0])), Event("nothing")
    alike, apart = (frozenset({0}), frozenset({1})), (frozenset({1}), frozenset({1}))
    actions = [
        Action(
            name=name,
            applicability=fluent(names[0]),
            events=(told, nothing),
            designated=(0,),
            relations={"sees": alike, "misses": apart},
            observability=tuple(((TRUE, "sees" if agent in seen_by else "misses"),) for agent in AGENTS),
        )
        for name, seen_by in (("tell everybody", AGENTS), ("tell one", AGENTS[:1]))
    ]
    return Task("valuations", names, AGENTS, tuple(actions), EState(valuations, tuple(successors), (worlds[-1],)), ())


@pytest.mark.benchmark(timer=time.process_time)
@pytest.mark.parametrize("fluents", FLUENTS)
def test_up_to_a_million_worlds(fluents: int, benchmark: BenchmarkFixture, lines: list[str]) -> None:
    task = every_valuation(fluents)
    space = StateSpace(task)
    for action in range(2):
        space.successor(space.initial, action)  # memory is taken

    def expand() -> None:
        for action, one in enumerate(task.actions):
            start = time.process_time()
            target = space.successor(space.initial, action)
            seconds = time.process_time() - start
            after, pairs = int(space.world_counts([target])[0]), len(AGENTS) * 2**fluents
            size = f"{2**fluents:9,} -> {after:9,} worlds, {len(AGENTS)} agents"
            cost = f"{1e3 * seconds:9.3f} ms, {1e9 * seconds / pairs:5.1f} ns for each world and agent"
            lines.append(f"{one.name:14s} {size} {cost}, {peak():.1f} GiB at most")

    benchmark.pedantic(expand, rounds=1)
    assert int(space.world_counts([space.initial])[0]) == 2**fluents


@pytest.mark.benchmark(timer=time.process_time)
def test_ten_million_states(benchmark: BenchmarkFixture, lines: list[str]) -> None:
    """Breadth first, in blocks."""
    space = StateSpace(domain_problem("grapevine", agents=4))

    def explore() -> int:
        expanded = successors = 0
        while len(space) < STATES:
            block = np.arange(expanded, min(expanded + BLOCK, len(space)), dtype=np.int32)
            successors += len(space.expand(block).action)
            expanded += len(block)
        return successors

    start = time.process_time()
    successors = benchmark.pedantic(explore, rounds=1)
    each = 1e6 * (time.process_time() - start) / successors
    lines.append(
        f"{len(space):,} e-states, {each:.1f} us for each of {successors:,} successors, {space.nbytes / 2**30:.2f} GiB"
    )
    assert len(space) >= STATES


def layer(make: Callable[[], Task], states: int) -> tuple[StateSpace, np.ndarray]:
    """A space whose last layer of at least so many e-states is not expanded."""
    space = StateSpace(make())
    found = np.array([space.initial], dtype=np.int32)
    while len(found) < states:
        transitions = space.expand(found)
        found = transitions.target[transitions.is_new]
    return space, found


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("name", SMALL)
def test_threads_on_a_layer(name: str, threads: int, benchmark: BenchmarkFixture) -> None:
    benchmark.pedantic(
        lambda space, states: space.expand(states, threads=threads),
        setup=lambda: (layer(SMALL[name], LAYER), {}),
        rounds=3,
    )


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("name", LARGE)
def test_threads_on_one_state(name: str, threads: int, benchmark: BenchmarkFixture) -> None:
    """The first six e-states after the initial one, one by one."""

    def expand(space: StateSpace, states: list[int]) -> None:
        for state in states:
            space.expand([state], threads=threads)

    def fresh() -> tuple[tuple[StateSpace, list[int]], dict[str, object]]:
        space = StateSpace(LARGE[name]())
        return (space, space.expand([space.initial], threads=threads).target.tolist()[:6]), {}

    benchmark.pedantic(expand, setup=fresh, rounds=3)
