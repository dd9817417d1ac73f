"""Random goals are reachable by their own walk; walks breadth first and best first do what searches do."""

from __future__ import annotations

from dataclasses import replace

import networkx as nx
import numpy as np
import pytest
from numpy.typing import ArrayLike

import domains
from epigym.errors import TaskError
from epigym.problem import domain_problem, load_problem, vocabulary
from epigym.reference.semantics import validate
from epigym.space.space import StateSpace, Transitions
from epigym.space.traversal import (
    Found,
    RandomGoal,
    best_first,
    breadth_first,
    deferred,
    narrow_walk,
    random_goal,
    random_walk,
)
from epigym.task.formula import FALSE, TRUE, considers_possible, fluent
from search.agents import make_agent
from search.agents.limits import Limits
from search.agents.result import SearchStatus
from search.heuristics import make_heuristic
from tests.helpers.graph_space import GraphSpace, TableHeuristic
from tests.helpers.tasks import done, hopeless

DOMAINS = list(domains.DOMAINS)


@pytest.mark.parametrize("domain", DOMAINS)
def test_the_walk_is_a_plan_for_the_goal(domain: str) -> None:
    task = domain_problem(domain)
    _, formulas = vocabulary(domain)
    space = StateSpace(task)
    holds = space.query(formulas)
    for seed in range(20):
        drawn = random_goal(space, holds, np.random.default_rng(seed), steps=1 + seed, size=1 + seed % 4)
        goal = tuple(formulas[index] for index in drawn.subgoals)
        problem = StateSpace(replace(task, goal=goal))
        state = problem.initial
        assert not problem.is_goal([state])[0]
        for number, action in enumerate(drawn.plan):
            assert not problem.is_goal([state])[0], f"reached before action {number}"
            state = problem.successor(state, action)
        assert problem.is_goal([state])[0]
        names = [task.actions[action].name for action in drawn.plan]
        assert seed % 5 or validate(replace(task, goal=goal), names).valid
        assert 1 <= len(drawn.plan) <= 1 + seed
        assert 1 <= len(drawn.subgoals) <= 1 + seed % 4
        assert sorted(set(drawn.subgoals)) == list(drawn.subgoals)


@pytest.mark.parametrize("domain", DOMAINS)
def test_the_same_seed_draws_the_same_goal_whatever_the_space_has_met(domain: str) -> None:
    task = domain_problem(domain)
    fresh, met = StateSpace(task), StateSpace(task)
    met.expand(met.expand([met.initial]).target)
    holds = {space: space.query(vocabulary(domain)[1]) for space in (fresh, met)}

    def draw(space: StateSpace, seed: int) -> RandomGoal:
        return random_goal(space, holds[space], np.random.default_rng(seed), steps=8, size=3)

    for seed in range(5):
        assert draw(fresh, seed) == draw(met, seed)
    different = {draw(fresh, seed) for seed in range(10)}
    assert len(different) > 1


def test_a_walk_visits_no_e_state_twice_and_follows_transitions() -> None:
    space = StateSpace(domain_problem("coin_in_the_box"))
    states, actions = random_walk(space, np.random.default_rng(1), steps=30)
    assert len(set(states)) == len(states) == len(actions) + 1 > 5
    assert [space.successor(state, action) for state, action in zip(states, actions, strict=False)] == states[1:]


def test_a_walk_ends_where_nothing_new_can_be_reached() -> None:
    space = StateSpace(domain_problem("assembly_line"))
    for seed in range(10):
        states, actions = random_walk(space, np.random.default_rng(seed), steps=1000)
        assert len(actions) < 1000
        assert np.isin(space.expand(states[-1:]).target, states).all()


def test_without_a_formula_to_change_there_is_no_goal() -> None:
    space = StateSpace(domain_problem("coin_in_the_box"))
    with pytest.raises(TaskError, match="no random goal: after 100 random walks"):
        random_goal(space, space.query([FALSE, fluent("tail")]), np.random.default_rng(0), steps=5, size=1)


# In those an agent that nobody reckoned with may contradict what others are sure of, as in the published problems.
COLLAPSING = {"cloud_scheduling", "room_messages"}


