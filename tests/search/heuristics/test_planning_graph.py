"""Planning graphs and their heuristics, computed by hand."""

import math

import numpy as np
import pytest

from epigym.language import parse_mastar
from epigym.space.space import StateSpace
from epigym.task.formula import TRUE, Formula, actually, and_, believes, fluent, not_
from epigym.task.task import Action, Effect, EState, Event, Task
from search.agents.result import SearchStatus
from search.heuristics import make_heuristic
from search.heuristics.planning_graph import PlanningGraph
from search.planning.configuration import Configuration
from search.planning.planner import find_plan
from tests.helpers.structures import follow
from tests.helpers.tasks import COIN, coin, counter, delusion, hopeless, trivial

# b is oblivious to the look and knows about nothing that a learns; a third agent may watch.
NESTED = """
fluent tail, watching;
action look;
agent a, b, c;
look determines tail;
a observes look; c aware_of look if watching;
initially C([a,b,c], -watching), tail, -watching;
initially C([a,b,c], -B(a, tail), -B(a, -tail));
goal B(a, tail); goal B(b, tail); goal B(c, B(a, tail)); goal B(a, B(b, tail)); goal E([a,c], tail);
goal C([a,b], tail); goal -B(c, B(a, tail));
"""


def levels(task: Task, *plan: str) -> dict[str, int]:
    """First levels of all nodes, by their text, in the planning graph after `plan`."""
    space, graph = StateSpace(task), PlanningGraph(task)
    model = space.model(follow(space, plan)[-1])
    [found] = graph.levels(np.array([[model.holds(node) for node in graph.nodes]]))
    return {str(node): level for node, level in zip(graph.nodes, found.tolist(), strict=True)}


def scores(name: str, task: Task, plan: tuple[str, ...]) -> list[float]:
    """The scores along a plan, the initial e-state included."""
    space = StateSpace(task)
    return make_heuristic(name, space).score(np.array(follow(space, plan), dtype=np.int32)).tolist()


def test_levels_of_the_coin_by_hand() -> None:
    # lift enters at 0 and marks open at 1; look enters at 1 and marks every belief about the coin at 2, since
    # both agents may notice it.
    assert levels(coin()) == {
        "true": 0,
        "open": 1,
        "-open": 0,
        "tail": 0,
        "-tail": -1,
        "B(a, tail)": 2,
        "(B(a, tail), tail)": 2,
        "B(b, tail)": 2,
        "B(a, B(b, tail))": 2,
    }


def test_scores_along_plans() -> None:
    plan = ("lift", "look", "shout")
    assert scores("l_pg", coin(), plan) == [2, 1, 1, 0]
    assert scores("s_pg", coin(), plan) == [4, 2, 2, 0]
    # The levels of the initial graph sum to 9; open is worth 1, each belief and the conjunction 2.
    assert scores("c_pg", coin(), plan) == pytest.approx([100, 100 * 8 / 9, 100 * 4 / 9, 0])
    plan = ("first", "second", "third", "undo")
    assert scores("l_pg", counter(), plan) == [3, 2, 1, 1, 0]
    assert scores("s_pg", counter(), plan) == [3, 1 + 2, 1 + 1, 1, 0]


def test_a_graph_ends_with_the_goal() -> None:
    # Marking r at level 3 completes the goal; what would come later has no level.
    task = parse_mastar(
        "fluent p, q, r; action one, two, three; agent a;"
        "executable two if p; executable three if q; one causes p; two causes q; three causes r;"
        "a observes one; a observes two; a observes three;"
        "initially C([a], -p), C([a], -q), C([a], -r), -p, -q, -r; goal q;"
    )
    assert levels(task)["q"] == 2
    assert levels(task)["r"] == -1


def test_nobody_learns_through_agents_who_cannot_notice() -> None:
    found = levels(parse_mastar(NESTED))
    assert found["B(a, tail)"] == 1
    assert found["B(b, tail)"] == -1
    assert found["B(c, B(a, tail))"] == 1  # c is partially observant under a condition: it may notice
    assert found["-B(c, B(a, tail))"] == 0
    assert found["B(a, B(b, tail))"] == -1
    assert found["E([a,c], tail)"] == 1
    assert found["C([a,b], tail)"] == -1


