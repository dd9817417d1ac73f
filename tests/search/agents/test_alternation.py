"""Alternation of open lists: turns computed by hand, and single lists compared with the agents that they equal."""

import sys
from collections.abc import Mapping, Sequence
from typing import Any, get_args

import numpy as np
import pytest
from numpy.typing import ArrayLike

from epigym import StateSpace, Task, load_problem
from epigym.errors import UsageError
from epigym.features.relaxation import Relaxation, Relaxed
from epigym.language import parse_mastar
from epigym.reference.semantics import validate
from search.agents import alternation, make_agent, run_agent
from search.agents.alternation import OpenListName
from search.agents.limits import Limits
from search.agents.result import SearchResult, SearchStatus
from search.heuristics import make_heuristic
from search.planning.configuration import Configuration
from tests.helpers.graph_space import GraphSpace, TableHeuristic, TablePreferences
from tests.helpers.recorder import Recorder
from tests.helpers.tasks import COUNTER, hopeless

LISTS: tuple[str, ...] = get_args(OpenListName)
CHOICES = [*([name] for name in LISTS), list(LISTS)]
BLIND = ["active_muddy_child/g_amc_05_03_muddy_s1517", "consecutive_numbers/g_cn_3_11_k2"]
PROBLEMS = ["coin_in_the_box/pl_5", "collaboration_communication", "grapevine/3_pl_3", "assembly_line", *BLIND]


def run(agent: str, task: Task, heuristic: str, **settings: Any) -> tuple[list[int], SearchResult]:
    """The e-states that an agent expands, in order, and its result."""
    space = Recorder(task)
    result = run_agent(make_agent(agent, **settings), space, make_heuristic(heuristic, space), Limits(max_expanded=300))
    return space.expanded, result


def assert_alike(one: tuple[list[int], SearchResult], other: tuple[list[int], SearchResult]) -> None:
    """A single list and the agent with its order have equal expansions, counts and plans."""
    assert one[0] == other[0]
    names = ("status", "plan", "expanded", "generated", "distinct")
    assert [getattr(one[1], name) for name in names] == [getattr(other[1], name) for name in names]


@pytest.mark.parametrize("name", PROBLEMS)
def test_a_list_alone_is_the_agent_of_its_order(name: str) -> None:
    """Also `h_add` with an uninformative relaxation: both then count split subgoals."""
    task = load_problem(name)
    for heuristic in ("goal_count", "landmarks", "h_ff"):
        assert_alike(run("alternation", task, heuristic, lists=["value"]), run("hfs", task, heuristic))
        same = run("bfws", task, heuristic, by="parts")
        assert_alike(run("alternation", task, heuristic, lists=["novelty"]), same)
    assert_alike(run("alternation", task, "goal_count", lists=["h_add"]), run("hfs", task, "h_add"))
    for one, other in (("preferred_h_add", "preferred"), ("novelty_h_add", "novelty")) if name not in BLIND else ():
        same = run("alternation", task, "h_add", lists=[other])
        assert_alike(run("alternation", task, "goal_count", lists=[one]), same)


EDGES = {0: [("a", 1), ("b", 2), ("c", 3), ("d", 4)], 4: [("a", 5), ("b", 6)]}
SCORES = {1: 4.0, 2: 3.0, 3: 2.0, 4: 1.0, 5: 9.0, 6: 8.0}
COSTS = {1: 1.0, 2: 2.0, 3: 3.0, 4: 4.0, 5: 0.0, 6: 9.0}
HELPFUL = {0: [1], 4: [0]}  # to 2 and to 5