@pytest.mark.parametrize("domain", sorted(set(DOMAINS) - COLLAPSING))
def test_nobody_comes_to_believe_everything_in_the_domains(domain: str) -> None:
    space = StateSpace(domain_problem(domain))
    consistent = space.query(considers_possible(agent, TRUE) for agent in space.task.agents)
    for seed in range(10):
        states, _ = random_walk(space, np.random.default_rng(seed), steps=40)
        assert consistent(states).all()


@pytest.mark.parametrize("explored", [0, 30])
def test_a_breadth_first_walk_meets_every_e_state_once_by_depth(explored: int) -> None:
    space = StateSpace(load_problem("coin_in_the_box/pl_3"))
    random_walk(space, np.random.default_rng(0), steps=explored)  # what others have met does not matter
    depth, expanded = {space.initial: 0}, 0
    for wave in breadth_first(space):
        expanded += wave.expanded
        for index in wave.fresh.tolist():
            source, target = int(wave.transitions.source[index]), int(wave.transitions.target[index])
            assert target not in depth
            assert depth[source] == wave.depth
            depth[target] = wave.depth + 1
    assert expanded == len(depth) == len(space)
    graph = nx.DiGraph(zip(*np.array(space.expand(range(len(space)))[::2]), strict=True))
    assert nx.single_source_shortest_path_length(graph, space.initial) == depth


def test_threads_do_not_change_a_breadth_first_walk() -> None:
    task = load_problem("coin_in_the_box/pl_7")
    for one, two in zip(*(breadth_first(StateSpace(task), threads=count) for count in (1, 2)), strict=True):
        assert all(np.array_equal(a, b) for a, b in zip(one.transitions, two.transitions, strict=True))
        assert np.array_equal(one.fresh, two.fresh)


def test_a_narrow_walk_is_a_walk_among_small_new_states_that_builds_few_others() -> None:
    space = StateSpace(domain_problem("epistemic_gossip", agents=4, protocol="call"))
    states, actions = narrow_walk(space, np.random.default_rng(0), steps=6, max_worlds=40)
    assert len(states) == len(actions) + 1 == len(set(states)) > 2
    steps = zip(states[:-1], actions, states[1:], strict=True)
    assert all(space.successor(before, action) == after for before, action, after in steps)
    assert space.world_counts(states).max() <= 40
    wide = StateSpace(space.task)
    assert max(wide.world_counts(narrow_walk(wide, np.random.default_rng(0), steps=6, max_worlds=1000)[0])) > 40
    assert len(wide) < 1 + 6 * len(space.task.actions)


def greedy(problem: str, heuristic: str, most: int) -> tuple[Found, Found]:
    """How the walk ends, and how `hfs` does with the same scores."""
    task = load_problem(problem)
    walked, searched = StateSpace(task), StateSpace(task)
    found = best_first(walked, make_heuristic(heuristic, walked).score, max_expanded=most)
    limits = Limits(max_expanded=most)
    result = make_agent("hfs").search(searched, make_heuristic(heuristic, searched), limits)
    assert len(walked) == len(searched)
    solved = result.status is SearchStatus.SOLVED
    names = [action.name for action in task.actions]
    states = [searched.initial]
    for name in result.plan or ():
        states.append(searched.successor(states[-1], names.index(name)))
    return found, Found(solved, result.expanded, tuple(states) if solved else ())


