"""bfs, hfs, hfs_star and wa_star on explicit graphs, with counts computed by hand."""

import math
from collections.abc import Mapping
from typing import Any

import pytest

from epigym.errors import EpigymError, UsageError
from search.agents import make_agent, run_agent
from search.agents.result import SearchStatus
from tests.helpers.graph_space import DIAMOND, GraphSpace, TableHeuristic


def diamond() -> GraphSpace:
    return GraphSpace(DIAMOND, goals=[5])


def test_breadth_first_counts_by_hand() -> None:
    # Expanded 0, 1, 2, 3 (cut). Generated: 2 + 2 + 2 + 1. Seen: 0 to 5.
    result = run_agent(make_agent("bfs"), diamond())
    assert (result.status, result.plan) == (SearchStatus.SOLVED, ("a", "a", "a"))
    assert (result.expanded, result.generated, result.distinct) == (4, 7, 6)


def test_breadth_first_counts_a_cut_inside_a_batch() -> None:
    # 1 and 2 are one batch; 1 reaches the goal with its second action, so 2 is never expanded.
    space = GraphSpace({0: [("a", 1), ("b", 2)], 1: [("a", 3), ("b", 9), ("c", 4)], 2: [("a", 9)]}, goals=[9])
    for _ in range(2):  # a second search of the explored space counts the same
        result = run_agent(make_agent("bfs"), space)
        assert result.plan == ("a", "b")
        assert (result.expanded, result.generated, result.distinct) == (2, 4, 5)
    assert space.expanded == [0, 1, 0, 1]


def test_the_first_path_to_an_e_state_is_kept() -> None:
    # Both 1 and 2 lead to 3 in one batch, 2 by an action declared earlier: the way through 1 was met first.
    space = GraphSpace({0: [("b", 1), ("c", 2)], 1: [("z", 3)], 2: [("a", 3)], 3: [("a", 9)]}, goals=[9])
    assert run_agent(make_agent("bfs"), space).plan == ("b", "z", "a")


@pytest.mark.parametrize("name", ["hfs", "hfs_star"])
def test_infinite_scores_come_last_and_prove_nothing(name: str) -> None:
    space = GraphSpace(DIAMOND, goals=[])
    result = run_agent(make_agent(name), space, TableHeuristic({1: math.inf, 2: math.inf, 3: math.inf}))
    assert (result.status, result.plan) == (SearchStatus.UNSOLVABLE, None)
    assert (result.expanded, result.generated, result.distinct) == (7, 10, 7)


EQUALS = {0: [("a", 3), ("b", 2), ("c", 1)], 1: [("a", 4)], 2: [("a", 5)], 3: [("a", 6)]}
LONG = {0: [("a", 1), ("b", 2)], 1: [], 2: [("a", 3)], 3: [("a", 4)], 4: [("a", 5)], 5: []}
NEAR = {1: 1.5, 2: 1.0, 3: 1.0, 4: 0.6}


@pytest.mark.parametrize(
    ("agent", "edges", "scores", "order"),
    [
        # The score alone decides.
        ({"name": "hfs"}, DIAMOND, {1: 5, 2: 3, 3: 4, 4: 1}, [0, 2, 4]),
        # 1: 1 + 1.5, 2: 1 + 1; then 3: 2 + 1 and 4: 2 + 0.6 come after 1.
        ({"name": "hfs_star"}, DIAMOND, NEAR, [0, 2, 1, 4]),
        # With weight 3: 1: 1 + 4.5 comes after 4: 2 + 1.8.
        ({"name": "wa_star", "weight": 3.0}, DIAMOND, NEAR, [0, 2, 4]),
        # 1 + 3 * 1.001 is 4 + 3 * 0.001, though 1000 * 1.001 is below 1001 in binary: the lower score comes first.
        ({"name": "wa_star", "weight": 3}, LONG, {1: 1.001, **dict.fromkeys((2, 3, 4, 5), 0.001)}, [0, 2, 3, 4, 5, 1]),
        # 1, 2 and 3 share f = 2; their successors have f = 2 too and a lower h. Then comes what was seen first.
        ({"name": "hfs_star"}, EQUALS, {1: 1, 2: 1, 3: 1, 4: 0, 5: 0, 6: 0}, [0, 3, 6, 2, 5, 1, 4]),
        # Noise below a thousandth of a step does not count.
        ({"name": "hfs"}, {0: [("a", 1), ("b", 2)]}, {1: 2.0002, 2: 2.0001}, [0, 1, 2]),
        ({"name": "hfs"}, {0: [("a", 1), ("b", 2)]}, {1: 2.002, 2: 2.001}, [0, 2, 1]),
    ],
)
def test_the_order_of_expansions(
    agent: dict[str, Any], edges: dict[int, list[tuple[str, int]]], scores: Mapping[int, float], order: list[int]
) -> None:
    space = GraphSpace(edges, goals=[5] if edges is DIAMOND else [])
    run_agent(make_agent(**agent), space, TableHeuristic(scores))
    assert space.expanded == order


@pytest.mark.parametrize(("size", "batches"), [(1, [[0], [1, 2], [3], [4], [5], [6]]), (2, [[0], [1, 2], [3, 4]])])
def test_expansions_are_scored_in_one_batch_of_new_states(size: int, batches: list[list[int]]) -> None:
    heuristic = TableHeuristic({})
    run_agent(
        make_agent("hfs", expansions_per_batch=size), GraphSpace(DIAMOND, goals=[] if size == 1 else [6]), heuristic
    )
    assert heuristic.batches == batches


def test_invalid_configurations_are_refused() -> None:
    with pytest.raises(EpigymError, match="'table' scored e-state 2 as not a number"):
        run_agent(make_agent("hfs"), diamond(), TableHeuristic({2: math.nan}))
    with pytest.raises(UsageError, match="agent 'wa_star' needs the setting weight"):
        make_agent("wa_star")


@pytest.mark.parametrize(
    ("agent", "needs"),
    [("hfs", ""), ("alternation", ""), ("lazy", " that prefers actions"), ("hfs_preferred", " that prefers actions")],
)
def test_informed_agents_ask_for_their_heuristic(agent: str, needs: str) -> None:
    for heuristic in (None, TableHeuristic({}))[: 1 + bool(needs)]:
        with pytest.raises(UsageError, match=f"'{agent}' needs a heuristic{needs}, for example"):
            run_agent(make_agent(agent), diamond(), heuristic)
