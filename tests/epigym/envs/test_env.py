"""What every registered environment promises, and how `EpistemicEnv` behaves."""

import copy
import pickle
import warnings
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.spaces import Discrete, Graph, GraphInstance
from gymnasium.utils.env_checker import check_env, data_equivalence

import domains
from epigym import drawing
from epigym.encoding.encoder import ENCODINGS
from epigym.envs.env import EpistemicEnv
from epigym.envs.registration import camel_case
from epigym.errors import EpigymError, TaskError
from epigym.language import parse_mastar
from epigym.problem import load_problem
from epigym.space.space import StateSpace
from epigym.task.formula import believes, fluent

LANGUAGES = {f"epi/{camel_case(domain.name)}-v0": domain.language for domain in domains.DOMAINS.values()}
DOMAIN_IDS = list(LANGUAGES)
IDS = [name for name in gymnasium.registry if name.startswith("epi/") and name != "epi/Text-v0"]  # see test_text.py
PLAN = ["signal_a_b", "open_a", "peek_b"]  # coin_in_the_box/pl_3: B(b, tail)


def make(name: str, **arguments: Any) -> gymnasium.Env[GraphInstance, np.int64]:
    """An environment of any registered id."""
    return gymnasium.make(name, **({"path": "coin_in_the_box/pl_3"} if name == "epi/Problem-v0" else {}), **arguments)


def coin(**arguments: Any) -> EpistemicEnv:
    return EpistemicEnv(load_problem("coin_in_the_box/pl_3"), **arguments)


def rollout(env: gymnasium.Env[GraphInstance, np.int64], seed: int, steps: int) -> list[Any]:
    """Masked random actions; everything that the environment returned."""
    observation, info = env.reset(seed=seed)
    env.action_space.seed(seed)
    seen: list[Any] = [(observation, info)]
    for _ in range(steps):
        seen.append(env.step(env.action_space.sample(info["action_mask"])))
        info = seen[-1][-1]
    return seen


def test_every_domain_and_any_problem_is_registered() -> None:
    assert sorted(IDS) == sorted(["epi/Problem-v0", *DOMAIN_IDS])
    assert all(gymnasium.spec(name).max_episode_steps == 100 for name in IDS)


