"""Best-first width search: novelty, and the order of expansions."""

from itertools import pairwise

import numpy as np
import pytest

from epigym import StateSpace, load_problem
from epigym.language import parse_mastar
from epigym.task.formula import believes, fluent, not_
from search.agents import make_agent, run_agent
from search.agents.novelty import Novelty, Progress, atoms
from search.heuristics import make_heuristic
from tests.helpers.graph_space import TableHeuristic
from tests.helpers.recorder import Recorder
from tests.helpers.tasks import coin, hopeless

STEPS = 5
SWITCHES = 6


def corridor() -> StateSpace:
    """A sequence of steps to the goal, and useless switches that can be thrown once, in any order."""
    steps = [f"p{number}" for number in range(STEPS)]
    names = [*steps, *(f"x{number}" for number in range(SWITCHES))]
    lines = [
        f"fluent {', '.join(names)};",
        f"action {', '.join(f'do_{name}' for name in names)};",
        "agent a;",
        *(f"executable do_{after} if {before};" for before, after in pairwise(steps)),
        *(f"do_{name} causes {name}; a observes do_{name};" for name in names),
        *(f"initially C([a], -{name}), -{name};" for name in names),
        f"goal {steps[-1]};",
    ]
    return StateSpace(parse_mastar("\n".join(lines)))


def test_atoms_are_fluents_belief_literals_and_parts_of_the_goal() -> None:
    is_open, tail = fluent("open"), fluent("tail")
    beliefs = {believes(agent, sign) for agent in "ab" for name in (is_open, tail) for sign in (name, not_(name))}
    assert set(atoms(coin())) == {is_open, tail, *beliefs, believes("a", believes("b", tail))}


def test_novelty_counts_among_e_states_of_equal_scores() -> None:
    space = StateSpace(coin())
    lifted = space.successor(space.initial, 0)
    looked = space.successor(lifted, 1)  # as lifted, and a believes the coin shows tail
    novelty = Novelty(space)

    def classes(states: list[int], *scores: float) -> list[float]:
        return novelty(np.array(states, dtype=np.int32), scores).tolist()

    assert classes([lifted, lifted, looked, lifted], 2, 2, 2, 2) == [0, 1, 0, 1]
    assert classes([space.initial, space.initial], 2, 2) == [0, 1]  # a believes the lid is down
    assert classes([looked, lifted], 1, 1) == [0, 1]  # other scores are compared on their own
    assert classes([looked], np.inf) == [0]


def test_width_search_leaves_combinations_of_known_facts_for_later() -> None:
    space = corridor()
    heuristic = make_heuristic("goal_count", space)
    result = run_agent(make_agent("bfws"), space, heuristic)
    assert result.plan == tuple(f"do_p{number}" for number in range(STEPS))
    # The start, all steps but the last, and every switch alone: it is as old as the first step.
    assert result.expanded == STEPS + SWITCHES
    assert run_agent(make_agent("hfs"), space, heuristic).expanded > 3 * result.expanded


@pytest.mark.parametrize("by", ["score", "progress"])
def test_novelty_is_within_scores_rounded_to_steps_or_within_the_counters(by: str) -> None:
    space = corridor()
    thrown = [space.successor(space.initial, STEPS + switch) for switch in range(2)]
    both = space.successor(thrown[0], STEPS + 1)
    stepped = space.successor(space.initial, 0)
    order = make_agent("bfws", by=by)._make_priority(space)
    found = [
        order(np.array([state]), np.array([parent]), np.zeros(1), np.array([score])).tolist()
        for state, parent, score in [
            (space.initial, -1, 2000.0),
            (thrown[0], space.initial, 2400.0),  # x0 is new
            (thrown[1], space.initial, 1600.0),  # x1 is new
            (both, thrown[0], 2000.0),  # nothing is
            (stepped, space.initial, 2000.0),  # p0 is new; and #r is 1
            (space.successor(stepped, STEPS), stepped, 2000.0),  # x0 is new where #r is 1
        ]
    ]
    assert found == [[0], [0], [0], [1], [0], [0 if by == "progress" else 1]]


