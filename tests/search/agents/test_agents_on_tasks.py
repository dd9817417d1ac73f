"""Every agent with every heuristic on real tasks; the plans are replayed by the reference."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from epigym.cli.codes import ExitCode
from epigym.errors import CollapseError
from epigym.language import load, parse_mastar
from epigym.problem import load_problem
from epigym.reference.semantics import validate
from epigym.space.space import StateSpace
from search.agents import AGENTS, make_agent
from search.agents.limits import Limits
from search.agents.result import SearchStatus
from search.heuristics import HEURISTICS, make_heuristic
from search.heuristics.heuristic import Evaluation, Heuristic
from search.planning.configuration import Configuration
from search.planning.planner import find_plan
from tests.helpers.benchmark_files import mastar_files, table
from tests.helpers.tasks import SOLVABLE, coin, counter, deluded, hopeless

UNTRAINED = sorted(HEURISTICS.keys() - {"gnn"})
PREFERRING = ("h_add", "h_ff", "landmarks")
PAIRS = [
    (agent, heuristic)
    for agent in sorted(AGENTS)
    for heuristic in UNTRAINED
    if heuristic in PREFERRING or not make_agent(**Configuration.of(agent, "h_add").agent).needs_preferences
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


SWITCHES = [f"s{number}" for number in range(40)]
LOCKED = f"""
fluent key, open, {", ".join(SWITCHES)};
action unlock, {", ".join(f"on_{name}, off_{name}" for name in SWITCHES)};
agent a;
executable unlock if key;
unlock causes open;
{" ".join(f"on_{name} causes {name}; off_{name} causes -{name};" for name in SWITCHES)}
a observes unlock;
initially {", ".join(f"C([a], -{name}), -{name}" for name in ["key", "open", *SWITCHES])};
goal open;
goal B(a, open);
"""


@pytest.mark.parametrize(("agent", "heuristic"), PAIRS)
def test_no_agent_searches_where_the_goal_is_out_of_reach_for_certain(agent: str, heuristic: str) -> None:
    task = parse_mastar(LOCKED)  # 2 ** 40 e-states and more
    result = find_plan(task, Configuration.of(agent, heuristic), reexecute=False)
    assert (result.status, result.expanded, result.distinct) == (SearchStatus.UNSOLVABLE, 0, 1)


@pytest.mark.parametrize(("agent", "heuristic"), PAIRS)
def test_every_agent_finds_the_only_plan_and_without_collapse_proves_that_there_is_none(
    agent: str, heuristic: str
) -> None:
    free = find_plan(deluded(), Configuration.of(agent, heuristic))
    assert (free.plan, free.collapsed_agents) == (("flip", "shout"), ("b",))
    assert (free.consistent_beliefs, free.verdict) == (False, "solved")
    result = find_plan(deluded(), Configuration.of(agent, heuristic), consistent_beliefs=True)
    assert (result.status, result.plan, result.consistent_beliefs) == (SearchStatus.UNSOLVABLE, None, True)
    assert result.verdict == "unsolvable (without collapse)"
    assert result.distinct == 2  # before and after the flip


@pytest.mark.parametrize("agent", ["bfs", "interleaved"])
def test_a_collapsed_start_is_refused_by_the_one_question_only(agent: str) -> None:
    initial = deluded().initial
    successors = (initial.successors[0], (frozenset(),) * len(initial.valuations))
    task = replace(deluded(), initial=replace(initial, successors=successors))
    assert find_plan(task, Configuration.of(agent)).status is SearchStatus.SOLVED
    with pytest.raises(CollapseError, match="'b' believes everything in the initial e-state") as caught:
        find_plan(task, Configuration.of(agent), consistent_beliefs=True)
    assert ExitCode.after(caught.value) is ExitCode.BAD_INPUT


def test_breadth_first_finds_the_only_shortest_plans() -> None:
    bfs = make_agent("bfs")
    assert bfs.search(StateSpace(coin())).plan == ("lift", "look", "shout")
    assert bfs.search(StateSpace(counter())).plan == ("first", "second", "third", "undo")


class Recorder(Heuristic):
    """Scores everything alike, prefers every action and remembers how e-states were reached."""

    prefers = True

    def __init__(self, n_actions: int) -> None:
        self.n_actions = n_actions
        self.ways: list[tuple[int, int, int]] = []

    def score(self, ids: NDArray[np.int32]) -> NDArray[np.float64]:
        return np.zeros(len(ids))

    def evaluate(self, ids: NDArray[np.int32], parents: NDArray[np.int64], actions: NDArray[np.int64]) -> Evaluation:
        self.ways += zip(ids.tolist(), parents.tolist(), actions.tolist(), strict=True)
        ptr = np.arange(len(ids) + 1) * self.n_actions
        return Evaluation(self.score(ids), ptr, np.tile(np.arange(self.n_actions, dtype=np.int32), len(ids)))


INFORMED = [name for name in sorted(AGENTS) if make_agent(**Configuration.of(name, "h_add").agent).is_informed]


@pytest.mark.parametrize("agent", INFORMED)
def test_heuristics_are_told_how_each_e_state_was_reached(agent: str) -> None:
    task = load_problem("coin_in_the_box/pl_3")
    space, heuristic = StateSpace(task), Recorder(len(task.actions))
    made = make_agent(**Configuration.of(agent, "h_add").agent)
    result = made.search(space, heuristic, Limits(max_expanded=30))
    assert len(heuristic.ways) >= result.expanded
    assert heuristic.ways[0] == (space.initial, -1, -1)
    evaluated = {space.initial}
    for state, parent, action in heuristic.ways[1:]:
        assert parent in evaluated
        assert space.successor(parent, action) == state
        evaluated.add(state)
    assert len(evaluated) == len(heuristic.ways)  # each once


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
