"""Greedy search with a queue of preferred actions, on explicit graphs and with the relaxation."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pytest
from numpy.typing import NDArray

from epigym.errors import UsageError
from epigym.problem import load_problem
from epigym.space.space import StateSpace
from search.agents import make_agent
from search.agents.limits import Limits
from search.agents.result import SearchStatus
from search.heuristics import make_heuristic
from search.heuristics.heuristic import Evaluation
from search.planning.configuration import Configuration
from search.planning.planner import find_plan
from tests.helpers.graph_space import GraphSpace, TableHeuristic
from tests.helpers.tasks import SOLVABLE, hopeless


class Preferences(TableHeuristic):
    """Scores and preferred actions, as positions among the sorted names of the actions, read from tables."""

    prefers = True

    def __init__(self, scores: Mapping[int, float], liked: Mapping[int, list[int]]) -> None:
        super().__init__(scores)
        self.liked = liked

    def evaluate(self, ids: NDArray[np.int32], parents: NDArray[np.int64], actions: NDArray[np.int64]) -> Evaluation:
        rows = [self.liked.get(state, []) for state in ids.tolist()]
        return Evaluation(
            self.score(ids), np.cumsum([0, *map(len, rows)]), np.array([a for row in rows for a in row], dtype=np.int32)
        )


# From 0 action a leads to 1, which scores worse than 2 behind b; the goal lies behind 1.
EDGES = {0: [("a", 1), ("b", 2)], 1: [("a", 3)], 2: [("a", 4), ("b", 5)], 3: [("a", 9)], 4: [("a", 6)], 5: [("a", 7)]}
SCORES = {1: 5.0, 2: 1.0, 3: 5.0, 4: 1.0, 5: 1.0, 6: 1.0, 7: 1.0}


def expanded(liked: Mapping[int, list[int]], **settings: int) -> list[int]:
    space = GraphSpace(EDGES, [9])
    result = make_agent("hfs_preferred", **settings).search(space, Preferences(SCORES, liked))
    assert (result.status, result.plan) == (SearchStatus.SOLVED, ("a", "a", "a"))
    return space.expanded


def test_the_queues_take_turns() -> None:
    assert expanded({0: [0], 1: [0]}) == [0, 1, 2, 3]  # all: 0; preferred: 1; all: 2; preferred: 3


def test_without_preferred_actions_it_is_greedy_search() -> None:
    assert expanded({}) == [0, 2, 4, 5, 6, 7, 1, 3]


def test_the_boost_gives_turns_after_progress() -> None:
    space = GraphSpace({0: [("a", 1), ("b", 2)], 1: [("a", 3)], 2: [("a", 4)], 3: [("a", 5)], 5: [("a", 9)]}, [9])
    liked = {0: [0], 1: [0], 3: [0], 5: [0]}
    scores = {1: 5.0, 2: 1.0, 3: 5.0, 4: 1.0, 5: 5.0}
    make_agent("hfs_preferred", boost=10).search(space, Preferences(scores, liked))
    assert space.expanded == [0, 1, 3, 5]


@pytest.mark.parametrize(
    ("liked", "order"),
    [
        ({0: [0], 1: [0]}, [0, 1, 3]),
        # 1 is a dead end of the descent; 2 belongs to the full search, in which preferred actions have turns again.
        ({0: [0], 2: [0, 1], 4: [0]}, [0, 1, 2, 4, 5, 6, 7, 3]),
    ],
)
def test_the_descent_tries_preferred_actions_only_until_there_are_none(
    liked: Mapping[int, list[int]], order: list[int]
) -> None:
    assert expanded(liked, descent=True) == order


def test_the_descent_of_lazy_builds_what_preferred_actions_reach_and_then_the_rest() -> None:
    space = GraphSpace(EDGES, [9])
    result = make_agent("lazy", descent=True).search(space, Preferences(SCORES, {0: [1], 2: [0]}))
    assert (result.status, result.plan) == (SearchStatus.SOLVED, ("a", "a", "a"))
    assert space.built == [2, 4, 1, 5, 6, 7, 3, 9]  # 0b and 2a; then the rest of 0, of 2, …


def test_infinite_scores_come_last_and_the_search_is_complete() -> None:
    space = GraphSpace({0: [("a", 1), ("b", 2)], 1: [("a", 9)]}, [9])
    result = make_agent("hfs_preferred").search(space, Preferences({1: np.inf, 2: 1.0}, {}))
    assert (result.status, space.expanded) == (SearchStatus.SOLVED, [0, 2, 1])
    nothing = make_agent("hfs_preferred").search(GraphSpace({0: [("a", 1)]}, []), Preferences({}, {}))
    assert nothing.status is SearchStatus.UNSOLVABLE


@pytest.mark.parametrize("agent", ["hfs_preferred", "lazy"])
def test_a_heuristic_that_prefers_nothing_is_refused(agent: str) -> None:
    with pytest.raises(UsageError, match="needs a heuristic that prefers actions, for example heuristic=h_add"):
        make_agent(agent).search(GraphSpace(EDGES, [9]), TableHeuristic(SCORES))


@pytest.mark.parametrize(
    ("liked", "built"),
    [
        # Those of 0, of 2, of 4 and of 5 (scored 1, in the order of scoring), then those of 1 and 3 (scored 5).
        ({}, [1, 2, 4, 5, 6, 7, 3, 9]),
        # Preferred: 0a; all: 0a again; preferred: 1a; all: 0b; preferred: 3a.
        ({0: [0], 1: [0], 3: [0]}, [1, 3, 2, 9]),
    ],
)
def test_lazy_builds_an_e_state_when_its_turn_comes(liked: Mapping[int, list[int]], built: list[int]) -> None:
    space = GraphSpace(EDGES, [9])
    result = make_agent("lazy").search(space, Preferences(SCORES, liked))
    assert (result.status, result.plan) == (SearchStatus.SOLVED, ("a", "a", "a"))
    assert space.built == built
    assert result.generated == len(built)


def test_lazy_counts_what_it_scores_as_expanded_and_builds_nothing_twice() -> None:
    space = GraphSpace({0: [("a", 1), ("b", 2)], 1: [("a", 2), ("b", 0)], 2: [("a", 3)]}, [])
    heuristic = Preferences({}, {0: [0, 1], 1: [0]})
    result = make_agent("lazy").search(space, heuristic)
    assert (result.status, result.expanded, result.distinct) == (SearchStatus.UNSOLVABLE, 4, 4)
    assert sorted(space.built) == [0, 1, 2, 2, 3]  # every edge once
    assert sorted(state for batch in heuristic.batches for state in batch) == [0, 1, 2, 3]


def test_lazy_does_not_try_preferred_actions_that_are_not_applicable() -> None:
    space = GraphSpace({0: [("a", 1)], 1: [("b", 9)]}, [9])
    result = make_agent("lazy").search(space, Preferences({}, {0: [1, 0], 1: [0]}))
    assert (result.status, space.built) == (SearchStatus.SOLVED, [1, 9])


def test_lazy_heeds_the_limits() -> None:
    result = make_agent("lazy").search(GraphSpace(EDGES, [9]), Preferences(SCORES, {}), Limits(max_expanded=2))
    assert (result.status, result.expanded) == (SearchStatus.EXPANSION_LIMIT, 2)


@pytest.mark.parametrize("agent", ["hfs_preferred", "lazy"])
@pytest.mark.parametrize("heuristic", ["h_add", "h_ff"])
@pytest.mark.parametrize("name", sorted(SOLVABLE))
def test_plans_are_found_and_valid(name: str, heuristic: str, agent: str) -> None:
    result = find_plan(SOLVABLE[name](), Configuration.of(agent, heuristic))
    assert result.status is SearchStatus.SOLVED


@pytest.mark.parametrize("agent", ["hfs_preferred", "lazy"])
def test_a_task_without_a_plan_is_exhausted_although_the_relaxation_is_blind(agent: str) -> None:
    result = find_plan(hopeless(), Configuration.of(agent, "h_add"))
    assert result.status is SearchStatus.UNSOLVABLE


@pytest.mark.parametrize("name", ["h_add", "h_ff"])
def test_where_the_relaxation_is_blind_the_open_parts_of_the_goal_are_counted(name: str) -> None:
    space = StateSpace(hopeless())
    ids = np.array([space.initial, *space.expand([space.initial]).target], dtype=np.int32)
    ways = np.full(len(ids), -1)
    heuristic, counted = make_heuristic(name, space), make_heuristic("divided_goals", space)
    found = heuristic.evaluate(ids, ways, ways)
    assert found.scores.tolist() == heuristic.score(ids).tolist() == counted.score(ids).tolist()
    assert np.isfinite(found.scores).all()
    assert len(found.preferred) == 0


@pytest.mark.parametrize(("problem", "nodes", "length"), [("grapevine/3_pl_4", 4, 4), ("coin_in_the_box/pl_7", 14, 7)])
def test_known_counts(problem: str, nodes: int, length: int) -> None:
    limits = Limits(max_expanded=1000)
    result = find_plan(load_problem(problem), Configuration.of("hfs_preferred", "h_add"), limits)
    assert (result.expanded, result.plan_length) == (nodes, length)