def test_effects_wait_for_their_condition() -> None:
    task = parse_mastar(
        "fluent p, q; action both; agent a; both causes p; both causes q if p; a observes both;"
        "initially C([a], -p), C([a], -q), -p, -q; goal q;"
    )
    found = levels(task)
    assert (found["p"], found["q"]) == (1, 2)


def test_disjunctions_need_one_part_and_conjunctions_all() -> None:
    task = parse_mastar(
        "fluent p, q, r, s; action one, two, three; agent a; executable two if p;"
        "one causes p; two causes q; three causes s if -s; a observes one; a observes two; a observes three;"
        "initially C([a], -p), C([a], -q), C([a], -r), C([a], -s), -p, -q, -r, -s;"
        "goal p | r; goal (p, q) | r; goal (p, s), (q | r), r;"
    )
    found = levels(task)
    assert found["(p | r)"] == 1
    assert found["((p, q) | r)"] == 2
    assert found["(p, q)"] == 2
    assert found["r"] == -1


@pytest.mark.parametrize("name", ["l_pg", "s_pg"])
def test_e_states_whose_graph_never_marks_the_goal_come_last(name: str) -> None:
    task = delusion()
    assert scores(name, task, ("flip",)) == [math.inf, math.inf]
    result = find_plan(task, Configuration.of("hfs", name))
    assert (result.status, result.plan) == (SearchStatus.SOLVED, ("flip", "shout"))
    assert result.inconsistent_agents == ("b",)
    assert find_plan(hopeless(), Configuration.of("hfs", name)).status is SearchStatus.UNSOLVABLE


@pytest.mark.parametrize("name", ["goal_count", "split_goal_count", "l_pg", "s_pg"])
def test_goals_score_zero(name: str) -> None:
    assert scores(name, trivial(), ()) == [0]
    space = StateSpace(parse_mastar(COIN))
    ids = np.arange(1, dtype=np.int32)
    while len(ids) < len(space):
        ids = np.arange(len(space), dtype=np.int32)
        space.expand(ids)
    found = make_heuristic(name, space).score(ids)
    assert (found[space.is_goal(ids)] == 0).all()
    assert (found[~space.is_goal(ids)] > 0).all()


@pytest.mark.parametrize("name", ["goal_count", "split_goal_count", "c_pg", "l_pg", "s_pg"])
def test_a_batch_scores_as_its_members_do(name: str) -> None:
    space = StateSpace(coin())
    space.expand([0])
    space.expand([1])
    ids = np.arange(len(space), dtype=np.int32)[::-1]
    heuristic = make_heuristic(name, space)
    assert heuristic.score(ids).tolist() == [heuristic.score(ids[k : k + 1])[0] for k in range(len(ids))]


def test_facts_by_hand() -> None:
    goal = not_(and_(not_(believes("a", and_(fluent("p"), not_(fluent("q"))))), fluent("p")))
    nodes = [str(node) for node in PlanningGraph(task_with(goal)).nodes]
    assert {"(B(a, (p, -q)) | -p)", "(p, -q)"} <= set(nodes)
    goal = not_(actually(and_(fluent("p"), fluent("q"))))
    found = levels(task_with(goal))
    assert (found["-actually((p, q))"], found["(-p | -q)"]) == (1, 1)
    assert found["-p"] == 1


def task_with(goal: Formula) -> Task:
    """A task of one world where p and q hold and one action deletes p."""
    event = Event("e", effects=(Effect("p", False),))
    action = Action("drop", TRUE, (event,), (0,), {"full": (frozenset({0}),)}, (((TRUE, "full"),),))
    world = EState((frozenset({"p", "q"}),), ((frozenset({0}),),), (0,))
    return Task("drop", ("p", "q"), ("a",), (action,), world, (goal,))
