"""Steps of vector environments; run by hand: `pytest tests/benchmarks/test_vector.py`.

Random allowed actions from a fixed seed; graphs, masks and the other information are made in every step, while
choosing actions is not timed. CartPole-v1 of Gymnasium, which has none of these, is there to compare machines. Each
figure is the best of some rounds, of the clock and of the processor, which differ on a machine that is busy. Figures
are printed, not asserted.
"""

import time
from typing import Any

import gymnasium
import numpy as np
import pytest
from pytest_benchmark.fixture import BenchmarkFixture

OURS = ("epi/Grapevine-v0", "epi/CoinInTheBox-v0", "epi/Gossip-v0")
SIZES = (1, 8, 64, 512)
ROUNDS = 4  # the first of them to warm up
STEPS = 1_600  # of all environments together, in each round


@pytest.mark.usefixtures("one_core")
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize(
    ("name", "random_goals"), [*((name, sampled) for sampled in (False, True) for name in OURS), ("CartPole-v1", False)]
)
def test_steps(benchmark: BenchmarkFixture, lines: list[str], name: str, random_goals: bool, size: int) -> None:
    arguments: dict[str, Any] = {"random_goals": True} if random_goals else {}
    envs = gymnasium.make_vec(name, size, "vector_entry_point", **arguments)
    clock, processor = benchmark.pedantic(steps_in_a_second, (envs, max(STEPS // size, 10)), rounds=1)
    label = name + (", random goals" if random_goals else "")
    lines.append(
        f"{label:30s} {size:4d} {clock:12,.0f} steps in a second of the clock {processor:12,.0f} of the processor"
    )


def steps_in_a_second(envs: Any, count: int) -> tuple[float, float]:
    """The best rounds of `count` steps of all environments: steps in a second of the clock and of the processor."""
    _, infos = envs.reset(seed=0)
    rng = np.random.default_rng(0)
    rounds = np.zeros((ROUNDS, 2))
    for seconds in rounds:
        for _ in range(count):
            mask = infos.get("action_mask", np.ones((envs.num_envs, 2)))
            actions = (rng.random(mask.shape) * mask).argmax(axis=1)
            start = np.array([time.perf_counter(), time.process_time()])
            *_, infos = envs.step(actions)
            seconds += np.array([time.perf_counter(), time.process_time()]) - start
    clock, processor = count * envs.num_envs / rounds[1:].min(axis=0)
    return clock, processor
