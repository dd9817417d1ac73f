"""Train a reinforcement learner on an environment: `python -m learn.ppo`.

An example of epigym with another library: MaskablePPO of sb3-contrib (`pip install "epigym[rl]"`), which knows
neither graph observations nor epistemic states. `PaddedObservation` gives it arrays, a small graph network
reads them, and the environment's `action_masks` keep it to applicable actions.
"""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any, cast

import gymnasium
import numpy as np
import torch
from omegaconf import DictConfig, OmegaConf
from torch import Tensor, nn
from torch_geometric.nn import GINEConv, global_mean_pool

import epigym
from epigym.envs.env import EpistemicEnv
from epigym.errors import EpigymError
from epigym.walks import breadth_first
from learn.command import run

try:
    from sb3_contrib import MaskablePPO
    from stable_baselines3.common.env_util import make_vec_env
    from stable_baselines3.common.torch_layers import BaseFeaturesExtractor
except ModuleNotFoundError as error:
    raise ModuleNotFoundError('learn.ppo needs sb3-contrib: pip install "epigym[rl]"') from error

logger = logging.getLogger(__name__)


class GraphFeatures(BaseFeaturesExtractor):
    """Padded graphs to one vector each: two GINE layers and the mean over the nodes.

    Args:
        observation_space: the space of `epigym.PaddedObservation`.
        size: length of the vector and width of the layers.
    """

    def __init__(self, observation_space: gymnasium.spaces.Dict, size: int = 64) -> None:
        """Make the layers for identifiers as wide as the observations'."""
        super().__init__(observation_space, size)
        self.nodes = nn.Sequential(
            nn.Linear(cast(gymnasium.spaces.Box, observation_space["nodes"]).shape[1], size), nn.ReLU()
        )
        self.layers = nn.ModuleList(
            GINEConv(nn.Sequential(nn.Linear(size, size), nn.ReLU(), nn.Linear(size, size)), edge_dim=1)
            for _ in range(2)
        )

    def forward(self, observations: dict[str, Tensor]) -> Tensor:
        """The vectors float32[k, size] of k padded graphs."""
        is_node, is_edge = observations["node_mask"].bool(), observations["edge_mask"].bool()
        count, padded = is_node.shape
        position = is_node.flatten().cumsum(0) - 1
        links = observations["edge_links"].long() + padded * torch.arange(count)[:, None, None]
        edge_index = position[links[is_edge]].T
        labels = observations["edges"][is_edge][:, None] / 255
        x = self.nodes(observations["nodes"][is_node])
        for layer in self.layers:
            x = torch.relu(layer(x, edge_index, labels))
        return cast(Tensor, global_mean_pool(x, is_node.nonzero()[:, 0], count))


def train(config: DictConfig) -> dict[str, float]:
    """Train as `conf/ppo.yaml` describes and compare with the shortest plan.

    Returns:
        `return`: of the episode that the trained agent plays; `optimum`: minus the length of a shortest plan.

    Raises:
        EpigymError: when there is no such environment or problem.
    """
    values = cast(dict[str, Any], OmegaConf.to_container(config, resolve=True))
    torch.set_num_threads(1)

    def make() -> epigym.PaddedObservation:
        env = gymnasium.make(values["env"], max_episode_steps=values["max_episode_steps"], **values["problem"])
        return epigym.PaddedObservation(env, **values["padding"])

    agent = MaskablePPO(
        "MultiInputPolicy",
        make_vec_env(make, n_envs=values["envs"], seed=values["seed"]),
        policy_kwargs={"features_extractor_class": GraphFeatures, "net_arch": [64]},
        seed=values["seed"],
        device="cpu",
        **values["ppo"],
    )
    agent.learn(values["steps"], progress_bar=values["progress"])
    agent.save(Path(values["run_dir"], "agent.zip"))
    result = {"return": play(agent, make()), "optimum": float(-shortest_plan(cast(EpistemicEnv, make().unwrapped)))}
    logger.info("the agent's return is %.0f, the best possible one %.0f", result["return"], result["optimum"])
    return result


def play(agent: MaskablePPO, env: epigym.PaddedObservation) -> float:
    """The return of one episode with the most probable actions."""
    observation, info = env.reset(seed=0)
    total, done = 0.0, False
    while not done:
        action, _ = agent.predict(observation, action_masks=info["action_mask"].astype(bool), deterministic=True)
        observation, reward, terminated, truncated, info = env.step(np.int64(action))
        logger.info("%s", info["action_names"][int(action)])
        total += float(reward)
        done = terminated or truncated
    return total


def shortest_plan(env: EpistemicEnv) -> int:
    """The length of a shortest plan, by breadth-first search; 1 where the goal holds at once."""
    space = env.space
    if space.is_goal([space.initial])[0]:
        return 1
    for wave in breadth_first(space):
        if space.is_goal(wave.transitions.target).any():
            return wave.depth + 1
    raise EpigymError(f"the problem {env.task.name!r} has no plan")


if __name__ == "__main__":
    run(train, "ppo")
