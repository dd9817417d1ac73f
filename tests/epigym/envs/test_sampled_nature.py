"""`nature="sampled"`: one designated world is actual, and what happens there is told."""

import copy
import pickle
import random
import warnings
from dataclasses import replace
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env, data_equivalence
from hypothesis import given
from hypothesis import strategies as st

from epigym import EpigymError, EpistemicEnv, TaskError
from epigym.envs.vector import EpistemicVectorEnv
from epigym.reference import semantics as reference
from epigym.task.formula import TRUE, and_, fluent, not_
from epigym.task.task import Action, EState, Task
from tests.helpers.sensing import looking, tossing
from tests.helpers.strategies import sensing_task, tasks
from tests.oracles import definitions


def sampled(task: Task, seed: int = 0, **arguments: Any) -> EpistemicEnv:
    env = EpistemicEnv(task, nature="sampled", **arguments)
    env.reset(seed=seed)
    return env


def truth(env: EpistemicEnv) -> frozenset[str]:
    """The fluents that are true at the actual world."""
    assert env.actual is not None
    return env.model().state.valuations[env.actual]


def test_the_outcome_that_happens_is_the_actual_one_and_is_told() -> None:
    expected = {"": "no", "p": "yes (b misses)", "pq": "yes (b sees)"}
    met = set()
    for seed in range(30):
        env = sampled(looking((fluent("q"), "sees")), seed)
        before = truth(env)
        *_, info = env.step(np.int64(0))
        assert str(info["outcome"]) == expected["".join(sorted(before))]
        assert truth(env) == before
        assert env.model().designated == (env.actual,)
        met.add(before)
    assert len(met) == 3


def test_the_actual_world_is_sampled_uniformly_and_follows_from_the_seed() -> None:
    env = sampled(looking())
    env.reset(seed=1)
    found = []
    for _ in range(3000):
        env.reset()
        found.append(env.actual)
    designated, counts = np.unique(found, return_counts=True)
    assert designated.tolist() == list(env.model().designated)
    assert (np.abs(counts - 1000) < 120).all()  # 4.6 standard deviations
    again = sampled(looking())
    again.reset(seed=1)
    assert [again.reset() and again.actual for _ in range(3000)] == found


def test_of_several_events_that_can_happen_one_is_sampled() -> None:
    never = and_(fluent("p"), not_(fluent("p")))
    env = sampled(replace(tossing(), goal=(never,)))
    found = []
    for _ in range(200):
        *_, info = env.step(np.int64(0))
        found.append(info["outcome"].name)
        assert truth(env) == (frozenset({"p"}) if found[-1] == "heads" else frozenset())
    assert 70 < found.count("heads") < 130


def happening(task: Task, estate: EState, world: int, action: Action, event: int) -> tuple[list[str], EState]:
    """The agents' types at a world, and the pointed e-state that an event there leads to, as they are defined."""
    kinds = [
        next(kind for phi, kind in conditions if world in definitions.truth(task.agents, estate, phi))
        for conditions in action.observability
    ]
    constant = tuple(((TRUE, kind),) for kind in kinds)
    only = Action(action.name, TRUE, action.events, (event,), action.relations, constant)
    mark = {"actual"}
    valuations = (valuation | (mark if w == world else set()) for w, valuation in enumerate(estate.valuations))
    after = definitions.update(task, replace(estate, valuations=tuple(valuations)), only)
    (place,) = (w for w in after.designated if "actual" in after.valuations[w])
    plain = tuple(valuation - mark for valuation in after.valuations)
    return kinds, EState(plain, after.successors, (place,))


def assert_followed(task: Task, seed: int, steps: int, consistent_beliefs: bool = False) -> int:
    """Follow the actual world through masked random actions; returns how many of these had several outcomes."""
    env = sampled(task, seed, consistent_beliefs=consistent_beliefs)
    rng = random.Random(seed)
    several = 0
    for _ in range(steps):
        mask = np.flatnonzero(env.action_masks())
        if not len(mask) or env.is_goal():
            break
        action = rng.choice(mask.tolist())
        estate, world, state = env.model().state, env.actual, env.state
        assert world in estate.designated
        *_, info = env.step(np.int64(action))
        outcome, chosen = info["outcome"], task.actions[action]
        event = chosen.events[outcome.event]
        assert outcome.event in chosen.designated
        assert event.name == outcome.name
        assert world in definitions.truth(task.agents, estate, event.precondition)
        kinds, expected = happening(task, estate, world, chosen, outcome.event)
        assert all(kinds[task.agents.index(agent)] == kind for agent, kind in outcome.types.items())
        assert env.actual in env.model().designated
        after = replace(env.model().state, designated=(env.actual,))
        assert reference.canonical(after, task.fluents) == reference.canonical(expected, task.fluents)
        [target] = [
            reference.canonical(one.estate, task.fluents)
            for one in reference.outcomes(task, estate, chosen)
            if one.event == outcome.event and list(one.types) == kinds
        ]
        assert reference.canonical(env.model().state, task.fluents) == target
        several += int((env.space.outcomes([state]).action == action).sum() > 1)
    return several


