"""bfs, hfs, hfs_star and wa_star on explicit graphs whose counts were made by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from epigym.errors import EpigymError, UsageError
from search.agents import make_agent
from search.agents.limits import Limits
from search.agents.result import SearchStatus
from tests.helpers.graph_space import DIAMOND, GRAPHS, GraphSpace, TableHeuristic, shortest


def diamond() -> GraphSpace:
    return GraphSpace(DIAMOND, goals=[5])


def test_breadth_first_counts_by_hand() -> None:
    # Expanded 0, 1, 2, 3 (cut). Generated: 2 + 2 + 2 + 1. Seen: 0 to 5.
    result = make_agent("bfs").search(diamond())
    assert (result.status, result.plan) == (SearchStatus.SOLVED, ("a", "a", "a"))
    assert (result.expanded, result.generated, result.distinct) == (4, 7, 6)


def test_breadth_first_counts_a_cut_inside_a_batch() -> None:
    # 1 and 2 are one batch; 1 reaches the goal with its second action, so 2 is never expanded.
    space = GraphSpace({0: [("a", 1), ("b", 2)], 1: [("a", 3), ("b", 9), ("c", 4)], 2: [("a", 9)]}, goals=[9])
    result = make_agent("bfs").search(space)
    assert result.plan == ("a", "b")
    assert (result.expanded, result.generated, result.distinct) == (2, 4, 5)
    assert space.expanded == [0, 1]


def test_the_first_way_to_a_state_is_kept() -> None:
    # Both 1 and 2 lead to 3 in one batch, 2 by an action declared earlier: the way through 1 was met first.
    space = GraphSpace({0: [("b", 1), ("c", 2)], 1: [("z", 3)], 2: [("a", 3)], 3: [("a", 9)]}, goals=[9])
    assert make_agent("bfs").search(space).plan == ("b", "z", "a")


@pytest.mark.parametrize("name", ["bfs", "hfs", "hfs_star", "wa_star"])
def test_a_goal_at_the_start_needs_no_expansion(name: str) -> None:
    settings = {"weight": 2.0} if name == "wa_star" else {}
    result = make_agent(name, **settings).search(GraphSpace(DIAMOND, goals=[0]), TableHeuristic({}))
    assert (result.status, result.plan) == (SearchStatus.SOLVED, ())
    assert (result.expanded, result.generated, result.distinct) == (0, 0, 1)


@pytest.mark.parametrize("name", ["bfs", "hfs", "hfs_star"])
def test_exhausting_the_space_proves_that_there_is_no_plan(name: str) -> None:
    # Infinite scores stay in the queue: they never turn into a claim of their own.
    heuristic = TableHeuristic(dict.fromkeys(range(7), math.inf))
    result = make_agent(name).search(GraphSpace(DIAMOND, goals=[]), heuristic)
    assert (result.status, result.plan) == (SearchStatus.UNSOLVABLE, None)
    assert (result.expanded, result.generated, result.distinct) == (7, 10, 7)


def test_infinite_scores_come_last_but_come() -> None:
    heuristic = TableHeuristic({1: math.inf, 2: math.inf, 3: math.inf, 4: math.inf, 6: 0})
    assert make_agent("hfs").search(diamond(), heuristic).status is SearchStatus.SOLVED


def test_greedy_search_follows_the_score_alone() -> None:
    space = diamond()
    result = make_agent("hfs").search(space, TableHeuristic({1: 5, 2: 3, 3: 4, 4: 1}))
    assert space.expanded == [0, 2, 4]
    assert result.plan == ("b", "b", "a")
    assert (result.expanded, result.generated, result.distinct) == (3, 5, 6)


def test_equal_sums_in_thousandths_are_ties() -> None:
    """1 + 3 * 1.001 is 4 + 3 * 0.001, though 1000 * 1.001 is below 1001 in binary: the lower score comes first."""
    space = GraphSpace({0: [("a", 1), ("b", 2)], 1: [], 2: [("a", 3)], 3: [("a", 4)], 4: [("a", 5)], 5: []}, goals=[])
    scores = {1: 1.001, **dict.fromkeys((2, 3, 4, 5), 0.001)}
    make_agent("wa_star", weight=3).search(space, TableHeuristic(scores))
    assert space.expanded == [0, 2, 3, 4, 5, 1]


def test_hfs_star_adds_the_depth() -> None:
    # 1: 1 + 1.5, 2: 1 + 1; then 3: 2 + 1 and 4: 2 + 0.6 come after 1.
    space = diamond()
    make_agent("hfs_star").search(space, TableHeuristic({1: 1.5, 2: 1.0, 3: 1.0, 4: 0.6}))
    assert space.expanded == [0, 2, 1, 4]


def test_a_weight_makes_the_score_count_more() -> None:
    # With weight 3: 1: 1 + 4.5 comes after 4: 2 + 1.8.
    space = diamond()
    make_agent("wa_star", weight=3.0).search(space, TableHeuristic({1: 1.5, 2: 1.0, 3: 1.0, 4: 0.6}))
    assert space.expanded == [0, 2, 4]


def test_equal_priorities_go_to_the_lower_score_then_to_what_was_seen_first() -> None:
    edges = {0: [("a", 3), ("b", 2), ("c", 1)], 1: [("a", 4)], 2: [("a", 5)], 3: [("a", 6)]}
    space = GraphSpace(edges, goals=[])
    make_agent("hfs_star").search(space, TableHeuristic({1: 1, 2: 1, 3: 1, 4: 0, 5: 0, 6: 0}))
    # 1, 2 and 3 share f = 2; their successors have f = 2 too and a lower h.
    assert space.expanded == [0, 3, 6, 2, 5, 1, 4]


def test_noise_below_a_thousandth_of_a_step_does_not_change_the_order() -> None:
    edges = {0: [("a", 1), ("b", 2)]}
    space = GraphSpace(edges, goals=[])
    make_agent("hfs").search(space, TableHeuristic({1: 2.0002, 2: 2.0001}))
    assert space.expanded == [0, 1, 2]
    space = GraphSpace(edges, goals=[])
    make_agent("hfs").search(space, TableHeuristic({1: 2.002, 2: 2.001}))
    assert space.expanded == [0, 2, 1]


def test_each_expansion_is_scored_in_one_batch_of_new_states() -> None:
    heuristic = TableHeuristic({})
    make_agent("hfs").search(GraphSpace(DIAMOND, goals=[]), heuristic)
    assert heuristic.batches == [[0], [1, 2], [3], [4], [5], [6]]


def test_several_expansions_share_a_batch() -> None:
    heuristic = TableHeuristic({1: 1, 2: 1})
    space = GraphSpace(DIAMOND, goals=[6])
    result = make_agent("hfs_star", expansions_per_batch=2).search(space, heuristic)
    assert heuristic.batches == [[0], [1, 2], [3, 4]]
    assert result.plan == ("b", "b", "b")


def test_a_score_that_is_not_a_number_is_an_error() -> None:
    with pytest.raises(EpigymError, match="'table' scored e-state 2 as not a number"):
        make_agent("hfs").search(diamond(), TableHeuristic({2: math.nan}))


def test_an_informed_agent_asks_for_its_heuristic() -> None:
    with pytest.raises(EpigymError, match="'hfs' needs a heuristic"):
        make_agent("hfs").search(diamond())


def test_a_second_search_on_an_explored_space_counts_the_same() -> None:
    space = diamond()
    first, second = (make_agent("bfs").search(space) for _ in range(2))
    assert (first.expanded, first.generated, first.distinct) == (second.expanded, second.generated, second.distinct)


@pytest.mark.parametrize("name", ["bfs", "hfs", "hfs_star"])
@pytest.mark.parametrize("most", [0, 1, 3])
def test_the_expansion_limit_is_exact(name: str, most: int) -> None:
    space = diamond()
    result = make_agent(name).search(space, TableHeuristic({}), Limits(max_expanded=most))
    assert (result.status, result.expanded, len(space.expanded)) == (SearchStatus.EXPANSION_LIMIT, most, most)
    assert result.plan is None


def test_a_setting_without_a_default_is_needed() -> None:
    with pytest.raises(UsageError, match="agent 'wa_star' needs the setting weight"):
        make_agent("wa_star")


@given(GRAPHS, st.lists(st.integers(0, 29), max_size=2), st.integers(1, 4))
def test_agents_find_real_plans_and_breadth_first_the_shortest(
    edges: dict[int, list[tuple[str, int]]], goals: list[int], per_batch: int
) -> None:
    best = shortest(edges, goals)
    scores = dict(enumerate(np.random.default_rng(0).uniform(0, 5, 30).tolist()))
    for agent in (make_agent("bfs"), make_agent("hfs", expansions_per_batch=per_batch), make_agent("hfs_star")):
        result = agent.search(GraphSpace(edges, goals), TableHeuristic(scores))
        assert (result.plan is None) == (best is None)
        if result.plan is None:
            assert result.status is SearchStatus.UNSOLVABLE
            continue
        assert len(result.plan) >= best
        if agent.name == "bfs":
            assert len(result.plan) == best
        states = {0}
        for name in result.plan:
            states = {target for state in states for action, target in edges[state] if action == name}
        assert states & set(goals)
