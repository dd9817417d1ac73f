"""Random goals are reachable by their own walk; walks breadth first meet every e-state once."""

from dataclasses import replace

import networkx as nx
import numpy as np
import pytest

import domains
from epigym import StateSpace, TaskError
from epigym.problem import domain_problem, load_problem, vocabulary
from epigym.reference.semantics import validate
from epigym.space.sampling import RandomGoal, sample_goal, sample_narrow_walk, sample_walk
from epigym.space.traversal import breadth_first
from epigym.task.formula import FALSE, fluent

DOMAINS = list(domains.DOMAINS)


@pytest.mark.parametrize("domain", DOMAINS)
def test_the_walk_is_a_plan_for_the_goal(domain: str) -> None:
    task = domain_problem(domain)
    _, formulas = vocabulary(domain)
    space = StateSpace(task)
    holds = space.query(formulas)
    for seed in range(20):
        sampled = sample_goal(space, holds, np.random.default_rng(seed), steps=1 + seed, size=1 + seed % 4)
        goal = tuple(formulas[index] for index in sampled.subgoals)
        problem = StateSpace(replace(task, goal=goal))
        state = problem.initial
        assert not problem.is_goal([state])[0]
        for number, action in enumerate(sampled.plan):
            assert not problem.is_goal([state])[0], f"reached before action {number}"
            state = problem.successor(state, action)
        assert problem.is_goal([state])[0]
        names = [task.actions[action].name for action in sampled.plan]
        assert seed % 5 or validate(replace(task, goal=goal), names).valid
        assert 1 <= len(sampled.plan) <= 1 + seed
        assert 1 <= len(sampled.subgoals) <= 1 + seed % 4
        assert sorted(set(sampled.subgoals)) == list(sampled.subgoals)


@pytest.mark.parametrize("domain", DOMAINS)
def test_the_same_seed_draws_the_same_goal_whatever_the_space_has_met(domain: str) -> None:
    task = domain_problem(domain)
    fresh, met = StateSpace(task), StateSpace(task)
    met.expand(met.expand([met.initial]).target)
    holds = {space: space.query(vocabulary(domain)[1]) for space in (fresh, met)}

    def draw(space: StateSpace, seed: int) -> RandomGoal:
        return sample_goal(space, holds[space], np.random.default_rng(seed), steps=8, size=3)

    for seed in range(5):
        assert draw(fresh, seed) == draw(met, seed)
    different = {draw(fresh, seed) for seed in range(10)}
    assert len(different) > 1


def test_walks_end() -> None:
    space = StateSpace(domain_problem("coin_in_the_box"))
    states, actions = sample_walk(space, np.random.default_rng(1), steps=30)
    assert len(set(states)) == len(states) == len(actions) + 1 > 5
    assert [space.successor(state, action) for state, action in zip(states, actions, strict=False)] == states[1:]
    space = StateSpace(domain_problem("assembly_line"))
    for seed in range(10):
        states, actions = sample_walk(space, np.random.default_rng(seed), steps=1000)
        assert len(actions) < 1000
        assert np.isin(space.expand(states[-1:]).target, states).all()
    space = StateSpace(domain_problem("coin_in_the_box"))
    with pytest.raises(TaskError, match="no random goal: after 100 random walks"):
        sample_goal(space, space.query([FALSE, fluent("tail")]), np.random.default_rng(0), steps=5, size=1)


@pytest.mark.parametrize(("explored", "chunk"), [(0, 512), (30, 512), (0, 3)])
def test_a_breadth_first_walk_meets_every_e_state_once_by_depth(explored: int, chunk: int) -> None:
    space = StateSpace(load_problem("coin_in_the_box/pl_3"))
    sample_walk(space, np.random.default_rng(0), steps=explored)  # what others have met does not matter
    depth, expanded = {space.initial: 0}, 0
    for wave in breadth_first(space, chunk):
        assert wave.expanded <= chunk
        expanded += wave.expanded
        for index in wave.fresh.tolist():
            source, target = int(wave.transitions.source[index]), int(wave.transitions.target[index])
            assert target not in depth
            assert depth[source] == wave.depth
            depth[target] = wave.depth + 1
    assert expanded == len(depth) == len(space)
    graph = nx.DiGraph(zip(*np.array(space.expand(range(len(space)))[::2]), strict=True))
    assert nx.single_source_shortest_path_length(graph, space.initial) == depth


def test_a_narrow_walk_is_a_walk_among_small_new_states_that_builds_few_others() -> None:
    space = StateSpace(domain_problem("epistemic_gossip", agents=4, protocol="call"))
    states, actions = sample_narrow_walk(space, np.random.default_rng(0), steps=6, max_worlds=40)
    assert len(states) == len(actions) + 1 == len(set(states)) > 2
    steps = zip(states[:-1], actions, states[1:], strict=True)
    assert all(space.successor(before, action) == after for before, action, after in steps)
    assert space.world_counts(states).max() <= 40
    wide = StateSpace(space.task)
    assert max(wide.world_counts(sample_narrow_walk(wide, np.random.default_rng(0), steps=6, max_worlds=1000)[0])) > 40
    assert len(wide) < 1 + 6 * len(space.task.actions)
