"""`consistent_beliefs` of spaces against the reference, which knows nothing of it, and of what else has it."""

import dataclasses
import pickle
import random
import re
from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from epigym import EpistemicEnv, EState, StateSpace, Task
from epigym.envs.domain_env import DomainEnv
from epigym.errors import EpigymError, InconsistentBeliefsError, TaskError
from epigym.reference import semantics as reference
from epigym.task.formula import TRUE, considers_possible
from tests.helpers import strategies
from tests.helpers.tasks import delusion

FLIP, SHOUT = 0, 1

LOST = EState((frozenset({"tail"}), frozenset({"tail"})), ((frozenset({1}),) * 2, (frozenset(), frozenset({1}))), (0,))
"""Agent b considers no world possible at the first, designated world."""


def lost() -> Task:
    return dataclasses.replace(delusion(), initial=LOST)


WALKS = given(strategies.tasks(), st.data())


@settings(max_examples=130)
@WALKS
def test_allowed_actions_keep_beliefs_consistent(task: Task, data: st.DataObject) -> None:
    compare_allowed_actions(task, data)


@pytest.mark.slow
@settings(max_examples=200)
@WALKS
def test_allowed_actions_keep_beliefs_consistent_in_more_tasks(task: Task, data: st.DataObject) -> None:
    compare_allowed_actions(task, data)


def compare_allowed_actions(task: Task, data: st.DataObject) -> None:
    """On any frame, with several designated worlds and types that depend on conditions."""
    estate, free = task.initial, StateSpace(task)
    if any(reference.find_inconsistent_beliefs(estate)):
        with pytest.raises(InconsistentBeliefsError, match="believes everything in the initial e-state"):
            StateSpace(task, consistent_beliefs=True)
        return
    space = StateSpace(task, consistent_beliefs=True)
    consistent = space.query(considers_possible(agent, TRUE) for agent in task.agents)
    for _ in range(3):
        state = space.intern(estate)
        can, allowed = assert_actions_agree(task, space, state, estate)
        there = [free.intern(estate)]
        assert free.allowed(there).tolist() == free.applicable(there).tolist() == [can]
        goes = [action for action in range(len(can)) if isinstance(allowed[action], EState)]
        assert consistent(np.arange(len(space))).all()
        if not goes:
            return
        estate = allowed[data.draw(st.sampled_from(goes))]


def assert_actions_agree(task: Task, space: StateSpace, state: int, estate: EState) -> tuple[list[bool], list[Any]]:
    """Hold all actions in an e-state against the reference; which are applicable, and what they lead to."""
    can, after = list(reference.applicable_actions(task, estate)), []
    for action in task.actions:
        try:
            after.append(reference.apply(task, estate, action))
        except TaskError as error:
            after.append(error)
    inconsistent = [isinstance(one, EState) and any(reference.find_inconsistent_beliefs(one)) for one in after]
    assert space.applicable([state])[0].tolist() == can
    assert space.allowed([state])[0].tolist() == [one and not bad for one, bad in zip(can, inconsistent, strict=True)]
    before = len(space)
    for number, (bad, target) in enumerate(zip(inconsistent, after, strict=True)):
        if bad:
            agent = task.agents[reference.find_inconsistent_beliefs(target).index(True)]
            message = (
                f"agent '{agent}' believes everything after action '{task.actions[number].name}', which consistent"
            )
            with pytest.raises(InconsistentBeliefsError, match=message):
                space.successor(state, number)
            with pytest.raises(InconsistentBeliefsError, match=f"'{agent}' believes everything in the e-state given"):
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
    assert_actions_agree(task, space, space.initial, task.initial)


def test_the_only_plan_makes_an_agent_believe_everything() -> None:
    task = delusion()
    assert reference.validate(task, ["flip", "shout"]).inconsistent_agents == ("b",)
    space = StateSpace(task, consistent_beliefs=True)
    flipped = space.successor(space.initial, FLIP)
    assert space.applicable([flipped]).tolist() == [[True, True]]
    assert space.allowed([flipped, space.initial]).tolist() == [[True, False], [True, False]]
    assert space.expand([flipped, space.initial]).target.tolist() == [flipped, flipped]
    with pytest.raises(InconsistentBeliefsError, match="everything after action 'shout'"):
        space.successors([space.initial, flipped], [FLIP, SHOUT])
    assert len(space) == 2


