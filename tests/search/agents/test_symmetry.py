"""Every agent has equal results with and without symmetries, with fewer e-states."""

from collections import Counter
from dataclasses import replace

import pytest

from epigym import StateSpace, Task, load_problem
from epigym.reference import semantics as reference
from epigym.reference.semantics import validate
from epigym.task.formula import believes, fluent, not_
from search.agents import AGENTS, alternation, make_agent, run_agent
from search.agents.limits import Limits
from search.agents.result import SearchResult, SearchStatus
from search.planning.configuration import Configuration
from search.planning.options import DEFAULTS, SearchOptions
from search.planning.planner import find_plan
from search.planning.single_search import search_in_process
from tests.helpers.graph_space import TablePreferences
from tests.helpers.marks import slow_but
from tests.helpers.recorder import Recorder
from tests.helpers.tasks import SOLVABLE, hopeless
from tests.oracles.symmetric import muddy_children, symmetric_task

GOSSIP = "epistemic_gossip"


def both(task: Task, agent: str = "bfs", options: SearchOptions = DEFAULTS) -> tuple[SearchResult, SearchResult]:
    """The results of an agent without and with symmetries."""
    plain, pruned = (
        search_in_process(task, Configuration.of({"name": agent, "symmetry": symmetry}, "h_add"), options).result
        for symmetry in (False, True)
    )
    return plain, pruned


def assert_same(task: Task, plain: SearchResult, pruned: SearchResult) -> None:
    """The results have equal statuses and plan lengths."""
    assert (pruned.status, pruned.plan_length) == (plain.status, plain.plan_length)
    assert pruned.plan is None or validate(task, pruned.plan, pruned.consistent_beliefs).valid


@pytest.mark.parametrize("consistent_beliefs", slow_but([False, True], False))
def test_shortest_plans_of_random_tasks_are_as_short_as_without(consistent_beliefs: bool) -> None:
    saved = Counter[SearchStatus]()
    for seed in range(150):
        task = symmetric_task(seed)
        if consistent_beliefs and any(reference.find_inconsistent_beliefs(task.initial)):
            continue
        options = SearchOptions(Limits(max_expanded=100), consistent_beliefs=consistent_beliefs)
        plain, pruned = both(task, options=options)
        if plain.status.is_decided:
            assert_same(task, plain, pruned)
            saved[plain.status] += pruned.generated < plain.generated
    assert min(saved[status] for status in (SearchStatus.SOLVED, SearchStatus.UNSOLVABLE)) > 10


@pytest.mark.parametrize("agent", ["bfs", "idfs"])
@pytest.mark.parametrize(
    "problem", [GOSSIP, "coin_in_the_box/pl_5", "assembly_line", "collaboration_communication", "grapevine/3_pl_3"]
)
def test_shortest_plans_of_problems_are_as_short_as_without(problem: str, agent: str) -> None:
    task = load_problem(problem)
    assert_same(task, *both(task, agent))


@pytest.mark.parametrize(("children", "muddy"), [(5, 3), (5, 4), (6, 3)])
def test_of_muddy_children_one_of_each_kind_is_asked(children: int, muddy: int) -> None:
    """The first child knows once all other muddy children have said that they do not; not all can find out."""
    task = muddy_children(children, muddy)
    plain, pruned = both(task)
    assert_same(task, plain, pruned)
    assert pruned.status is SearchStatus.UNSOLVABLE
    assert pruned.generated < plain.generated / 2
    first = replace(task, goal=(believes(task.agents[0], fluent(task.fluents[0])),))
    plain, pruned = both(first)
    assert_same(first, plain, pruned)
    assert pruned.plan_length == muddy - 1
    assert pruned.generated < plain.generated


@pytest.mark.parametrize("agent", sorted(AGENTS))
@pytest.mark.parametrize("name", [*SOLVABLE, GOSSIP])
def test_every_agent_finds_a_valid_plan(agent: str, name: str) -> None:
    task = SOLVABLE[name]() if name in SOLVABLE else load_problem(name)
    result = find_plan(task, Configuration.of({"name": agent, "symmetry": True}, "h_add"))
    assert result.status is SearchStatus.SOLVED


@pytest.mark.parametrize("agent", sorted(AGENTS))
def test_every_agent_proves_that_there_is_no_plan_over_fewer_e_states(agent: str) -> None:
    gossip = load_problem(GOSSIP)
    secrets = [fluent("sa"), fluent("sb"), fluent("sc")]
    wrong = tuple(believes(name, not_(secret)) for name, secret in zip("abc", secrets, strict=True))
    plain, pruned = both(replace(gossip, goal=wrong), agent)
    assert plain.status is pruned.status is SearchStatus.UNSOLVABLE
    assert pruned.generated < plain.generated
    assert both(hopeless(), agent)[1].distinct == 3


def test_a_search_for_shorter_plans_ends_at_the_shortest() -> None:
    task = load_problem(GOSSIP)
    shortest = both(task)[0].plan_length
    plain, pruned = (
        find_plan(task, Configuration.of({"name": "dfs", "symmetry": symmetry}), SearchOptions(anytime=True))
        for symmetry in (False, True)
    )
    assert plain.optimal
    assert pruned.optimal
    assert plain.plan_length == pruned.plan_length == shortest
    assert pruned.generated < plain.generated


def test_the_representative_of_a_preferred_action_is_preferred(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two muddy and three clean children: the last clean one is preferred, the first clean one represents it."""
    task = muddy_children(5, 2)
    last = TablePreferences({}, {state: [len(task.actions) - 1] for state in range(100)})
    clean = StateSpace(task, symmetry=True).expand([0]).target.tolist()[1]
    monkeypatch.setattr(alternation, "Relaxation", lambda space: last)
    for agent in (make_agent("hfs_preferred"), make_agent("alternation", lists=["value", "preferred"])):
        space = Recorder(task, symmetry=True)
        run_agent(agent, space, last, Limits(max_expanded=2))
        assert space.expanded == [0, clean]
    space = Recorder(task, symmetry=True)
    run_agent(make_agent("lazy"), space, last, Limits(max_expanded=6))
    assert space.applied[0] == 2
    assert set(space.applied) <= {0, 2}
