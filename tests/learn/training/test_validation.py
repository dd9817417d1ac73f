"""Validation by search: how many problems greedy search solves with a score, and in how many expansions."""

from collections.abc import Callable
from functools import cache
from itertools import islice, product

import numpy as np
import pytest
from numpy.typing import NDArray

from epigym import EpigymError, StateSpace
from epigym.features.types import FeatureTypes
from epigym.task.formula import split_goal
from learn.data.distribution import sample_problems
from learn.training.validation import Problems, Scores, validate_by_search
from search.heuristics import make_heuristic
from tests.helpers.tasks import coin, delusion

Maker = Callable[[StateSpace, FeatureTypes], Scores]


def constant(space: StateSpace, types: FeatureTypes) -> Scores:
    """Nothing but ids decides."""
    return lambda ids: np.zeros(len(ids))


def noisy(space: StateSpace, types: FeatureTypes) -> Scores:
    """Nothing but ids decides, as long as scores are ordered in thousandths."""
    rng = np.random.default_rng(0)
    return lambda ids: rng.uniform(0.9996, 1.0004, len(ids))


def open_parts(space: StateSpace, types: FeatureTypes) -> Scores:
    truth = space.query(split_goal(space.task.goal))
    return lambda ids: np.sum(~truth(ids), axis=1, dtype=np.float64)


def h_add(space: StateSpace, types: FeatureTypes) -> Scores:
    return make_heuristic("h_add", space).score


@cache
def problems_of(domain: str) -> Problems:
    return [(one.task, FeatureTypes(one.task)) for one in islice(sample_problems(domain, "validation", 3), 4)]


# Recorded from a best-first search of its own, which the search agent replaced.
RECORDED = [
    ("blocks_world", constant, 30, 0, 120),
    ("blocks_world", constant, 200, 1, 662),
    ("blocks_world", noisy, 200, 1, 662),
    ("blocks_world", open_parts, 30, 1, 108),
    ("blocks_world", open_parts, 200, 3, 495),
    ("coin_in_the_box", constant, 200, 1, 718),
    ("coin_in_the_box", open_parts, 30, 2, 85),
    ("coin_in_the_box", open_parts, 200, 2, 425),
    ("coin_in_the_box", h_add, 30, 4, 26),
    ("gossip", constant, 200, 3, 475),
    ("gossip", h_add, 30, 4, 13),
]


@pytest.mark.parametrize(("domain", "scores", "nodes", "solved", "expanded"), RECORDED)
def test_solved_problems_and_nodes(domain: str, scores: Maker, nodes: int, solved: int, expanded: int) -> None:
    problems = problems_of(domain)
    found = validate_by_search(problems, nodes, scores)
    assert (found.solved, found.expanded, found.stopped) == (solved, expanded, False)
    assert len(found.unsolved) == len(problems) - solved
    assert found.score == (len(problems) - solved, expanded)


@pytest.mark.parametrize(
    ("domain", "scores", "expected"),
    [
        ("blocks_world", constant, (2, 400, 2, True)),  # too many are unsolved
        ("coin_in_the_box", open_parts, (2, 411, 2, True)),
        ("blocks_world", open_parts, (3, 338, 1, True)),  # as many, and far more is expanded
        ("coin_in_the_box", h_add, (4, 26, 0, False)),
    ],
)
def test_validation_stops_beyond_the_bound(domain: str, scores: Maker, expected: tuple[int, int, int, bool]) -> None:
    found = validate_by_search(problems_of(domain), 200, scores, bound=(1, 150))
    assert (found.solved, found.expanded, len(found.unsolved), found.stopped) == expected


def test_a_validation_that_is_cut_short_gives_bounds() -> None:
    """And a whole one the numbers themselves, whatever its bound."""
    problems = problems_of("blocks_world")
    whole = validate_by_search(problems, 200, open_parts)
    stopped = []
    for bound in product(range(len(problems)), (10, 150, 300, 600)):
        found = validate_by_search(problems, 200, open_parts, bound=bound)
        assert found.stopped or found == whole
        assert found.solved >= whole.solved
        assert found.expanded <= whole.expanded
        assert found.score <= whole.score
        assert found.score > bound or not found.stopped, "it cannot be the best"
        stopped.append(found.stopped)
    assert 0 < sum(stopped) < len(stopped)


def test_e_states_with_inconsistent_beliefs_can_be_excluded() -> None:
    """The only plan leads through one."""
    problems = [(delusion(), FeatureTypes(delusion()))]
    found = [validate_by_search(problems, 10, constant, consistent_beliefs=one).solved for one in (False, True)]
    assert found == [1, 0]


def test_errors_of_validation() -> None:
    problems = [(coin(), FeatureTypes(coin()))]
    with pytest.raises(EpigymError, match=r"^heuristic 'score' scored e-state 0 as not a number$"):
        validate_by_search(problems, 10, lambda space, types: lambda ids: np.full(len(ids), np.nan))

    def out_of_memory(ids: NDArray[np.int32]) -> NDArray[np.float64]:
        raise MemoryError

    message = rf"^greedy search on {coin().name} runs out of memory: give it fewer expansions$"
    with pytest.raises(EpigymError, match=message):
        validate_by_search([(coin(), FeatureTypes(coin()))], 10, lambda space, types: out_of_memory)
