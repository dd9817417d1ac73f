"""Every agent with every heuristic on real tasks; the plans are replayed by the reference."""

from __future__ import annotations

import pytest

from epigym.language import load
from epigym.reference import validate
from epigym.space import StateSpace
from search.agents import AGENTS, make_agent
from search.agents.result import SearchStatus
from search.heuristics import HEURISTICS, make_heuristic
from search.planning.configuration import Configuration
from search.planning.planner import find_plan
from tests.helpers.benchmark_files import mastar_files, table
from tests.helpers.tasks import SOLVABLE, coin, counter, hopeless

UNTRAINED = sorted(HEURISTICS.keys() - {"gnn"})
PAIRS = [
    (agent, heuristic)
    for agent in sorted(AGENTS)
    for heuristic in UNTRAINED
    if heuristic in ("h_add", "h_ff") or not make_agent(**Configuration.of(agent, "h_add").agent).needs_preferences
]


@pytest.mark.parametrize("task", sorted(SOLVABLE))
@pytest.mark.parametrize(("agent", "heuristic"), PAIRS)
def test_every_agent_with_every_heuristic_finds_a_valid_plan(agent: str, heuristic: str, task: str) -> None:
    problem = SOLVABLE[task]()
    result = find_plan(problem, Configuration.of(agent, heuristic))
    assert result.status is SearchStatus.SOLVED
    assert validate(problem, result.plan).valid
    assert result.heuristic == (
        heuristic if make_agent(**Configuration.of(agent, heuristic).agent).is_informed else None
    )
    assert result.generated >= result.expanded
    assert result.distinct <= result.generated + 1


@pytest.mark.parametrize(("agent", "heuristic"), PAIRS)
def test_every_agent_with_every_heuristic_exhausts_a_hopeless_task(agent: str, heuristic: str) -> None:
    result = find_plan(hopeless(), Configuration.of(agent, heuristic))
    assert (result.status, result.plan) == (SearchStatus.UNSOLVABLE, None)
    # lid down; lid up; lid up and a knows: look and lift lead nowhere else.
    assert result.distinct == 3


def test_breadth_first_finds_the_only_shortest_plans() -> None:
    bfs = make_agent("bfs")
    assert bfs.search(StateSpace(coin())).plan == ("lift", "look", "shout")
    assert bfs.search(StateSpace(counter())).plan == ("first", "second", "third", "undo")


def test_open_goals_counts_what_is_missing() -> None:
    space = StateSpace(counter())
    heuristic = make_heuristic("open_goals", space)
    states = [space.initial]
    for action in (0, 1, 2, 3):
        states.append(space.successor(states[-1], action))
    assert heuristic.score(states).tolist() == [1, 2, 2, 1, 0]


EXPECTED = {row["instance"]: row for row in table("expected_mastar")}


@pytest.mark.reference
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("file", mastar_files(), ids=lambda file: file.stem)
def test_breadth_first_counts_what_two_independent_programs_counted(file: object) -> None:
    expected = EXPECTED[file.stem]
    result = make_agent("bfs").search(StateSpace(load(file)))
    found = {
        "status": "exhausted" if result.status is SearchStatus.UNSOLVABLE else str(result.status),
        "plan_length": "" if result.plan is None else str(result.plan_length),
        "expanded": str(result.expanded),
        "generated": str(result.generated),
        "distinct_states": str(result.distinct),
    }
    assert found == {name: expected[name] for name in found}
