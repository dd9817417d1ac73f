"""Anytime search on explicit graphs, with counts computed by hand."""

import math
from collections.abc import Iterator, Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from search.agents.anytime import ShorterPlans
from search.agents.limits import Limits
from search.agents.result import SearchStatus
from search.planning.action_elimination import eliminate_actions
from tests.helpers.graph_space import GRAPHS, Edges, GraphSpace, TableHeuristic, reaches, shortest

# Two ways lead to 3: one through 1 and 2, which score low, and a shorter one through 4. The goal 6 lies two steps on.
DETOUR = {0: [("a", 1), ("b", 4)], 1: [("a", 2)], 2: [("a", 3)], 4: [("a", 3)], 3: [("a", 5)], 5: [("a", 6)]}
FAR = {4: 100.0}


def search(
    edges: Edges, goals: list[int], scores: Mapping[int, float], limits: Limits | None = None
) -> tuple[GraphSpace, TableHeuristic, ShorterPlans]:
    space, heuristic = GraphSpace(edges, goals), TableHeuristic(scores)
    return space, heuristic, ShorterPlans(space, heuristic, (limits or Limits()).start())


def plans(found: ShorterPlans, length: int, weight: float = 2.0) -> Iterator[tuple[str, ...]]:
    """All plans of a search, in order."""
    while (status := found.next(weight, length)) is SearchStatus.SOLVED:
        plan = found.run.plan()
        assert len(plan) < length
        length = len(plan)
        yield plan
    assert status is SearchStatus.UNSOLVABLE


def test_a_shorter_path_reopens_e_states() -> None:
    space, _, found = search(DETOUR, [6], FAR)
    assert found.next(5.0, 7) is SearchStatus.SOLVED
    assert found.run.plan() == ("a", "a", "a", "a", "a")
    assert space.expanded == [0, 1, 2, 3, 5]
    # Without opening 3 and 5 again nothing would be left, and 5 actions would seem to be the fewest.
    assert found.next(3.0, 5) is SearchStatus.SOLVED
    assert found.run.plan() == ("b", "a", "a", "a")
    assert space.expanded == [0, 1, 2, 3, 5, 4, 3, 5]
    assert found.next(2.0, 4) is SearchStatus.UNSOLVABLE
    assert (found.run.expanded, found.run.generated, found.run.distinct) == (8, 9, 7)


def test_e_states_reached_on_a_longer_path_too_are_expanded_once() -> None:
    # 4 is met through 1 and 3, then through 2, before either entry has its turn.
    edges = {0: [("a", 1), ("b", 2)], 1: [("a", 3)], 2: [("a", 4)], 3: [("a", 4)], 4: [("a", 5)]}
    space, _, found = search(edges, [], {2: 1.0, 4: 9.0})
    assert found.next(1.0, 20) is SearchStatus.UNSOLVABLE
    assert space.expanded == [0, 1, 3, 2, 4, 5]


def test_e_states_too_deep_for_a_shorter_plan_are_neither_scored_nor_expanded() -> None:
    space, heuristic, found = search({state: [("a", state + 1)] for state in range(9)}, [9], {})
    assert found.next(1.0, 4) is SearchStatus.UNSOLVABLE
    # A goal behind 2 would be reached by 3 actions; 3 is met, but its successors would be too late.
    assert space.expanded == [0, 1, 2]
    assert heuristic.batches == [[0], [1], [2]]
    assert list(plans(search(DETOUR, [6], FAR)[-1], 4)) == []


@pytest.mark.parametrize("length", [0, 1])
def test_nothing_is_shorter_than_one_action(length: int) -> None:
    space, _, found = search(DETOUR, [0], {})
    assert found.next(1.0, length) is SearchStatus.UNSOLVABLE
    assert space.expanded == []


