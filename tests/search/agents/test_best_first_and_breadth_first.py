"""Uninformed and best-first search on explicit graphs, with counts computed by hand."""

import math
from collections.abc import Mapping
from typing import Any

import pytest

from epigym.errors import EpigymError, UsageError
from search.agents import make_agent, run_agent
from search.agents.limits import Budget, Limits
from search.agents.result import SearchStatus
from tests.helpers.graph_space import DIAMOND, GraphSpace, TableHeuristic, TablePreferences


def diamond() -> GraphSpace:
    return GraphSpace(DIAMOND, goals=[5])


def test_breadth_first_counts_by_hand() -> None:
    # Expanded 0, 1, 2, 3 (cut). Generated: 2 + 2 + 2 + 1. Seen: 0 to 5.
    result = run_agent(make_agent("bfs"), diamond())
    assert (result.status, result.plan) == (SearchStatus.SOLVED, ("a", "a", "a"))
    assert (result.expanded, result.generated, result.distinct) == (4, 7, 6)
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
def test_expansions(
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


@pytest.mark.parametrize("turn", [1, 2, 100])
def test_batches_do_not_depend_on_the_speed_of_the_machine(turn: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Budget, "batch_size", lambda budget, expanded: min(turn, budget.expansions_left(expanded)))
    for most, expanded in ((None, [0, 1, 2, 3, 4, 5, 6]), (2, [0, 1])):
        space, heuristic = GraphSpace(DIAMOND, goals=[]), TableHeuristic({})
        run_agent(make_agent("hfs", expansions_per_batch=2), space, heuristic, Limits(max_expanded=most))
        assert space.expanded == expanded
        assert heuristic.batches == [[0], [1, 2], [3, 4], [5, 6]][: None if most is None else 2]


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


# The long way round to 4 comes first: 0 1 2 3 4; the short way is 0 4. The goal 6 lies two steps behind 4.
DETOUR = {0: [("a", 1), ("b", 4)], 1: [("a", 2)], 2: [("a", 3)], 3: [("a", 4)], 4: [("a", 5)], 5: [("a", 6)]}


def test_depth_first_by_hand() -> None:
    space = GraphSpace(DIAMOND, goals=[6])
    result = run_agent(make_agent("dfs"), space)
    # 0 then 1, 3 and 5, a dead end; then back to 2, 4.
    assert space.expanded == [0, 1, 3, 5, 2, 4]
    assert result.plan == ("b", "b", "b")
    assert (result.expanded, result.generated, result.distinct) == (6, 10, 7)
    space = GraphSpace(DETOUR, goals=[])
    run_agent(make_agent("dfs"), space)
    assert sorted(space.expanded) == list(range(7))


def test_iterative_deepening_by_hand() -> None:
    space = GraphSpace(DETOUR, goals=[6])
    result = run_agent(make_agent("idfs"), space)
    assert result.plan == ("b", "a", "a")
    # Limit 1 expands 0; limit 2: 0 1 4; limit 3: 0 1 2 4 5.
    assert space.expanded == [0, 0, 1, 4, 0, 1, 2, 4, 5]
    assert (result.expanded, result.generated) == (9, 2 + 4 + 6)
    assert result.distinct == 7
    # With limit 3 the long way through 1 and 2 meets 3 first, where it is cut; the short way leads through 4.
    edges = {0: [("a", 1), ("b", 4)], 1: [("a", 2)], 2: [("a", 3)], 4: [("a", 3)], 3: [("a", 5)]}
    assert run_agent(make_agent("idfs"), GraphSpace(edges, goals=[5])).plan == ("b", "a", "a")


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
def test_lazy_generates_late(settings: Mapping[str, Any], liked: Mapping[int, list[int]], built: list[int]) -> None:
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
