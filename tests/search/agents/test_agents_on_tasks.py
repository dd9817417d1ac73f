"""Every agent with every heuristic, on tasks and on graphs; the reference replays the plans."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from epigym import StateSpace, load_problem
from epigym.cli.codes import ExitCode
from epigym.errors import InconsistentBeliefsError
from epigym.language import load, parse_mastar
from epigym.reference.semantics import validate
from search.agents import AGENTS, Agent, make_agent, run_agent
from search.agents.limits import Limits
from search.agents.result import SearchStatus
from search.heuristics import HEURISTICS, make_heuristic
from search.heuristics.heuristic import Estimates, Heuristic
from search.planning.configuration import Configuration
from search.planning.options import SearchOptions
from search.planning.planner import find_plan
from tests.helpers.benchmark_files import mastar_files, table
from tests.helpers.graph_space import GRAPHS, Edges, GraphSpace, TableHeuristic, reaches, shortest
from tests.helpers.marks import slow_but
from tests.helpers.tasks import SOLVABLE, coin, counter, delusion, hopeless

MADE = {name: Configuration.of(name, "h_add").make_agent() for name in sorted(AGENTS)}
INFORMED = [name for name, agent in MADE.items() if agent.is_informed]
UNTRAINED = sorted(HEURISTICS)
PREFERRING = ("h_add", "h_ff", "landmarks")
PAIRS = [
    (name, heuristic)
    for name, agent in MADE.items()
    for heuristic in (UNTRAINED if agent.is_informed else ["goal_count"])
    if heuristic in PREFERRING or not agent.needs_preferences
]
every_pair = pytest.mark.parametrize(("agent", "heuristic"), PAIRS)


@pytest.mark.parametrize("task", sorted(SOLVABLE))
@every_pair
def test_every_agent_with_every_heuristic_finds_a_valid_plan(agent: str, heuristic: str, task: str) -> None:
    problem = SOLVABLE[task]()
    result = find_plan(problem, Configuration.of(agent, heuristic))
    assert result.status is SearchStatus.SOLVED
    assert validate(problem, result.plan).valid
    assert result.heuristic == (heuristic if agent in INFORMED else None)
    assert result.generated >= result.expanded
    assert result.distinct <= result.generated + 1


@every_pair
def test_every_agent_with_every_heuristic_exhausts_a_hopeless_task(agent: str, heuristic: str) -> None:
    result = find_plan(hopeless(), Configuration.of(agent, heuristic), SearchOptions(verify="whole"))
    assert (result.status, result.plan) == (SearchStatus.UNSOLVABLE, None)
    # lid down; lid up; lid up and a knows: look and lift lead nowhere else.
    assert result.distinct == 3
    assert result.proof == "confirmed: all 3 e-states"


@pytest.mark.parametrize("agent", sorted(AGENTS))
@pytest.mark.parametrize("most", [0, 1, 3])
def test_the_expansion_limit_is_exact(agent: str, most: int) -> None:
    space = StateSpace(load_problem("coin_in_the_box/pl_5"))
    heuristic = make_heuristic("h_add", space)
    result = run_agent(MADE[agent], space, heuristic, Limits(max_expanded=most))
    assert (result.status, result.plan, result.expanded) == (SearchStatus.EXPANSION_LIMIT, None, most)


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


@pytest.mark.parametrize("agent", sorted(AGENTS))
def test_no_agent_searches_where_the_goal_is_out_of_reach_for_certain(agent: str) -> None:
    task = parse_mastar(LOCKED)  # 2 ** 40 e-states and more
    result = find_plan(task, Configuration.of(agent, "h_add"), SearchOptions(verify="none"))
    assert (result.status, result.expanded, result.distinct) == (SearchStatus.UNSOLVABLE, 0, 1)


@every_pair
def test_every_agent_finds_the_only_plan_and_keeps_beliefs_consistent(agent: str, heuristic: str) -> None:
    free = find_plan(delusion(), Configuration.of(agent, heuristic))
    assert (free.plan, free.inconsistent_agents) == (("flip", "shout"), ("b",))
    assert (free.consistent_beliefs, free.verdict) == (False, "solved")
    result = find_plan(delusion(), Configuration.of(agent, heuristic), SearchOptions(consistent_beliefs=True))
    assert (result.status, result.plan, result.consistent_beliefs) == (SearchStatus.UNSOLVABLE, None, True)
    assert result.verdict == "unsolvable (with consistent beliefs)"
    assert result.distinct == 2  # before and after the flip


def test_a_start_with_inconsistent_beliefs_is_refused_by_the_one_question_only(tmp_path: Path) -> None:
    """A refused search leaves the plan of an earlier one."""
    initial = delusion().initial
    successors = (initial.successors[0], (frozenset(),) * len(initial.valuations))
    task, file = replace(delusion(), initial=replace(initial, successors=successors)), tmp_path / "plan.json"
    assert find_plan(task, Configuration.of("bfs")).status is SearchStatus.SOLVED
    file.write_text('["old"]')
    with pytest.raises(InconsistentBeliefsError, match="'b' believes everything in the initial e-state") as caught:
        find_plan(task, Configuration.of("bfs"), SearchOptions(consistent_beliefs=True), file)
    assert ExitCode.after(caught.value) is ExitCode.BAD_INPUT
    assert file.read_text() == '["old"]'


@pytest.mark.parametrize("agent", ["bfs", "idfs"])
def test_uninformed_search_level_by_level_finds_the_only_shortest_plans(agent: str) -> None:
    assert run_agent(MADE[agent], coin()).plan == ("lift", "look", "shout")
    assert run_agent(MADE[agent], counter()).plan == ("first", "second", "third", "undo")


@given(GRAPHS, st.lists(st.integers(0, 29), max_size=2), st.integers(1, 4))
def test_plans_are_real_and_those_of_level_by_level_shortest(edges: Edges, goals: list[int], per_batch: int) -> None:
    best = shortest(edges, goals)
    scores = dict(enumerate(np.random.default_rng(0).uniform(0, 5, 30).tolist()))
    agents: list[Agent] = [MADE[name] for name in ("bfs", "dfs", "idfs", "hfs_star")]
    for agent in (*agents, make_agent("hfs", expansions_per_batch=per_batch)):
        result = run_agent(agent, GraphSpace(edges, goals), TableHeuristic(scores))
        assert (result.status is SearchStatus.UNSOLVABLE) == (best is None) == (result.plan is None)
        if result.plan is not None and best is not None:
            assert len(result.plan) >= best
            assert len(result.plan) == best or agent.name not in ("bfs", "idfs")
            assert reaches(edges, goals, result.plan)


class Recorder(Heuristic):
    """A constant score that prefers every action and records parent pointers."""

    prefers = True

    def __init__(self, n_actions: int) -> None:
        self.n_actions = n_actions
        self.parent_pointers: list[tuple[int, int, int]] = []

    def score(self, ids: NDArray[np.int32]) -> NDArray[np.float64]:
        return np.zeros(len(ids))

    def evaluate(self, ids: NDArray[np.int32], parents: NDArray[np.int64], actions: NDArray[np.int64]) -> Estimates:
        self.parent_pointers += zip(ids.tolist(), parents.tolist(), actions.tolist(), strict=True)
        ptr = np.arange(len(ids) + 1) * self.n_actions
        return Estimates(self.score(ids), ptr, np.tile(np.arange(self.n_actions, dtype=np.int32), len(ids)))


@pytest.mark.parametrize("agent", INFORMED)
def test_heuristics_receive_parent_pointers(agent: str) -> None:
    task = load_problem("coin_in_the_box/pl_3")
    space, heuristic = StateSpace(task), Recorder(len(task.actions))
    result = run_agent(MADE[agent], space, heuristic, Limits(max_expanded=30))
    assert len(heuristic.parent_pointers) >= result.expanded
    assert heuristic.parent_pointers[0] == (space.initial, -1, -1)
    evaluated = {space.initial}
    for state, parent, action in heuristic.parent_pointers[1:]:
        assert parent in evaluated
        assert space.successor(parent, action) == state
        evaluated.add(state)
    assert len(evaluated) == len(heuristic.parent_pointers)  # each once


EXPECTED = {row["instance"]: row for row in table("expected_mastar")}


@pytest.mark.reference
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "file",
    slow_but(mastar_files(), *(file for file in mastar_files() if not file.stem.startswith("Grapevine_"))),
    ids=lambda file: file.stem,
)
def test_breadth_first_counts_agree_with_two_independent_programs(file: Any) -> None:
    expected = EXPECTED[file.stem]
    result = run_agent(MADE["bfs"], StateSpace(load(file)))
    found = {
        "status": "exhausted" if result.status is SearchStatus.UNSOLVABLE else str(result.status),
        "plan_length": "" if result.plan is None else str(result.plan_length),
        "expanded": str(result.expanded),
        "generated": str(result.generated),
        "distinct_states": str(result.distinct),
    }
    assert found == {name: expected[name] for name in found}
