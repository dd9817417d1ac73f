"""Threads that share a space and its queries, features and graphs get the results of a single thread."""

import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any, TypeVar

import numpy as np
import pytest

from epigym import _core
from epigym.encoding.encoder import Encoder, list_identifiers
from epigym.encoding.relational import Relational, RelationalEncoder
from epigym.features.counts import RelationalFeatures
from epigym.features.relaxation import Relaxation
from epigym.features.types import FeatureTypes
from epigym.problem import load_problem
from epigym.space.space import StateSpace, as_ids
from epigym.task.formula import Formula, believes, fluent, not_
from epigym.task.task import EState, Task
from tests.helpers.gine_weights import TYPES, random_weights
from tests.helpers.marks import slow_but

T = TypeVar("T")
THREADS = 8
PROBLEM = "grapevine/3_pl_4"


@pytest.fixture(autouse=True)
def busy() -> Iterator[None]:
    """Make threads switch as often as possible."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def together(work: Callable[[int], T]) -> list[T]:
    """The results of threads, numbered from 0, that start at the same time."""
    barrier = Barrier(THREADS)

    def run(number: int) -> T:
        barrier.wait()
        return work(number)

    with ThreadPoolExecutor(THREADS) as pool:
        return list(pool.map(run, range(THREADS)))


def explore_some() -> StateSpace:
    """A space with some hundred e-states."""
    space = StateSpace(load_problem(PROBLEM))
    frontier = np.zeros(1, np.int32)
    while len(space) < 300:
        transitions = space.expand(frontier)
        frontier = transitions.target[transitions.is_new]
    return space


def of_query(space: StateSpace) -> Callable[[Any], tuple[Any, ...]]:
    query = space.query(space.task.goal)
    return lambda ids: (query(ids), space.is_goal(ids), space.applicable(ids))


def of_network(space: StateSpace) -> Callable[[Any], tuple[Any, ...]]:
    encoder = RelationalEncoder(space, Relational(type_ids=TYPES - 1))
    network = _core.GineNetwork(random_weights(16, 2))
    return lambda ids: (network.score(encoder.core, as_ids(ids), space.threads),)


# Objects of a space as functions of e-states. Their results are arrays that do not depend on earlier calls.
BOUND: dict[str, Callable[[StateSpace], Callable[[Any], tuple[Any, ...]]]] = {
    **{name: lambda space, name=name: Encoder(space, name, width=128).graphs for name in list_identifiers()},  # type: ignore[misc]
    "relational": lambda space: RelationalEncoder(space, Relational()).graphs,
    "network": of_network,
    "worlds": lambda space: space.rows,
    "features": lambda space: RelationalFeatures(space, FeatureTypes(space.task).tables, 1, True),
    "relaxation": Relaxation,
    "query": of_query,
}


@pytest.mark.parametrize("name", slow_but(BOUND, "relational", "query"))
def test_shared_objects_give_threads_the_results_of_one(name: str) -> None:
    space = explore_some()
    alone = BOUND[name](space)
    expected = [alone([state]) for state in range(len(space))]
    for attempt in range(20):
        shared = BOUND[name](space)

        def ask(
            number: int, shared: Callable[[Any], tuple[Any, ...]] = shared, attempt: int = attempt
        ) -> dict[int, Any]:
            states = np.random.default_rng([attempt, number]).choice(len(space), 30, replace=False)
            return {state: shared([state]) for state in states.tolist()}

        for found in together(ask):
            for state, arrays in found.items():
                for one, other in zip(arrays, expected[state], strict=True):
                    assert np.array_equal(one, other), f"e-state {state}"


def test_labels_are_described_while_a_thread_adds_some() -> None:
    """All worlds of an e-state are labelled in one go."""
    names = tuple(f"f{k}" for k in range(12))
    count = 1 << len(names)
    valuations = tuple(frozenset(name for k, name in enumerate(names) if w >> k & 1) for w in range(count))
    initial = EState(valuations, ((frozenset(range(count)),) * count,), (0,))
    space = StateSpace(Task("many", names, ("a",), (), initial, ()))
    for _ in range(40):
        labels = _core.WorldLabels()

        def ask(number: int, labels: _core.WorldLabels = labels) -> list[Any]:
            if number == 0:
                space.rows([0], labels)
            return [labels.describe(0, len(names)) for _ in range(20)]

        described = [len(repetitions) for found in together(ask) for _, repetitions in found]
        assert set(described) <= {0, count}


@pytest.mark.parametrize("threads", [2, 5])
@pytest.mark.parametrize("name", ["relaxation", "network"])
def test_batches_are_the_same_for_any_number_of_threads(name: str, threads: int) -> None:
    """The first batch tells how long an e-state takes; the others are large enough for several threads."""
    alone, shared = explore_some(), explore_some()
    shared.threads = threads
    expected, found = BOUND[name](alone), BOUND[name](shared)
    for part in np.array_split(np.arange(len(alone)), 3):
        ids = np.append(part, part[:2])
        for one, other in zip(found(ids), expected(ids), strict=True):
            assert np.array_equal(one, other)


def test_threads_that_explore_one_space_reach_the_same_e_states() -> None:
    """Each walk of a thread is also a walk of a space that one thread explores."""
    space = StateSpace(load_problem(PROBLEM))

    def walk(number: int) -> list[tuple[int, int, int]]:
        rng, state, steps = np.random.default_rng(number), space.initial, []
        for _ in range(150):
            transitions = space.expand([state], threads=1 + number % 2)
            step = int(rng.integers(len(transitions.action)))
            steps.append((state, int(transitions.action[step]), int(transitions.target[step])))
            state = steps[-1][2]
        return steps

    walks = together(walk)
    other = StateSpace(space.task)
    same: dict[int, int] = {0: 0}
    for source, action, target in (step for steps in walks for step in steps):
        assert same.setdefault(target, other.successor(same[source], action)) == other.successor(same[source], action)
    assert len(set(same.values())) == len(same)
    for state in list(same)[:50]:
        assert space.model(state) == other.model(same[state])


def test_equal_formulas_of_threads_are_one() -> None:
    for attempt in range(5):

        def build(number: int, attempt: int = attempt) -> list[Formula]:
            return [not_(believes("a", fluent(f"new {attempt} {k}"))) for k in range(2000)]

        for formulas in zip(*together(build), strict=True):
            assert len(set(map(id, formulas))) == 1
