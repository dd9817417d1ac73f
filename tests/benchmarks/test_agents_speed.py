"""Turns per second when agents act themselves; run by hand: `pytest tests/benchmarks/test_agents_speed.py`.

Agents take random actions that they believe applicable, and observe at every turn. New perspectives cost most, so an
environment that has met its e-states is measured beside one that has not, and the central planner's beside both.
"""

from collections.abc import Callable
from typing import Any

import gymnasium
import numpy as np
import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from epigym import EpistemicAECEnv, EpistemicParallelEnv

PROBLEMS = {"CoinInTheBox": "pl_5", "Grapevine": "3_pl_4", "Gossip": None}
TURNS = 1000
ROUNDS = 5


def central(domain: str) -> gymnasium.Env[Any, Any]:
    return gymnasium.make(f"epi/{domain}-v0", instance=PROBLEMS[domain], max_episode_steps=TURNS)


def agents_turns(env: EpistemicAECEnv) -> None:
    """Play random episodes."""
    random = np.random.default_rng(0)
    env.reset()
    for _ in range(TURNS):
        _, _, terminated, truncated, info = env.last()
        if terminated or truncated:
            env.reset()
            *_, info = env.last()
        env.step(random.choice(np.flatnonzero(info["action_mask"])))


def central_turns(env: gymnasium.Env[Any, Any]) -> None:
    """The same with one planner for all."""
    random = np.random.default_rng(0)
    _, info = env.reset()
    for _ in range(TURNS):
        allowed = np.flatnonzero(info["action_mask"])
        *_, terminated, truncated, info = env.step(random.choice(allowed) if len(allowed) else np.int64(0))
        if terminated or truncated:
            _, info = env.reset()


def rounds(env: EpistemicParallelEnv) -> None:
    """The same where all agents choose at once; each choice is a turn."""
    random, turns = np.random.default_rng(0), 0
    _, infos = env.reset()
    while turns < TURNS:
        if not env.agents:
            _, infos = env.reset()
        turns += len(env.agents)
        *_, infos = env.step({name: random.choice(np.flatnonzero(infos[name]["action_mask"])) for name in env.agents})


def text_turns(env: gymnasium.Env[str, str]) -> None:
    """The same in English, by the names of actions."""
    random, names = np.random.default_rng(0), env.unwrapped.central.action_names
    _, info = env.reset()
    for _ in range(TURNS):
        allowed = np.flatnonzero(info["action_mask"])
        *_, terminated, truncated, info = env.step(names[random.choice(allowed)] if len(allowed) else "wait")
        if terminated or truncated:
            _, info = env.reset()


WAYS: dict[str, tuple[Callable[[Any], None], Callable[[Any], Any]]] = {
    "agents, e-states new": (agents_turns, EpistemicAECEnv),
    "agents, e-states met before": (agents_turns, EpistemicAECEnv),
    "central planner": (central_turns, lambda env: env),
    "agents at once": (rounds, EpistemicParallelEnv),
    "text": (text_turns, lambda env: gymnasium.make("epi/Text-v0", problem=env, max_episode_steps=TURNS)),
}


@pytest.mark.parametrize("domain", PROBLEMS)
@pytest.mark.parametrize("way", WAYS)
def test_turns(way: str, domain: str, benchmark: BenchmarkFixture, lines: list[str]) -> None:
    play, make = WAYS[way]
    if way == "text":
        if not PROBLEMS[domain]:
            pytest.skip("text has instances only")
        env = make({"CoinInTheBox": "coin_in_the_box", "Grapevine": "grapevine"}[domain] + f"/{PROBLEMS[domain]}")
        benchmark.pedantic(play, args=(env,), rounds=ROUNDS, warmup_rounds=1)
    elif way.endswith("new"):
        benchmark.pedantic(play, setup=lambda: ((make(central(domain)),), {}), rounds=ROUNDS)
    else:
        benchmark.pedantic(play, args=(make(central(domain)),), rounds=ROUNDS, warmup_rounds=1)
    lines.append(f"{domain}: {way:28s} {TURNS / benchmark.stats.stats.median:9,.0f} turns/s")
