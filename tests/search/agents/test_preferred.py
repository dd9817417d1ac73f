"""Greedy search with an open list of preferred actions, on explicit graphs and with the relaxation."""

from collections.abc import Mapping
from typing import Any

import pytest

from search.agents import make_agent, run_agent
from search.agents.result import SearchStatus
from tests.helpers.graph_space import GraphSpace, TablePreferences

# From 0 action a leads to 1, which scores worse than 2 behind b; the goal lies behind 1.
EDGES = {0: [("a", 1), ("b", 2)], 1: [("a", 3)], 2: [("a", 4), ("b", 5)], 3: [("a", 9)], 4: [("a", 6)], 5: [("a", 7)]}
SCORES = {1: 5.0, 2: 1.0, 3: 5.0, 4: 1.0, 5: 1.0, 6: 1.0, 7: 1.0}


@pytest.mark.parametrize(
    ("settings", "liked", "order"),
    [
        ({}, {0: [0], 1: [0]}, [0, 1, 2, 3]),  # all: 0; preferred: 1; all: 2; preferred: 3
        ({}, {}, [0, 2, 4, 5, 6, 7, 1, 3]),  # without preferred actions it is greedy search
        # The descent tries preferred actions only, until there are none.
        ({"descent": True}, {0: [0], 1: [0]}, [0, 1, 3]),
        # 1 is a dead end of the descent; 2 belongs to the full search, in which preferred actions have turns again.
        ({"descent": True}, {0: [0], 2: [0, 1], 4: [0]}, [0, 1, 2, 4, 5, 6, 7, 3]),
    ],
)
def test_the_queues_take_turns(settings: Mapping[str, Any], liked: Mapping[int, list[int]], order: list[int]) -> None:
    space = GraphSpace(EDGES, [9])
    result = run_agent(make_agent("hfs_preferred", **settings), space, TablePreferences(SCORES, liked))
    assert (result.status, result.plan, space.expanded) == (SearchStatus.SOLVED, ("a", "a", "a"), order)


def test_the_boost_gives_turns_after_progress() -> None:
    space = GraphSpace({0: [("a", 1), ("b", 2)], 1: [("a", 3)], 2: [("a", 4)], 3: [("a", 5)], 5: [("a", 9)]}, [9])
    liked = {0: [0], 1: [0], 3: [0], 5: [0]}
    scores = {1: 5.0, 2: 1.0, 3: 5.0, 4: 1.0, 5: 5.0}
    run_agent(make_agent("hfs_preferred", boost=10), space, TablePreferences(scores, liked))
    assert space.expanded == [0, 1, 3, 5]


@pytest.mark.parametrize(
    ("settings", "liked", "built"),
    [
        # Those of 0, of 2, of 4 and of 5 (scored 1, in the order of scoring), then those of 1 and 3 (scored 5).
        ({}, {}, [1, 2, 4, 5, 6, 7, 3, 9]),
        # Preferred: 0a; all: 0a again; preferred: 1a; all: 0b; preferred: 3a.
        ({}, {0: [0], 1: [0], 3: [0]}, [1, 3, 2, 9]),
        # In the descent 0b and 2a; then the rest of 0, of 2, …
        ({"descent": True}, {0: [1], 2: [0]}, [2, 4, 1, 5, 6, 7, 3, 9]),
        ({}, {0: [2, 0], 1: [0], 3: [0]}, [1, 3, 2, 9]),  # the third action is not applicable
    ],
)
def test_lazy_generates_an_e_state_when_it_is_popped(
    settings: Mapping[str, Any], liked: Mapping[int, list[int]], built: list[int]
) -> None:
    space = GraphSpace({**EDGES, 8: [("c", 8)]}, [9])
    result = run_agent(make_agent("lazy", **settings), space, TablePreferences(SCORES, liked))
    assert (result.status, result.plan, space.built) == (SearchStatus.SOLVED, ("a", "a", "a"), built)
    assert result.generated == len(built)


def test_lazy_counts_scored_e_states_as_expanded_and_generates_each_once() -> None:
    space = GraphSpace({0: [("a", 1), ("b", 2)], 1: [("a", 2), ("b", 0)], 2: [("a", 3)]}, [])
    heuristic = TablePreferences({}, {0: [0, 1], 1: [0]})
    result = run_agent(make_agent("lazy"), space, heuristic)
    assert (result.status, result.expanded, result.distinct) == (SearchStatus.UNSOLVABLE, 4, 4)
    assert sorted(space.built) == [0, 1, 2, 2, 3]  # every edge once
    assert sorted(state for batch in heuristic.batches for state in batch) == [0, 1, 2, 3]
