"""Best-first width search: what counts as new, and how that orders a search."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from epigym.formula import believes, fluent, not_
from epigym.language import parse_mastar
from epigym.space import StateSpace
from search.agents import make_agent
from search.agents.novelty import Novelty, atoms
from search.heuristics import make_heuristic
from tests.helpers.tasks import coin

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
        return novelty.classes(np.array(states, dtype=np.int32), np.array(scores)).tolist()

    assert classes([lifted, lifted, looked, lifted], 2, 2, 2, 2) == [0, 1, 0, 1]
    assert classes([space.initial], 2.2) == [0]  # it believes the lid is down, and counts as a 2
    assert classes([space.initial, looked], 1.8, 2) == [1, 1]
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
