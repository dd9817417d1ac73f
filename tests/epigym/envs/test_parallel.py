"""The agents' environment in which all choose at once: its rule, and what PettingZoo asks of it."""

import warnings
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import data_equivalence
from hypothesis import given
from hypothesis import strategies as st
from pettingzoo.test import parallel_api_test, parallel_seed_test
from sb3_contrib import MaskablePPO

import epigym
from epigym import EpigymError, EpistemicEnv, EpistemicParallelEnv
from epigym.envs.aec import WAIT
from epigym.language import parse_mastar


def make(rounds: int = 100, *, padded: bool = False, **arguments: Any) -> EpistemicParallelEnv:
    env = gymnasium.make("epi/CoinInTheBox-v0", instance="pl_3", **arguments)
    return EpistemicParallelEnv(
        epigym.PaddedObservation(env, max_nodes=64, max_edges=512) if padded else env, max_rounds=rounds
    )


def choose(env: EpistemicParallelEnv, **names: str) -> dict[str, int]:
    """The actions of these names; the other agents wait."""
    own = env.turns.action_names
    return {agent: own[agent].index(names.get(agent, "wait")) for agent in env.agents}


@pytest.mark.parametrize("padded", [False, True])
def test_pettingzoo_accepts_it(padded: bool) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # names of agents and graph spaces, as in the AEC environment
        parallel_api_test(make(padded=padded, rounds=20), num_cycles=100)
        parallel_seed_test(lambda: make(padded=padded, rounds=20), num_cycles=30)


def test_actions_of_a_round_are_applied_in_the_order_of_agents() -> None:
    env = EpistemicParallelEnv(EpistemicEnv(parse_mastar(COPY)), actors={"light": "a", "copy": "b"})
    observations, infos = env.reset()
    assert list(observations) == list(infos) == env.possible_agents == ["a", "b"]
    _, rewards, terminations, truncations, infos = env.step({"b": 1, "a": 1})
    assert env.turns.central.model().holds("lit, copied")  # copied after the lamp was lit
    assert rewards == dict.fromkeys("ab", -1.0)
    assert terminations == dict.fromkeys("ab", True)
    assert truncations == dict.fromkeys("ab", False)
    assert not any(info["failed"] or info["invalid_action"] for info in infos.values())


COPY = """
fluent lit, copied;
action light, copy;
agent a, b;
executable light if -lit;
executable copy;
light causes lit;
copy causes copied if lit;
a observes light;
b observes light;
a observes copy;
b observes copy;
initially -lit, -copied;
initially C([a,b], -lit), C([a,b], -copied);
goal copied;
"""


def test_what_an_earlier_action_makes_inapplicable_fails_and_changes_nothing() -> None:
    env = EpistemicParallelEnv(EpistemicEnv(parse_mastar(RACE)), actors={"take_a": "a", "take_b": "b"})
    _, infos = env.reset()
    assert all(info["action_mask"].tolist() == [1, 1] for info in infos.values())
    _, _, terminations, _, infos = env.step({"a": 1, "b": 1})
    assert (infos["a"]["failed"], infos["b"]["failed"]) == (False, True)
    assert env.turns.central.model().holds("a_has, -b_has")
    assert not any(terminations.values())


RACE = """
fluent lies, a_has, b_has;
action take_a, take_b;
agent a, b;
executable take_a if lies;
executable take_b if lies;
take_a causes a_has, -lies;
take_b causes b_has, -lies;
a observes take_a;
a observes take_b;
b observes take_a;
b observes take_b;
initially lies, -a_has, -b_has;
initially C([a,b], lies), C([a,b], -a_has), C([a,b], -b_has);
goal b_has;
"""


def test_invalid_actions_wait_or_are_refused() -> None:
    env = make()
    env.reset()
    state = env.turns.central.state
    _, _, _, _, infos = env.step(choose(env, b="peek_b"))  # the box is closed
    assert infos["b"]["invalid_action"]
    assert env.turns.central.state == state
    strict = make(invalid_action="error")
    strict.reset()
    with pytest.raises(EpigymError, match="agent 'b' does not believe that 'peek_b' is applicable"):
        strict.step(choose(strict, a="open_a", b="peek_b"))
    assert strict.turns.central.state == state  # nothing of the round was applied


