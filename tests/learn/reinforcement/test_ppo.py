"""A stock reinforcement learner learns an environment to the optimal return."""

from __future__ import annotations

import csv
import logging
from pathlib import Path

import gymnasium
import pytest
import torch

import epigym
from learn.ppo import Ppo, train
from tests.helpers.commands import composed

ppo = pytest.importorskip("learn.reinforcement.reinforcement", exc_type=ModuleNotFoundError)


def test_the_trained_agent_plays_a_shortest_plan(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    overrides = ["problem.instance=pl_3", "steps=6000", "progress=false", f"run_dir={tmp_path}"]
    with caplog.at_level(logging.INFO):
        train(composed(Ppo, "ppo", *overrides))
    assert "the agent's return is -3, the best possible one -3" in caplog.text
    assert (tmp_path / "agent.zip").exists()
    with (tmp_path / "curve" / "progress.csv").open() as file:
        returns = [float(row["rollout/ep_rew_mean"]) for row in csv.DictReader(file)]
    assert len(returns) == 12  # one for each rollout of 8 × 64 steps
    assert returns[-1] > returns[0]


def test_padding_does_not_change_the_features() -> None:
    env = gymnasium.make("epi/CoinInTheBox-v0")
    narrow, wide = (epigym.PaddedObservation(env, max_nodes=n, max_edges=8 * n) for n in (20, 90))
    features = ppo.GraphFeatures(narrow.observation_space)
    found = []
    for padded in (narrow, wide):
        graphs = [padded.reset()[0], padded.reset(options={"goal": "B(b, tail)"})[0]]
        batch = {key: torch.stack([torch.from_numpy(graph[key]).float() for graph in graphs]) for key in graphs[0]}
        found.append(features(batch))
    assert found[0].shape == (2, 64)
    assert torch.allclose(found[0], found[1], atol=1e-6)
    assert not torch.allclose(found[0][0], found[0][1])


@pytest.mark.parametrize(("instance", "length"), [("pl_2", 2), ("pl_3", 3), ("pl_5", 5), ("pl_6", 6)])
def test_the_optimum_is_the_length_of_a_shortest_plan(instance: str, length: int) -> None:
    env = gymnasium.make("epi/CoinInTheBox-v0", instance=instance)
    assert ppo.shortest_plan(env.unwrapped) == length