def test_validation_names_the_step_and_the_inconsistent_agent() -> None:
    task = delusion()
    verdict = reference.validate(task, ["flip", "flip", "shout", "flip"], consistent_beliefs=True)
    assert (verdict.valid, verdict.step, verdict.inconsistent_agents) == (False, 3, ("b",))
    assert re.match("step 3: agent 'b' .* after action 'shout', .* consistent_beliefs=true", verdict.reason)
    done = dataclasses.replace(task, goal=task.goal[:0])
    assert reference.validate(done, ["flip"], consistent_beliefs=True).valid
    with pytest.raises(InconsistentBeliefsError, match=r"^agent 'b' .* the initial e-state, which consistent_beliefs"):
        reference.validate(lost(), ["flip"], consistent_beliefs=True)
    assert reference.validate(lost(), ["flip"]).inconsistent_agents == ("b",)


@given(strategies.tasks(), st.lists(st.integers(0, 2), max_size=4))
def test_who_believes_everything_does_so_for_ever(task: Task, steps: list[int]) -> None:
    estate = task.initial
    for step in steps:
        before = reference.find_inconsistent_beliefs(estate)
        try:
            estate = reference.apply(task, estate, task.actions[step % len(task.actions)])
        except TaskError:
            continue
        after = reference.find_inconsistent_beliefs(estate)
        assert all(new or not old for old, new in zip(before, after, strict=True))


def test_the_error_survives_the_way_between_processes() -> None:
    error = pickle.loads(pickle.dumps(InconsistentBeliefsError("b", "in the initial e-state")))
    assert re.match("agent 'b' .* in the initial e-state, .* consistent_beliefs=true", str(error))


def test_the_mask_of_an_environment_rules_inconsistent_beliefs_out() -> None:
    env = EpistemicEnv(delusion(), consistent_beliefs=True)
    env.reset()
    *_, info = env.step(np.int64(FLIP))
    assert info["action_mask"].tolist() == env.action_masks().tolist() == [1, 0]
    state = env.state
    *_, terminated, _, info = env.step(np.int64(SHOUT))
    assert (env.state, terminated, info["invalid_action"], info["inconsistent_agents"]) == (state, False, True, ())
    again = pickle.loads(pickle.dumps(env))
    assert again.action_masks().tolist() == [1, 0]
    free = EpistemicEnv(delusion())
    free.restore_state(env.clone_state())
    assert free.action_masks().tolist() == [1, 1]
    *_, terminated, _, info = free.step(np.int64(SHOUT))
    assert (terminated, info["inconsistent_agents"]) == (True, ("b",))
    for attempt in (lambda: env.restore_state(free.clone_state()), lambda: env.reset(options={"state": free.model()})):
        with pytest.raises(InconsistentBeliefsError, match="'b' believes everything in the e-state given"):
            attempt()
    strict = EpistemicEnv(delusion(), consistent_beliefs=True, invalid_action="error")
    strict.restore_state(env.clone_state())
    with pytest.raises(EpigymError, match=r"action 'shout' would make an agent believe everything; .*action_mask"):
        strict.step(np.int64(SHOUT))
    with pytest.raises(InconsistentBeliefsError, match="initial"):
        EpistemicEnv(lost(), consistent_beliefs=True)


def test_random_goals_and_episodes_keep_beliefs_consistent() -> None:
    """In this reading of mA* an announcement makes the beliefs of agents inconsistent who believed the contrary."""
    inconsistent = Counter[bool]()
    for forbid in (False, True):
        env = DomainEnv("grapevine", semantics="update_model", random_goals=True, consistent_beliefs=forbid)
        consistent = env.space.query(considers_possible(agent, TRUE) for agent in env.task.agents)
        for seed in range(10):
            _, info = env.reset(seed=seed)
            env.action_space.seed(seed)
            for _ in range(10):
                assert info["action_mask"].any()
                *_, info = env.step(np.int64(env.action_space.sample(info["action_mask"])))
        inconsistent[forbid] = int(np.count_nonzero(~consistent(np.arange(len(env.space))).all(axis=1)))
    assert inconsistent[False] > 0 == inconsistent[True]
