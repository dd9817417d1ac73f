"""How fast the relaxation is; run by hand: `pytest tests/benchmarks/test_relaxation.py`.

Evaluations of batches of e-states and the time to build it; on one world also a textbook h_add for STRIPS
(`classical.cpp`), which must find the same values. Times are of the processor; they are printed, not asserted.
"""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
import time
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from itertools import chain
from pathlib import Path

import numpy as np
import pytest
from numpy.ctypeslib import ndpointer
from numpy.typing import NDArray
from pytest_benchmark.fixture import BenchmarkFixture

from epigym.features.relaxation import Relaxation
from epigym.space.sampling import sample_walk
from epigym.space.space import StateSpace
from epigym.space.traversal import breadth_first
from epigym.task.formula import TRUE, Formula, Op, and_, conjuncts, literal
from epigym.task.task import Task
from tests.helpers.epddl_files import competition_cases

TOWERS = "1-basic/blocks-world/problems/bw-50.epddl"
IMPOSTOR = "3-hard/gossip/problems/gos-06-imp-deceived.epddl"
MOST = 256  # e-states of a batch
ROUNDS = 10

Table = tuple[NDArray[np.int64], NDArray[np.int32]]
"""A ragged table of numbers of facts: where each row starts, and the rows one after the other."""

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
    return f"{Path(name).stem:20s} {what:23s} {1e6 * seconds:9.1f} µs {1e9 * seconds / actions:9.1f} ns an action"


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
    lines.append(describe(name, f"{source} epigym", benchmark.stats.stats.median / len(ids)))


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    """`classical.cpp`, compiled by the system's compiler."""
    compiler = shutil.which(os.environ.get("CXX", "c++"))
    if compiler is None:
        pytest.skip("no C++ compiler")
    made = tmp_path_factory.mktemp("classical") / "classical.so"
    source = Path(__file__).with_name("classical.cpp")
    subprocess.run([compiler, "-std=c++20", "-O2", "-shared", "-fPIC", source, "-o", made], check=True)
    loaded = ctypes.CDLL(str(made))
    number, numbers, pointers = ctypes.c_int32, ndpointer(np.int32), ndpointer(np.int64)
    loaded.strips.argtypes = [number, number, pointers, numbers, pointers, numbers, numbers, number]
    loaded.strips.restype = ctypes.c_void_p
    loaded.evaluate.argtypes = [ctypes.c_void_p, ctypes.c_int64, pointers, numbers, ndpointer(np.float64)]
    return loaded


class Classical:
    """h_add of `classical.cpp` on a task of one world; its facts are the literals that something requires."""

    def __init__(self, library: ctypes.CDLL, task: Task) -> None:
        events = [(action, action.events[number]) for action in task.actions for number in action.designated]
        assert len(events) == len(task.actions)
        assert all(effect.condition is TRUE for _, event in events for effect in event.effects)
        required = [literals(and_(action.applicability, event.precondition)) for action, event in events]
        added = [[literal(effect.fluent, effect.value) for effect in event.effects] for _, event in events]
        goal = literals(and_(*task.goal))
        self._number = {fact: number for number, fact in enumerate(dict.fromkeys(chain(goal, *required)))}
        _, goals = self._table([goal])
        self._library = library
        self._task = library.strips(
            len(self._number), len(events), *self._table(required), *self._table(added), goals, len(goals)
        )

    def table(self, space: StateSpace, ids: NDArray[np.int32]) -> Table:
        """The facts that hold in e-states."""
        truth = space.query(self._number)(ids)
        return np.append(0, np.cumsum(truth.sum(axis=1))), np.nonzero(truth)[1].astype(np.int32)

    def __call__(self, states: Table) -> NDArray[np.float64]:
        """h_add of states, float64[k]."""
        found = np.empty(len(states[0]) - 1)
        self._library.evaluate(self._task, len(found), *states, found)
        return found

    def _table(self, rows: Sequence[Iterable[Formula]]) -> Table:
        numbers = [[self._number[fact] for fact in row if fact in self._number] for row in rows]
        return np.cumsum([0, *map(len, numbers)]), np.array([*chain(*numbers)], dtype=np.int32)


def literals(formula: Formula) -> tuple[Formula, ...]:
    """The parts of a conjunction of literals, each once."""
    assert all(part.unnegated.op is Op.FLUENT for part in conjuncts(formula))
    return conjuncts(formula)


@pytest.mark.parametrize("source", STATES)
def test_the_textbook(source: str, library: ctypes.CDLL, benchmark: BenchmarkFixture, lines: list[str]) -> None:
    space = space_of(TOWERS)
    ids = STATES[source](space)
    assert (space.world_counts(ids) == 1).all()
    classical = Classical(library, space.task)
    found = benchmark.pedantic(classical, args=(classical.table(space, ids),), rounds=ROUNDS, warmup_rounds=1)
    assert found.tolist() == Relaxation(space)(ids).h_add.tolist()
    assert np.isfinite(found).all()
    lines.append(describe(TOWERS, f"{source} textbook", benchmark.stats.stats.median / len(ids)))