@pytest.mark.parametrize("heuristic", ["open_goals", "divided_goals", "h_add", "h_ff", "c_pg"])
@pytest.mark.parametrize(
    "problem",
    ["coin_in_the_box/pl_5", "grapevine/3_pl_4", "collaboration_communication/2_2_3_pl_6", "assembly_line/b5_pl_5",
     "gossip", "blocks_world", "consecutive_numbers"],
)  # fmt: skip
def test_a_best_first_walk_is_the_greedy_search_of_the_agents(problem: str, heuristic: str) -> None:
    whole, expected = greedy(problem, heuristic, 300)
    assert whole == expected
    for most in {whole.expanded, *(max(1, some) for some in (whole.expanded - 1, whole.expanded // 2))}:
        cut, expected = greedy(problem, heuristic, most)
        assert cut == expected == (whole if most == whole.expanded else Found(False, most))


def test_a_best_first_walk_of_what_is_reached_or_cannot_be() -> None:
    space = StateSpace(done())
    assert best_first(space, make_heuristic("open_goals", space).score, max_expanded=10) == Found(True, 0, (0,))
    space = StateSpace(hopeless())
    assert best_first(space, make_heuristic("open_goals", space).score, max_expanded=10) == Found(False, 3)
    assert len(space) == 3


class FreshSpace(GraphSpace):
    """Says which e-states are new, as long as each of them has one way to it."""

    def expand(self, ids: ArrayLike, *, stop_at_goal: bool = False, threads: int = 1) -> Transitions:
        step = super().expand(ids, stop_at_goal=stop_at_goal, threads=threads)
        return step._replace(is_new=np.ones(len(step.target), dtype=np.bool_))


def test_scores_are_ordered_in_thousandths_and_then_by_id() -> None:
    edges = {0: [("a", 1), ("b", 2), ("c", 3)], 1: [("a", 9)]}
    order = {
        (1.0, 1.0, 1.0): [0, 1],
        (1.0001, 1.0, 1.0): [0, 1],
        (1.001, 1.0, 1.0): [0, 2, 3, 1],
        (np.inf, 1.0, 2.0): [0, 2, 3, 1],
    }
    for scores, expanded in order.items():
        space = FreshSpace(edges, [9])
        table = TableHeuristic(dict(zip((1, 2, 3), scores, strict=True)))
        assert best_first(space, table.score, max_expanded=10) == Found(True, len(expanded), (0, 1, 9))
        assert space.expanded == expanded


def lazily(problem: str, heuristic: str, most: int) -> tuple[Found, Found]:
    """How the walk ends that defers evaluation, and how `lazy` does with the same scores and preferences."""
    task = load_problem(problem)
    walked, searched = StateSpace(task), StateSpace(task)
    own = make_heuristic(heuristic, walked)

    def evaluate(state: int) -> tuple[float, list[int]]:
        none = np.array([-1])
        scores, _, preferred = own.evaluate(np.array([state], dtype=np.int32), none, none)
        return float(scores[0]), preferred.tolist()

    found = deferred(walked, evaluate, max_built=most)
    result = make_agent("lazy").search(searched, make_heuristic(heuristic, searched), Limits(max_expanded=2000))
    return found, Found(result.status is SearchStatus.SOLVED, result.generated)


@pytest.mark.parametrize("heuristic", ["h_add", "h_ff"])
@pytest.mark.parametrize(
    "problem",
    ["coin_in_the_box/pl_5", "grapevine/3_pl_4", "collaboration_communication/2_2_3_pl_6", "gossip", "blocks_world"],
)
def test_a_deferred_walk_is_the_lazy_search_of_the_agents(problem: str, heuristic: str) -> None:
    whole, expected = lazily(problem, heuristic, 5000)
    assert whole == expected
    assert whole.solved
    assert lazily(problem, heuristic, whole.expanded)[0] == whole
    assert lazily(problem, heuristic, whole.expanded - 1)[0] == Found(False, whole.expanded - 1)


def test_a_deferred_walk_of_what_is_reached_or_cannot_be() -> None:
    assert deferred(StateSpace(done()), lambda state: (0.0, []), max_built=10) == Found(True, 0)
    space = StateSpace(hopeless())
    assert deferred(space, lambda state: (0.0, []), max_built=100).solved is False
    assert len(space) == 3


def test_a_deferred_walk_builds_what_is_preferred_in_its_order_and_in_turn_with_the_rest() -> None:
    edges = {0: [("a", 1), ("b", 2), ("c", 3)], 1: [("a", 4)], 2: [("a", 5)], 3: [("a", 9)]}
    space = GraphSpace(edges, [9])
    liked = {0: [2, 1], 3: [1]}  # of 3 b is no applicable action
    assert deferred(space, lambda state: (float(state == 3), liked.get(state, [])), max_built=10) == Found(True, 6)
    assert space.built == [3, 1, 2, 4, 5, 9]
