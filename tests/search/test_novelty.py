"""Best-first width search: what counts as new, and how that orders a search."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from epigym.formula import believes, fluent, not_
from epigym.language import parse_mastar
from epigym.space import StateSpace
from search.agents import make_agent
from search.agents.novelty import Novelty, Progress, atoms
from search.heuristics import make_heuristic
from tests.helpers.tasks import coin, hopeless

STEPS = 5
SWITCHES = 6


def corridor() -> StateSpace:
    """Steps that follow each other to the goal, and switches that lead nowhere, to be thrown once, in any order."""
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


def test_atoms_are_fluents_beliefs_about_them_and_the_parts_of_the_goal() -> None:
    is_open, tail = fluent("open"), fluent("tail")
    beliefs = {believes(agent, sign) for agent in "ab" for name in (is_open, tail) for sign in (name, not_(name))}
    assert set(atoms(coin())) == {is_open, tail, *beliefs, believes("a", believes("b", tail))}
    assert len(atoms(coin())) == 11


def test_novel_is_what_no_state_of_that_score_made_true_before() -> None:
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
    heuristic = make_heuristic("open_goals", space)
    result = make_agent("bfws").search(space, heuristic)
    assert result.plan == tuple(f"do_p{number}" for number in range(STEPS))
    # The start, all steps but the last, and every switch alone: it is as old as the first step.
    assert result.expanded == STEPS + SWITCHES
    assert make_agent("hfs").search(space, heuristic).expanded > 3 * result.expanded


@pytest.mark.parametrize("relaxed", [False, True])
def test_novelty_is_within_scores_rounded_to_steps_or_within_the_counters(relaxed: bool) -> None:
    space = corridor()
    thrown = [space.successor(space.initial, STEPS + switch) for switch in range(2)]
    both = space.successor(thrown[0], STEPS + 1)
    stepped = space.successor(space.initial, 0)
    order = make_agent("bfws", relaxed=relaxed).order(space)
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
    assert found == [[0], [0], [0], [1], [0], [0 if relaxed else 1]]


def test_the_counters_are_open_parts_and_relaxed_facts_reached_since_the_last_part() -> None:
    """Two goals, each after a step of its own; what was reached stays reached though it is undone."""
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


def test_where_the_relaxation_is_blind_no_relaxed_fact_counts() -> None:
    space = StateSpace(hopeless())
    reached = space.expand([space.initial]).target
    progress = Progress(space)
    assert progress(np.array([space.initial]), np.array([-1])) == [(2, 0)]
    assert set(progress(reached, np.full(len(reached), space.initial))) == {(2, 0)}