@pytest.mark.parametrize("name", IDS)
def test_the_environment_checker_is_silent(name: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(make(name).unwrapped)


@pytest.mark.parametrize("name", IDS)
def test_equal_seeds_give_equal_rollouts(name: str) -> None:
    random_goals = {"random_goals": True} if name in DOMAIN_IDS else {}
    first, second = (rollout(make(name, **random_goals), seed=7, steps=12) for _ in range(2))
    assert data_equivalence(first, second, exact=True)


@pytest.mark.parametrize("name", IDS)
def test_a_pickled_environment_goes_on_alike(name: str) -> None:
    env = make(name)
    rollout(env, seed=3, steps=5)
    twins = [pickle.loads(pickle.dumps(env)), copy.deepcopy(env)]
    assert all(twin.unwrapped.model() == env.unwrapped.model() for twin in twins)
    onwards = rollout(env, seed=4, steps=5)
    assert all(data_equivalence(rollout(twin, seed=4, steps=5), onwards, exact=True) for twin in twins)


@pytest.mark.parametrize("name", IDS)
def test_a_stored_spec_makes_the_environment_again(name: str) -> None:
    chosen = {"encoding": "map"} if LANGUAGES.get(name) == "EPDDL" else {"semantics": "efp"}
    spec = gymnasium.envs.registration.EnvSpec.from_json(make(name, **chosen).spec.to_json())
    assert data_equivalence(gymnasium.make(spec).reset(seed=1), make(name, **chosen).reset(seed=1), exact=True)


def test_the_spaces() -> None:
    env = coin()
    observation, info = env.reset(seed=0)
    assert isinstance(env.action_space, Discrete)
    assert env.action_space.n == len(env.task.actions)
    assert info["action_names"] == env.action_names == tuple(action.name for action in env.task.actions)
    assert "action_names" not in env.step(np.int64(0))[-1]
    assert isinstance(env.observation_space, Graph)
    assert observation.nodes.dtype == np.uint8
    assert observation.nodes.shape[1] == 64
    assert observation.edges.dtype == observation.edge_links.dtype == np.int64
    assert observation.edge_links.shape == (len(observation.edges), 2)
    assert (int(observation.edges.min()), int(observation.edges.max())) == (1, 6)  # 3 agents, 1 subgoal


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_every_encoding_gives_observations_of_the_space(encoding: str) -> None:
    env = coin(encoding=encoding)
    assert all(step[0] in env.observation_space for step in rollout(env, seed=1, steps=8))


def test_a_plan_gives_minus_its_length() -> None:
    env = coin()
    _, info = env.reset(seed=0)
    total = 0.0
    for number, name in enumerate(PLAN, start=1):
        assert not info["is_goal"]
        action = env.action_names.index(name)
        assert info["action_mask"][action] == 1
        _, reward, terminated, truncated, info = env.step(np.int64(action))
        total += reward
        assert (terminated, truncated, info["invalid_action"]) == (number == len(PLAN), False, False)
    assert total == -3
    assert info["is_goal"]


def test_the_mask_is_what_the_state_space_calls_applicable() -> None:
    env = coin()
    _, info = env.reset(seed=5)
    space = StateSpace(env.task)
    state = space.initial
    env.action_space.seed(5)
    for _ in range(20):
        assert info["action_mask"].dtype == np.int8
        assert info["action_mask"].tolist() == space.applicable([state])[0].astype(int).tolist()
        assert env.action_masks().tolist() == space.applicable([state])[0].tolist()
        action = env.action_space.sample(info["action_mask"])
        *_, info = env.step(action)
        if not space.is_goal([state])[0]:
            state = space.successor(state, int(action))
        assert env.model() == space.model(state)


def test_an_inapplicable_action_changes_nothing_by_default() -> None:
    env = coin()
    before, info = env.reset()
    action = int(np.flatnonzero(info["action_mask"] == 0)[0])
    after, reward, terminated, truncated, info = env.step(np.int64(action))
    assert data_equivalence(before, after, exact=True)
    assert (reward, terminated, truncated, info["invalid_action"]) == (-1.0, False, False, True)


def test_the_time_limit_truncates_and_can_be_chosen() -> None:
    env = make("epi/CoinInTheBox-v0", max_episode_steps=4)
    _, info = env.reset()
    useless = np.int64(np.flatnonzero(info["action_mask"] == 0)[0])
    assert [env.step(useless)[3] for _ in range(4)] == [False, False, False, True]


def test_a_goal_at_reset_is_reported_and_the_first_step_ends_the_episode() -> None:
    env = coin()
    _, info = env.reset(options={"goal": "tail"})
    assert info["is_goal"]
    before = env.model()
    _, reward, terminated, truncated, info = env.step(np.int64(np.flatnonzero(info["action_mask"])[0]))
    assert (reward, terminated, truncated, info["is_goal"]) == (-1.0, True, False, True)
    assert env.model() == before


def test_a_goal_may_be_given_at_reset_and_lasts_one_episode() -> None:
    env = coin()
    by_text = env.reset(options={"goal": "B(c, tail), looking_c"})
    by_parts = env.reset(options={"goal": [believes("c", fluent("tail")), "looking_c"]})
    assert data_equivalence(by_text, by_parts, exact=True)
    assert env.goal == (believes("c", fluent("tail")), fluent("looking_c"))
    for name in ("signal_a_c", "open_a", "peek_c"):
        *_, terminated, _, info = env.step(np.int64(env.action_names.index(name)))
    assert terminated
    assert info["is_goal"]
    env.reset()
    assert env.goal == env.task.goal


def test_an_episode_may_start_anywhere() -> None:
    env = coin()
    names = env.reset()[1]["action_names"]
    env.step(np.int64(names.index("signal_a_b")))
    met, model = env.state, env.model()
    for state in (met, np.int64(met), model, model.state):
        env.reset()
        env.reset(options={"state": state})
        assert (env.state, env.model()) == (met, model)


@pytest.mark.parametrize(
    "options", [7, {"gaol": "tail"}, {"goal": 3}, {"goal": ["tail", 3]}, {"state": 99}, {"state": True}]
)
def test_wrong_reset_options_are_refused(options: Any) -> None:
    with pytest.raises(EpigymError, match="reset option"):
        coin().reset(options=options)


def test_a_goal_or_state_of_another_task_is_refused() -> None:
    env = coin()
    with pytest.raises(TaskError, match="tial"):
        env.reset(options={"goal": fluent("tial")})
    other = StateSpace(load_problem("grapevine")).model(0)
    with pytest.raises(TaskError, match="other fluents or agents"):
        env.reset(options={"state": other})


@pytest.mark.parametrize("action", [-1, 21, 1.5, "open_a", None, True, np.bool_(False)])
def test_what_is_no_action_is_refused(action: Any) -> None:
    env = coin()
    env.reset()
    with pytest.raises(EpigymError, match="a whole number from 0 to 20"):
        env.step(action)


def test_cloning_and_restoring_replays_the_same_trajectory() -> None:
    env = coin()
    rollout(env, seed=2, steps=3)
    env.reset(options={"goal": "B(c, tail)"})
    env.step(np.int64(env.action_names.index("signal_a_c")))
    snapshot = env.clone_state()

    def onwards(some: EpistemicEnv) -> list[Any]:
        return [some.step(np.int64(action)) for action in (0, 5, 8)]

    first = onwards(env)
    env.reset()
    env.restore_state(snapshot)
    assert env.clone_state() == snapshot
    assert data_equivalence(onwards(env), first, exact=True)
    other = coin()
    other.reset()
    other.restore_state(pickle.loads(pickle.dumps(snapshot)))
    assert data_equivalence(onwards(other), first, exact=True)
    assert first[-1][2]


def test_a_dead_end_has_an_empty_mask_and_runs_on() -> None:
    text = """
        fluent p, q; agent a; action burn;
        executable burn if -p; burn causes p; a observes burn;
        initially -p; initially -q; initially C([a], -p); initially C([a], -q); goal q;
    """
    env = EpistemicEnv(parse_mastar(text))
    env.reset()
    *_, terminated, truncated, info = env.step(np.int64(0))
    assert not info["action_mask"].any()
    assert (terminated, truncated) == (False, False)
    *_, info = env.step(np.int64(0))
    assert info["invalid_action"]


def test_a_problem_file_becomes_an_environment(tmp_path: Path) -> None:
    path = tmp_path / "coin.txt"
    path.write_text(domains.write("coin_in_the_box/pl_3"))
    by_file = gymnasium.make("epi/Problem-v0", path=str(path))
    by_name = gymnasium.make("epi/CoinInTheBox-v0", instance="pl_3")
    assert data_equivalence(rollout(by_file, seed=1, steps=6), rollout(by_name, seed=1, steps=6), exact=True)


def test_rendering() -> None:
    assert coin().render() is None
    env = coin(render_mode="svg")
    assert env.render() == drawing.render_svg(env.model())
    pixels = coin(render_mode="rgb_array").render()
    assert (pixels.shape, pixels.dtype) == ((720, 960, 3), np.uint8)
