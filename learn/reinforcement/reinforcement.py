"""A stock reinforcement learner on an environment.

An example of epigym with another library: MaskablePPO of sb3-contrib (`pip install "epigym[rl]"`), which knows
neither graph observations nor epistemic states. `PaddedObservation` gives it arrays, a small graph network
reads them, and the environment's `action_masks` keep it to applicable actions.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, cast

import gymnasium
import numpy as np
import torch
from sb3_contrib import MaskablePPO
from stable_baselines3.common.env_util import make_vec_env
from stable_baselines3.common.logger import configure
from stable_baselines3.common.torch_layers import BaseFeaturesExtractor
from torch import Tensor, nn
from torch_geometric.nn import GINEConv, global_mean_pool

import epigym
from epigym.envs.env import EpistemicEnv
from epigym.errors import EpigymError, UsageError
from epigym.space.traversal import breadth_first

logger = logging.getLogger(__name__)


class GraphFeatures(BaseFeaturesExtractor):
    """Padded graphs to one vector each: two GINE layers and the mean over the nodes.

    Args:
        observation_space: the space of `epigym.PaddedObservation`.
        size: length of the vector and width of the layers.
    """

    def __init__(self, observation_space: gymnasium.spaces.Dict, size: int = 64) -> None:
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


def train(
    make: Callable[[], epigym.PaddedObservation],
    agent: Mapping[str, Any],
    path: Path,
    *,
    envs: int,
    steps: int,
    seed: int,
    progress: bool,
) -> dict[str, float]:
    """Train an agent, keep it, and compare it with the shortest plan.

    Args:
        make: makes the environment.
        agent: arguments of `MaskablePPO`.
        path: where the agent is kept; its learning curve goes beside it, to `curve/progress.csv`.
        envs: number of environments that play side by side.
        steps: of all environments together.
        seed: of the agent and the environments.
        progress: whether to show a progress bar.

    Returns:
        `return`: of the episode that the trained agent plays; `optimum`: minus the length of a shortest plan.

    Raises:
        EpigymError: when the environment cannot be made, or the agent does not take its arguments.
    """
    torch.set_num_threads(1)
    try:
        learner = MaskablePPO(
            "MultiInputPolicy",
            make_vec_env(make, n_envs=envs, seed=seed),
            policy_kwargs={"features_extractor_class": GraphFeatures, "net_arch": [64]},
            seed=seed,
            device="cpu",
            **agent,
        )
    except (AssertionError, TypeError, ValueError, gymnasium.error.Error) as error:
        raise UsageError(f"env, problem or ppo: {error}") from error
    learner.set_logger(configure(str(path.parent / "curve"), ["csv"]))
    learner.learn(steps, progress_bar=progress)
    learner.save(path)
    return {"return": play(learner, make()), "optimum": float(-shortest_plan(cast(EpistemicEnv, make().unwrapped)))}


def play(agent: MaskablePPO, env: epigym.PaddedObservation) -> float:
    """The return of one episode with the most probable actions."""
    observation, info = env.reset(seed=0)
    total, done = 0.0, False
    while not done:
        action, _ = agent.predict(observation, action_masks=info["action_mask"].astype(bool), deterministic=True)
        observation, reward, terminated, truncated, info = env.step(np.int64(action))
        logger.info("%s", cast(EpistemicEnv, env.unwrapped).action_names[int(action)])
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