def test_a_new_weight_reorders_the_frontier() -> None:
    # When the goal 9 is found by six actions, 1 (g 1, h 3) and 4 (g 3, h 1) are left.
    edges = {0: [("a", 1), ("b", 2)], 2: [("a", 3)], 3: [("a", 4), ("b", 5)], 5: [("a", 6)], 6: [("a", 7)]}
    for weight, left in ((5.0, [4, 1]), (0.5, [1, 4])):
        space, _, found = search({**edges, 7: [("a", 9)]}, [9], {1: 3.0, 4: 1.0})
        assert found.next(5.0, 20) is SearchStatus.SOLVED
        assert found.next(weight, 6) is SearchStatus.UNSOLVABLE
        assert space.expanded == [0, 2, 3, 5, 6, 7, *left]


def test_infinite_scores_come_last_but_come() -> None:
    space, _, found = search(DETOUR, [6], dict.fromkeys((1, 2, 3, 4, 5), math.inf))
    assert [len(plan) for plan in plans(found, 9)][-1] == 4
    space, _, found = search(DETOUR, [6], {1: math.inf, 4: 1000.0})
    assert next(plans(found, 9)) == ("b", "a", "a", "a")
    assert 1 not in space.expanded


@given(
    GRAPHS,
    st.lists(st.integers(1, 29), min_size=1, max_size=2),
    st.lists(st.sampled_from([0.0, 0.5, 3.0, 20.0, math.inf]), min_size=30, max_size=30),
)
def test_the_last_plan_is_a_shortest_one(edges: Edges, goals: list[int], scores: list[float]) -> None:
    best = shortest(edges, goals)
    space, heuristic, found = search(edges, goals, dict(enumerate(scores)))
    lengths = []
    for plan in plans(found, 40):
        assert reaches(edges, goals, plan)
        lengths.append(len(plan))
    assert lengths[-1:] == ([] if best is None else [best])
    # Every e-state was scored once, the one it was reached from before it.
    scored = [state for batch in heuristic.batches for state in batch]
    assert len(scored) == len(set(scored))
    assert set(space.expanded) <= set(scored)


@pytest.mark.parametrize(
    ("limits", "status"),
    [
        (Limits(max_expanded=2), SearchStatus.EXPANSION_LIMIT),
        (Limits(time_limit=0), SearchStatus.TIME_LIMIT),
        (Limits(memory_limit=1), SearchStatus.MEMORY_LIMIT),
    ],
)
def test_limits_are_never_taken_for_a_proof(limits: Limits, status: SearchStatus) -> None:
    _, _, found = search(DETOUR, [6], FAR, limits)
    assert found.next(1.0, 9) is status
    assert found.run.expanded == (limits.max_expanded or 0)


# Action n changes nothing; c opens a side way in which d, and then e, can be executed; f is a detour of two.
ROOMS = {
    0: [("n", 0), ("a", 1), ("c", 3)],
    3: [("d", 4), ("a", 1)],
    4: [("e", 0), ("a", 1)],
    1: [("n", 1), ("b", 2), ("f", 5)],
    5: [("f", 1)],
    2: [("n", 2)],
}


@pytest.mark.parametrize(
    ("plan", "kept"),
    [
        ("ab", "ab"),
        ("nab", "ab"),
        ("nannbnn", "ab"),
        ("cdeab", "ab"),  # without c neither d nor e can be executed
        ("cab", "ab"),
        ("cdanb", "ab"),
        ("anffb", "affb"),  # each f is needed as long as the other one is there
    ],
)
def test_redundant_actions_are_left_out(plan: str, kept: str) -> None:
    space = GraphSpace(ROOMS, [2])
    assert "".join(eliminate_actions(space, tuple(plan), lambda: True)) == kept


def test_needed_actions_stay() -> None:
    space = GraphSpace(DETOUR, [6])
    for plan in (("a",) * 5, ("b", "a", "a", "a")):
        assert eliminate_actions(space, plan, lambda: True) == plan
    assert eliminate_actions(GraphSpace(ROOMS, [0]), ("n", "n"), lambda: True) == ()
    assert eliminate_actions(GraphSpace(ROOMS, [2]), ("n", "a", "b"), lambda: False) == ("n", "a", "b")
