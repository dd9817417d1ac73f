"""Steps of vector environments; run by hand: `pytest tests/benchmarks/test_vector.py`.

Random allowed actions from a fixed seed; graphs, masks and the other information are made in every step, while
choosing actions is not timed. CartPole-v1 of Gymnasium, which has none of these, is there to compare machines. Each
figure is the fastest of five times. Figures are printed, not asserted.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import gymnasium
import numpy as np
import pytest
from pytest_benchmark.fixture import BenchmarkFixture

import epigym

IDS = ("epi/Grapevine-v0", "epi/CoinInTheBox-v0", "epi/Gossip-v0", "CartPole-v1")
SIZES = (1, 8, 64, 512)
ROUNDS = 5
STEPS = 1_600  # of all environments together, in each round


@dataclass
class Figures:
    """Steps in a second by environment and number of environments."""

    speed: dict[tuple[str, int], float] = field(default_factory=dict)

    def __str__(self) -> str:
        lines = ["", "| steps/s | " + " | ".join(map(str, SIZES)) + " |", "| --- |" + " --: |" * len(SIZES)]
        for name in dict.fromkeys(name for name, _ in self.speed):
            cells = [f"{self.speed[name, size]:,.0f}" if (name, size) in self.speed else "" for size in SIZES]
            lines.append(f"| {name} | " + " | ".join(cells) + " |")
        return "\n".join(lines)


@pytest.fixture(scope="module")
def figures(pytestconfig: pytest.Config) -> Iterator[Figures]:
    """Collects the figures on one core and prints them at the end."""
    cores = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(cores)})
    collected = Figures()
    yield collected
    os.sched_setaffinity(0, cores)
    with pytestconfig.pluginmanager.getplugin("capturemanager").global_and_fixture_disabled():
        print(collected)


@pytest.mark.parametrize("random_goals", [False, True])
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("name", IDS)
def test_steps(benchmark: BenchmarkFixture, figures: Figures, name: str, size: int, random_goals: bool) -> None:
    is_ours = name.startswith(f"{epigym.__name__[:3]}/")
    if random_goals and not is_ours:
        pytest.skip("it has no goals")
    arguments: dict[str, Any] = {"random_goals": True} if random_goals else {}
    envs = gymnasium.make_vec(name, size, "vector_entry_point", **arguments)
    _, infos = envs.reset(seed=0)
    rng = np.random.default_rng(0)

    def actions() -> Any:
        mask = infos["action_mask"] if is_ours else np.ones((size, 2))
        return (rng.random(mask.shape) * mask).argmax(axis=1)

    def step(chosen: Any) -> None:
        nonlocal infos
        *_, infos = envs.step(chosen)

    count = max(STEPS // size, 10)
    benchmark.pedantic(step, setup=lambda: ((actions(),), {}), rounds=ROUNDS * count, warmup_rounds=count)
    times = np.array(benchmark.stats.stats.data).reshape(ROUNDS, count).sum(axis=1)
    figures.speed[name + (", random goals" if random_goals else ""), size] = size * count / times.min()