def test_episodes_end_for_all_agents() -> None:
    env = make(rounds=2)
    env.reset(options={"goal": "opened"})
    _, _, terminations, truncations, _ = env.step(choose(env, a="open_a"))
    assert terminations == dict.fromkeys("abc", True)
    assert truncations == dict.fromkeys("abc", False)
    assert env.agents == []
    with pytest.raises(EpigymError, match="call reset first"):
        env.step({})
    env.reset()
    assert not any(env.step(dict.fromkeys("abc", WAIT))[3].values())
    assert env.step(dict.fromkeys("abc", WAIT))[3] == dict.fromkeys("abc", True)


def test_every_agent_needs_an_action() -> None:
    env = make()
    env.reset()
    with pytest.raises(EpigymError, match="agent 'c' has no action"):
        env.step({"a": 0, "b": 0})
    with pytest.raises(EpigymError, match="unknown agent 'd'"):
        env.step({"a": 0, "b": 0, "c": 0, "d": 0})


ROUNDS, TURNS = make(), make().turns


class OneAgent(gymnasium.Env[Any, Any]):
    """The environment of one agent, in which the others follow their policies."""

    def __init__(self, env: EpistemicParallelEnv, agent: str, policies: dict[str, MaskablePPO]) -> None:
        self.env, self.agent, self.policies = env, agent, policies
        self.observation_space, self.action_space = env.observation_space(agent), env.action_space(agent)

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, Any]:
        super().reset(seed=seed)
        self.seen, self.infos = self.env.reset(seed=seed, options={"goal": "B(b, tail) | B(b, -tail)"})
        return self.seen[self.agent], {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, Any]:
        choices = {
            agent: self.policies[agent].predict(self.seen[agent], action_masks=self.infos[agent]["action_mask"])[0]
            for agent in self.env.agents if agent != self.agent
        }  # fmt: skip
        self.seen, rewards, terminations, truncations, self.infos = self.env.step(choices | {self.agent: action})
        one = self.agent
        return self.seen[one], rewards[one], terminations[one], truncations[one], {}

    def action_masks(self) -> Any:
        return self.infos[self.agent]["action_mask"]


@pytest.mark.slow
def test_independent_learners_of_a_stock_library_improve() -> None:
    """Each agent learns with the others' current policies around it (independent PPO)."""
    policies: dict[str, MaskablePPO] = {}
    envs = {agent: OneAgent(make(20, padded=True), agent, policies) for agent in "abc"}
    for agent, env in envs.items():
        policies[agent] = MaskablePPO("MultiInputPolicy", env, n_steps=64, batch_size=64, seed=0, device="cpu")

    def rounds() -> float:
        """Mean number of rounds of an episode."""
        env, steps = envs["a"], 0
        for seed in range(20):
            env.reset(seed=seed)
            over = False
            while not over:
                action, _ = policies["a"].predict(env.seen["a"], action_masks=env.action_masks())
                _, _, terminated, truncated, _ = env.step(action)
                over, steps = terminated or truncated, steps + 1
        return steps / 20

    before = rounds()
    for _ in range(4):
        for policy in policies.values():
            policy.learn(128, reset_num_timesteps=False)
    assert rounds() < 0.7 * before


@given(st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 10_000)), max_size=12))
def test_one_agent_a_round_is_the_environment_with_turns(choices: list[tuple[str, int]]) -> None:
    """Rounds in which one agent acts and the others wait lead where its turns lead."""
    env, turns, never = ROUNDS, TURNS, {"goal": "tail, -tail"}
    env.reset(options=never)
    turns.reset(options=never)
    for agent, choice in choices:
        valid = np.flatnonzero(env.turns.action_mask(agent))
        action = int(valid[choice % len(valid)])
        observations, *_ = env.step(dict.fromkeys("abc", WAIT) | {agent: action})
        for each in "abc":
            turns.step(action if each == agent else WAIT)
        assert env.turns.central.model() == turns.central.model()
        assert all(data_equivalence(seen, turns.observe(each)) for each, seen in observations.items())
