"""`consistent_beliefs` of spaces against the reference, which knows nothing of it, and of what else has it."""

from __future__ import annotations

import dataclasses
import itertools
import pickle
import random
from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from epigym.envs.domain_env import DomainEnv
from epigym.envs.env import EpistemicEnv
from epigym.errors import CollapseError, EpigymError, TaskError
from epigym.reference import semantics as reference
from epigym.space.space import StateSpace
from epigym.space.traversal import breadth_first
from epigym.task.formula import TRUE, considers_possible
from epigym.task.reachability import may_reach_goal
from epigym.task.task import EState, Task
from search.agents import make_agent
from search.agents.limits import Limits
from search.agents.result import SearchStatus
from tests.helpers import strategies
from tests.helpers.epddl_files import competition_cases
from tests.helpers.tasks import deluded

FLIP, SHOUT = 0, 1
Forms = dict[reference.CanonicalForm, EState]

LOST = EState((frozenset({"tail"}), frozenset({"tail"})), ((frozenset({1}),) * 2, (frozenset(), frozenset({1}))), (0,))
"""Agent b considers no world possible at the first, designated world."""


def lost() -> Task:
    return dataclasses.replace(deluded(), initial=LOST)


def layers(task: Task) -> Iterator[tuple[Forms, bool, int]]:
    """Breadth-first search by the reference: e-states met first, whether one is a goal, how many steps it dropped."""
    layer: Forms = {reference.canonical(task.initial, task.fluents): task.initial}
    met = set(layer)
    dropped = 0
    while layer:
        yield layer, any(all(reference.subgoals(task, estate)) for estate in layer.values()), dropped
        found: Forms = {}
        dropped = 0
        for estate in layer.values():
            for action in task.actions:
                if not reference.applicable(task, estate, action):
                    continue
                after = reference.apply(task, estate, action)
                if any(reference.collapsed(after)):
                    dropped += 1
                    continue
                found.setdefault(reference.canonical(after, task.fluents), after)
        layer = {form: estate for form, estate in found.items() if form not in met}
        met |= layer.keys()


def space_layers(task: Task, *, threads: int) -> Iterator[tuple[set[reference.CanonicalForm], bool]]:
    """The same of a space without collapse."""
    space = StateSpace(task, consistent_beliefs=True)
    depth, layer = 0, np.array([space.initial], dtype=np.int32)

    def entry() -> tuple[set[reference.CanonicalForm], bool]:
        forms = {reference.canonical(space.model(state).state, task.fluents) for state in layer.tolist()}
        return forms, bool(space.is_goal(layer).any())

    for wave in breadth_first(space, threads=threads):
        if wave.depth == depth:
            yield entry()
            depth, layer = depth + 1, layer[:0]
        layer = np.concatenate([layer, wave.transitions.target[wave.fresh]])
    assert len(layer) == 0


def telling(seed: int) -> Task | None:
    """A random task without disagreements among designated worlds, or None where it starts collapsed."""
    task = strategies.telling_task(random.Random(seed))
    initial = dataclasses.replace(task.initial, designated=task.initial.designated[:1])
    actions = tuple(dataclasses.replace(action, designated=(0,)) for action in task.actions)
    return None if any(reference.collapsed(initial)) else dataclasses.replace(task, initial=initial, actions=actions)


def test_breadth_first_search_by_the_reference_meets_the_same_e_states_and_goals() -> None:
    bfs = make_agent("bfs")
    seen = Counter[str]()
    for seed in range(150):
        task = telling(seed)
        if task is None:
            continue
        mine, count, shortest, is_whole = space_layers(task, threads=1 + seed % 2), 0, None, True
        for depth, (layer, has_goal, dropped) in enumerate(layers(task)):
            assert next(mine) == (layer.keys(), has_goal), f"seed {seed}, depth {depth}"
            seen["dropped"] += dropped
            shortest = depth if has_goal and shortest is None else shortest
            count += len(layer)
            if count > 25:
                is_whole = False
                break
        assert not is_whole or next(mine, None) is None
        seen["whole"] += is_whole
        result = bfs.search(StateSpace(task, consistent_beliefs=True), limits=Limits(max_expanded=count))
        assert result.consistent_beliefs
        if shortest is not None:
            assert (result.status, result.plan_length) == (SearchStatus.SOLVED, shortest)
            assert reference.validate(task, result.plan, consistent_beliefs=True).valid
        elif is_whole:
            met = count if may_reach_goal(task) else 1
            assert (result.status, result.distinct) == (SearchStatus.UNSOLVABLE, met)
        if shortest is not None or is_whole:
            free = bfs.search(StateSpace(task), limits=Limits(max_expanded=count))
            seen["other answer"] += free.status is SearchStatus.SOLVED and free.plan_length != shortest
    assert min(seen[name] for name in ("dropped", "whole", "other answer")) >= 3, seen