TWO_GOALS = """
    fluent p, q, x, y; agent a; action do_p, do_q, do_x, do_y;
    do_p causes p; do_q causes q; do_x causes x; do_y causes y;
    a observes do_p; a observes do_q; a observes do_x; a observes do_y;
    initially C([a], -p), C([a], -q), C([a], -x), C([a], -y), -p, -q, -x, -y;
    goal p; goal q;
"""


def test_by_parts_the_score_breaks_ties() -> None:
    space = StateSpace(parse_mastar(TWO_GOALS))
    p, _, x, y = space.expand([space.initial]).target.tolist()
    px, py, xy = space.successor(p, 2), space.successor(p, 3), space.successor(x, 3)
    order = make_agent("bfws", by="parts")._make_priority(space)

    def rank(state: int, score: float) -> float:
        return float(order(np.array([state]), np.array([-1]), np.zeros(1), np.array([score]))[0])

    new = [rank(space.initial, 5000.0), rank(x, 1000.0), rank(y, 5000.0), rank(p, 5000.0), rank(px, 3000.0)]
    assert new == [2, 2, 2, 1, 1]  # x is new again where one part is open
    assert rank(xy, 0.0) == rank(x, 9000.0) > rank(p, 5000.0) > max(new)  # shown before
    assert rank(py, 7000.0) == 1
    space = Recorder(parse_mastar(TWO_GOALS + "goal -q;"))  # for which there is no plan
    run_agent(make_agent("bfws", by="parts"), space, TableHeuristic({1: 9.0, 3: 2.0, 4: 1.0}))
    assert [state for state in space.expanded if state in (1, 3, 4)] == [1, 4, 3]  # after do_p, do_y and do_x


@pytest.mark.parametrize("name", ["coin_in_the_box/pl_5", "epistemic_gossip", "active_muddy_child"])
def test_by_parts_equals_by_score_with_split_goal_count(name: str) -> None:
    task = load_problem(name)
    found = []
    for by in ("score", "parts"):
        space = StateSpace(task)
        found.append(run_agent(make_agent("bfws", by=by), space, make_heuristic("split_goal_count", space)))
    by_score, by_parts = ((result.plan, result.expanded, result.distinct) for result in found)
    assert by_score == by_parts


def test_the_counters_are_open_parts_and_relaxed_facts_reached_since_the_last_part() -> None:
    """Two subgoals with one step each; a reached fact still counts after it is undone."""
    text = """
        fluent p, q, r, s; agent a; action do_p, do_q, do_r, do_s, undo_p;
        executable do_q if p; executable do_s if r; executable undo_p if p;
        do_p causes p; do_q causes q; do_r causes r; do_s causes s; undo_p causes -p;
        a observes do_p; a observes do_q; a observes do_r; a observes do_s; a observes undo_p;
        initially C([a], -p), C([a], -q), C([a], -r), C([a], -s), -p, -q, -r, -s;
        goal q; goal s;
    """
    space = StateSpace(parse_mastar(text))
    progress = Progress(space)
    states, found = [space.initial], progress(np.array([space.initial]), np.array([-1]))
    for action in ("do_p", "undo_p", "do_r", "do_s", "do_p"):
        states.append(space.successor(states[-1], [each.name for each in space.task.actions].index(action)))
        found += progress(np.array(states[-1:]), np.array(states[-2:-1]))
    # Of p, q, r and s: p; still p; p and r; s is a part of the goal, and p and q count anew; p.
    assert found == [(2, 0), (2, 1), (2, 1), (2, 2), (1, 0), (1, 1)]


def test_an_uninformative_relaxation_has_no_relaxed_facts() -> None:
    space = StateSpace(hopeless())
    reached = space.expand([space.initial]).target
    progress = Progress(space)
    assert progress(np.array([space.initial]), np.array([-1])) == [(2, 0)]
    assert set(progress(reached, np.full(len(reached), space.initial))) == {(2, 0)}