@pytest.mark.parametrize(
    ("lists", "order"),
    [
        # value: 0; h_add, where 0 is first: 1; preferred: 2; value: 4; h_add: 5; preferred passes; value: 3.
        (["value", "h_add", "preferred"], [0, 1, 2, 4, 5, 3, 6]),
        # preferred passes; value: 0; preferred: 2; value: 4; preferred: 5; value: 3; preferred passes; value: 1.
        (["preferred", "value"], [0, 2, 4, 5, 3, 1, 6]),
        (["h_add", "value"], [0, 4, 5, 3, 1, 2, 6]),
        # preferred_h_add passes; h_add: 0; preferred_h_add: 2; h_add: 1; preferred_h_add passes; h_add: 3, 4; 5 either.
        (["preferred_h_add", "h_add"], [0, 2, 1, 3, 4, 5, 6]),
        (["preferred"], [0, 2, 4, 5, 3, 1, 6]),  # 2; then by value; 5, which is preferred, as soon as it is there
    ],
)
def test_the_lists_have_their_turns(lists: list[str], order: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(alternation, "Relaxation", lambda space: TablePreferences(COSTS, HELPFUL))
    space = GraphSpace(EDGES, [])
    heuristic = TablePreferences(SCORES, {state: [0, 1, 2, 3] for state in range(7)})  # which are not asked for
    result = run_agent(make_agent("alternation", lists=lists), space, heuristic)
    assert (result.status, space.expanded) == (SearchStatus.UNSOLVABLE, order)


def test_the_tree_search_visits_what_it_has_visited_less() -> None:
    """The values below 1 are lowest, but after three visits of 1 and none of 2 comes 2; 3 is last."""
    edges = {0: [("a", 1), ("b", 2), ("c", 3)], 1: [("a", 4)], 4: [("a", 5)], 5: [("a", 6)], 6: [("a", 7)]}
    values = {1: 1.0, 2: 1.2, 3: 2.0, 4: 1.0, 5: 1.0, 6: 1.0, 7: 1.0}
    for lists, order in ((["value"], [0, 1, 4, 5, 6, 7, 2, 3]), (["explore"], [0, 1, 4, 2, 5, 6, 7, 3])):
        space = GraphSpace(edges, [])
        result = run_agent(make_agent("alternation", lists=lists), space, TableHeuristic(values))
        assert (result.status, space.expanded) == (SearchStatus.UNSOLVABLE, order)


def test_the_tree_search_leaves_a_branch_deeper_than_the_stack() -> None:
    """The list by value takes half of the turns, since a descent takes time."""
    space = GraphSpace({state: [("a", state + 1)] for state in range(sys.getrecursionlimit())}, [])
    result = run_agent(make_agent("alternation", lists=["value", "explore"]), space, TableHeuristic({}))
    assert (result.status, result.expanded) == (SearchStatus.UNSOLVABLE, sys.getrecursionlimit() + 1)


@pytest.mark.parametrize("name", ["value", "h_add", "preferred", "explore"])
def test_infinite_scores_come_last_but_come(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    table = {1: np.inf, 2: 1.0, 3: 2.0, 4: 3.0}
    monkeypatch.setattr(alternation, "Relaxation", lambda space: TablePreferences(table, {0: [0, 1, 2, 3]}))
    space = GraphSpace(EDGES, [])
    run_agent(make_agent("alternation", lists=name), space, TableHeuristic(table))
    assert [state for state in space.expanded if state <= 4] == [0, 2, 3, 4, 1]


def trap() -> Task:
    """The counter without its last step: in the relaxation p need not hold at the end, so that it is informative."""
    return parse_mastar(COUNTER.replace(", undo;", ";").replace("undo causes -p;", "").replace("a observes undo;", ""))


@pytest.mark.parametrize("lists", CHOICES, ids=",".join)
@pytest.mark.parametrize("task", [hopeless, trap])
def test_any_choice_of_lists_exhausts_a_task_without_a_plan(task: Any, lists: list[str]) -> None:
    expanded, result = run("alternation", task(), "goal_count", lists=lists)
    found = run("bfs", task(), "goal_count")[1]
    assert (result.status, result.plan) == (SearchStatus.UNSOLVABLE, None)
    assert found.status is SearchStatus.UNSOLVABLE
    assert (result.expanded, result.generated, result.distinct) == (found.expanded, found.generated, found.distinct)
    assert len(expanded) == len(set(expanded))


@pytest.mark.parametrize("lists", CHOICES, ids=",".join)
@pytest.mark.parametrize("name", PROBLEMS)
def test_any_choice_of_lists_finds_a_valid_plan_and_expands_no_e_state_twice(name: str, lists: list[str]) -> None:
    task = load_problem(name)
    expanded, result = run("alternation", task, "split_goal_count", lists=lists)
    assert validate(task, result.plan).valid
    assert len(expanded) == len(set(expanded)) == result.expanded


FAN = {0: [(name, state) for state, name in enumerate("abcdefgh", 1)]}
RISING = {state: float(-state) for state in range(1, 9)}


@pytest.mark.parametrize(
    ("seed", "scores", "order"),
    [
        (0, {}, [0, 1, 2, 3, 4, 5, 6, 7, 8]),
        (1, {}, [0, 4, 8, 7, 3, 1, 2, 5, 6]),
        (2, {}, [0, 8, 5, 7, 3, 1, 4, 2, 6]),
        (0, RISING, [0, 8, 7, 6, 5, 4, 3, 2, 1]),
        (1, RISING, [0, 8, 7, 6, 5, 4, 3, 2, 1]),
        (1, dict.fromkeys([5, 6, 7, 8], 1.0), [0, 4, 3, 1, 2, 8, 7, 5, 6]),
    ],
)
def test_a_seed_decides_between_equals_only(seed: int, scores: Mapping[int, float], order: list[int]) -> None:
    space = GraphSpace(FAN, [])
    run_agent(make_agent("alternation", lists=["value"], seed=seed), space, TableHeuristic(scores))
    assert space.expanded == order


def test_each_e_state_is_scored_once_and_relaxed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []

    class Counting(Relaxation):
        def __call__(self, ids: ArrayLike) -> Relaxed:
            asked.extend(np.asarray(ids).tolist())
            return super().__call__(ids)

    monkeypatch.setattr(alternation, "Relaxation", Counting)
    space, heuristic = StateSpace(load_problem("coin_in_the_box/pl_5")), TableHeuristic({})
    result = run_agent(make_agent("alternation"), space, heuristic)
    assert sorted(state for batch in heuristic.batches for state in batch) == sorted(asked[1:])
    assert asked[:2] == [space.initial, space.initial]  # whether it is uninformative for that
    assert len(set(asked)) == len(asked) - 1 > result.expanded
    run_agent(make_agent("alternation", lists=["h_add"]), space, unasked := TableHeuristic({}))
    assert unasked.batches == []
    asked.clear()
    run_agent(make_agent("alternation", lists=["value", "novelty"]), space, heuristic)
    assert asked == []


@pytest.mark.parametrize("name", BLIND)
def test_lists_of_an_uninformative_relaxation_are_omitted(name: str) -> None:
    task = load_problem(name)
    assert make_agent("alternation").lists == LISTS  # type: ignore[attr-defined]
    assert_alike(
        run("alternation", task, "c_pg"), run("alternation", task, "c_pg", lists=["value", "novelty", "explore"])
    )
    for lists in (["h_add"], ["preferred"], ["preferred", "h_add"]):
        assert_alike(run("alternation", task, "c_pg", lists=lists), run("hfs", task, "split_goal_count"))


@pytest.mark.parametrize(
    ("lists", "message"),
    [
        ([], "lists is empty: name one of value, h_add"),
        (["value", "novelty", "value"], "lists names 'value' twice"),
        (["noveltyy"], "'noveltyy': did you mean 'novelty' or 'novelty_h_add'"),
        (["h_ff"], "'h_ff': expected one of 'explore', 'h_add'"),
    ],
)
def test_invalid_lists_are_refused(lists: Sequence[str], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        Configuration.of({"name": "alternation", "lists": lists}, "goal_count")