@settings(max_examples=200)
@given(strategies.tasks(), st.data())
def test_allowed_is_what_leads_to_no_collapse(task: Task, data: st.DataObject) -> None:
    """On any frame, with several designated worlds and types that depend on conditions."""
    estate, free = task.initial, StateSpace(task)
    if any(reference.collapsed(estate)):
        with pytest.raises(CollapseError, match="believes everything in the initial e-state"):
            StateSpace(task, consistent_beliefs=True)
        return
    space = StateSpace(task, consistent_beliefs=True)
    consistent = space.query(considers_possible(agent, TRUE) for agent in task.agents)
    for _ in range(3):
        state = space.intern(estate)
        can, allowed = compare_actions(task, space, state, estate)
        there = [free.intern(estate)]
        assert free.allowed(there).tolist() == free.applicable(there).tolist() == [can]
        goes = [action for action in range(len(can)) if isinstance(allowed[action], EState)]
        assert consistent(np.arange(len(space))).all()
        if not goes:
            return
        estate = allowed[data.draw(st.sampled_from(goes))]


def compare_actions(task: Task, space: StateSpace, state: int, estate: EState) -> tuple[list[bool], list[Any]]:
    """Hold all actions in an e-state against the reference; which are applicable, and what they lead to."""
    can, after = list(reference.applicable_actions(task, estate)), []
    for action in task.actions:
        try:
            after.append(reference.apply(task, estate, action))
        except TaskError as error:
            after.append(error)
    collapses = [isinstance(one, EState) and any(reference.collapsed(one)) for one in after]
    assert space.applicable([state])[0].tolist() == can
    assert space.allowed([state])[0].tolist() == [one and not bad for one, bad in zip(can, collapses, strict=True)]
    before = len(space)
    for number, (bad, target) in enumerate(zip(collapses, after, strict=True)):
        if bad:
            agent = task.agents[reference.collapsed(target).index(True)]
            message = (
                f"agent '{agent}' believes everything after action '{task.actions[number].name}', which consistent"
            )
            with pytest.raises(CollapseError, match=message):
                space.successor(state, number)
            with pytest.raises(CollapseError, match=f"agent '{agent}' believes everything in the e-state given"):
                space.intern(target)
            assert len(space) == before
            after[number] = None
    for number, target in enumerate(after):
        if isinstance(target, EState):
            assert space.successor(state, number) == space.intern(target)
    if not any(applies and isinstance(one, TaskError) for applies, one in zip(can, after, strict=True)):
        goes = [number for number, target in enumerate(after) if isinstance(target, EState)]
        assert space.expand([state]).action.tolist() == goes
    return can, after


@settings(max_examples=12)
@pytest.mark.parametrize("worlds", [64, 65, 200, 400, 700])
@given(strategies.tasks(max_worlds=1, max_actions=3), st.integers(0, 2**32))
def test_allowed_in_e_states_of_many_worlds(worlds: int, task: Task, seed: int) -> None:
    estate = strategies.random_estate(random.Random(seed), worlds, task.fluents, task.agents)
    everywhere = frozenset(range(worlds))
    rows = tuple(tuple(row or everywhere for row in agent) for agent in estate.successors)
    task = dataclasses.replace(task, initial=dataclasses.replace(estate, successors=rows))
    space = StateSpace(task, consistent_beliefs=True)
    compare_actions(task, space, space.initial, task.initial)


def test_the_only_plan_makes_an_agent_believe_everything() -> None:
    task = deluded()
    assert reference.validate(task, ["flip", "shout"]).collapsed == ("b",)
    space = StateSpace(task, consistent_beliefs=True)
    flipped = space.successor(space.initial, FLIP)
    assert space.applicable([flipped]).tolist() == [[True, True]]
    assert space.allowed([flipped, space.initial]).tolist() == [[True, False], [True, False]]
    assert space.expand([flipped, space.initial]).target.tolist() == [flipped, flipped]
    with pytest.raises(CollapseError, match="everything after action 'shout'"):
        space.successors([space.initial, flipped], [FLIP, SHOUT])
    assert len(space) == 2