@given(tasks(max_designated=3), st.integers(0, 9), st.booleans())
def test_the_actual_world_is_followed_through_any_update(task: Task, seed: int, consistent_beliefs: bool) -> None:
    if not (consistent_beliefs and any(reference.find_inconsistent_beliefs(task.initial))):
        assert_followed(task, seed, 4, consistent_beliefs)


def test_the_actual_world_is_followed_through_sensing() -> None:
    assert sum(assert_followed(sensing_task(random.Random(seed)), seed, 6) for seed in range(60)) > 20


def rollout(env: EpistemicEnv, steps: int) -> list[Any]:
    env.action_space.seed(1)
    return [env.step(env.action_space.sample(env.action_masks().astype(np.int8))) for _ in range(steps)]


TASK = sensing_task(random.Random(3))


def test_episodes_are_reproducible() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(gymnasium.make("epi/ActiveMuddyChild-v0", certain=False, nature="sampled").unwrapped)
        check_env(gymnasium.make("epi/Problem-v0", path="coin_in_the_box/pl_3", nature="sampled").unwrapped)
    first, second = sampled(TASK, 5), sampled(TASK, 5)
    assert data_equivalence(rollout(first, 3), rollout(second, 3), exact=True)
    twins = [pickle.loads(pickle.dumps(first)), copy.deepcopy(first)]
    expected = rollout(first, 6)
    for twin in twins:
        assert data_equivalence(rollout(twin, 6), expected, exact=True)
        assert (twin.actual, twin.model()) == (first.actual, first.model())


def test_a_snapshot_keeps_the_actual_world() -> None:
    env = sampled(looking())
    worlds = set()
    for seed in range(20):
        env.reset(seed=seed)
        snapshot, before = env.clone_state(), truth(env)
        env.step(np.int64(0))
        env.reset(seed=seed + 1)
        env.restore_state(pickle.loads(pickle.dumps(snapshot)))
        assert (env.clone_state(), truth(env)) == (snapshot, before)
        worlds.add(before)
    assert len(worlds) > 1
    assert EpistemicEnv(looking(), nature="sampled").actual in range(4), "before the first reset, too"
    with pytest.raises(TaskError, match="actual=1 of the snapshot is not a designated world"):
        env.restore_state(replace(snapshot, actual=1))
    assert env.clone_state() == snapshot
    env.restore_state(EpistemicEnv(looking()).clone_state())
    assert env.actual in env.model().designated


def test_an_episode_samples_among_the_designated_worlds_where_it_starts() -> None:
    env = sampled(looking())
    only = replace(env.model().state, designated=(3,))
    env.reset(options={"state": only})
    assert env.model().designated == (env.actual,)


def test_the_mask_has_what_policies_may_use() -> None:
    task = looking((fluent("q"), "sees"))
    assert sampled(task).action_masks().tolist() == [True]
    believing = replace(task.initial, successors=(task.initial.successors[0], (frozenset({0, 1}),) * 4))
    wrong = replace(looking((TRUE, "sees")), initial=believing)  # where p is false, b believes it
    assert sampled(wrong).action_masks().tolist() == [True]
    assert sampled(wrong, consistent_beliefs=True).action_masks().tolist() == [False]


def test_nothing_happens_where_nothing_is_done() -> None:
    env = sampled(replace(looking(), goal=(TRUE,)))
    *_, terminated, _, info = env.step(np.int64(0))
    assert (terminated, info["outcome"]) == (True, None)
    assert "outcome" not in EpistemicEnv(looking()).reset()[1]


def test_it_is_for_single_environments_which_may_stand_side_by_side() -> None:
    with pytest.raises(EpigymError, match=r"nature='sampled' is for single environments: .*vectorization_mode='sync'"):
        EpistemicVectorEnv(EpistemicEnv(looking(), nature="sampled"), 2)
    arguments = {"certain": False, "nature": "sampled", "children": 3}
    envs = gymnasium.make_vec("epi/ActiveMuddyChild-v0", 3, vectorization_mode="sync", **arguments)
    envs.reset(seed=0)
    *_, infos = envs.step(np.zeros(3, np.int64))
    assert [outcome.name for outcome in infos["outcome"]]