def test_validation_says_at_which_step_who_collapses() -> None:
    task = deluded()
    verdict = reference.validate(task, ["flip", "flip", "shout", "flip"], consistent_beliefs=True)
    assert (verdict.valid, verdict.step, verdict.collapsed) == (False, 3, ("b",))
    assert verdict.reason == (
        "step 3: agent 'b' believes everything after action 'shout', which consistent_beliefs=true rules out"
    )
    done = dataclasses.replace(task, goal=task.goal[:0])
    assert reference.validate(done, ["flip"], consistent_beliefs=True).valid
    with pytest.raises(
        CollapseError, match=r"^agent 'b' believes everything in the initial e-state, which consistent_beliefs"
    ):
        reference.validate(lost(), ["flip"], consistent_beliefs=True)
    assert reference.validate(lost(), ["flip"]).collapsed == ("b",)


@given(strategies.tasks(), st.lists(st.integers(0, 2), max_size=4))
def test_who_believes_everything_does_so_for_ever(task: Task, steps: list[int]) -> None:
    estate = task.initial
    for step in steps:
        before = reference.collapsed(estate)
        try:
            estate = reference.apply(task, estate, task.actions[step % len(task.actions)])
        except TaskError:
            continue
        assert all(after or not was for was, after in zip(before, reference.collapsed(estate), strict=True))


def test_the_error_survives_the_way_between_processes() -> None:
    error = pickle.loads(pickle.dumps(CollapseError("b", "in the initial e-state")))
    assert str(error) == "agent 'b' believes everything in the initial e-state, which consistent_beliefs=true rules out"


def test_the_mask_of_an_environment_rules_collapse_out() -> None:
    env = EpistemicEnv(deluded(), consistent_beliefs=True)
    env.reset()
    *_, info = env.step(np.int64(FLIP))
    assert info["action_mask"].tolist() == env.action_masks().tolist() == [1, 0]
    state = env.state
    *_, terminated, _, info = env.step(np.int64(SHOUT))
    assert (env.state, terminated, info["invalid_action"], info["collapsed_agents"]) == (state, False, True, ())
    again = pickle.loads(pickle.dumps(env))
    assert again.action_masks().tolist() == [1, 0]
    free = EpistemicEnv(deluded())
    free.restore_state(env.clone_state())
    assert free.action_masks().tolist() == [1, 1]
    *_, terminated, _, info = free.step(np.int64(SHOUT))
    assert (terminated, info["collapsed_agents"]) == (True, ("b",))
    for attempt in (lambda: env.restore_state(free.clone_state()), lambda: env.reset(options={"state": free.model()})):
        with pytest.raises(CollapseError, match="'b' believes everything in the e-state given"):
            attempt()
    strict = EpistemicEnv(deluded(), consistent_beliefs=True, invalid_action="error")
    strict.restore_state(env.clone_state())
    with pytest.raises(EpigymError, match=r"action 'shout' would make an agent believe everything; .*action_mask"):
        strict.step(np.int64(SHOUT))
    with pytest.raises(CollapseError, match="initial"):
        EpistemicEnv(lost(), consistent_beliefs=True)


def test_random_goals_and_episodes_stay_without_collapse() -> None:
    """This reading of mA* makes agents collapse who are told what they believed to be false."""
    collapsed = Counter[bool]()
    for forbid in (False, True):
        env = DomainEnv("grapevine", semantics="update_model", random_goals=True, consistent_beliefs=forbid)
        consistent = env.space.query(considers_possible(agent, TRUE) for agent in env.task.agents)
        for seed in range(10):
            _, info = env.reset(seed=seed)
            env.action_space.seed(seed)
            for _ in range(10):
                assert info["action_mask"].any()
                *_, info = env.step(np.int64(env.action_space.sample(info["action_mask"])))
        collapsed[forbid] = int(np.count_nonzero(~consistent(np.arange(len(env.space))).all(axis=1)))
    assert collapsed[False] > 0 == collapsed[True]


@pytest.mark.reference
def test_the_shortest_plan_of_a_competition_problem_collapses_two_agents() -> None:
    """Without collapse it has no plan of up to 8 actions; whether it has a longer one is not known."""
    [case] = [case for case in competition_cases() if case.problem.stem == "bw-3-05-2"]
    task = case.ground().task
    found = make_agent("bfs").search(StateSpace(task))
    assert (found.plan_length, found.expanded) == (8, 7733)
    assert reference.validate(task, found.plan).collapsed == ("B", "C")
    verdict = reference.validate(task, found.plan, consistent_beliefs=True)
    assert (verdict.step, verdict.collapsed) == (8, ("B", "C"))
    space = StateSpace(task, consistent_beliefs=True)
    waves = itertools.takewhile(lambda wave: wave.depth < 8, breadth_first(space))
    assert sum(wave.expanded for wave in waves) == 12462
    assert not space.is_goal(np.arange(len(space))).any()
