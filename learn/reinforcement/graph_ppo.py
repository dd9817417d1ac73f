"""Proximal policy optimisation on graphs: the whole algorithm in one module.

J. Schulman et al., "Proximal Policy Optimization Algorithms", 2017, with the mask of S. Huang and S. Ontañón, "A Closer
Look at Invalid Action Masking in Policy Gradient Algorithms", 2022: actions that are not allowed have probability 0.
Rewards of -1 are multiplied by 1 - gamma, so that values lie between -1 and 0.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, NamedTuple, cast

import numpy as np
import torch
from gymnasium.vector import AutoresetMode
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.distributions import Categorical
from torch_geometric.nn import global_mean_pool

from epigym.encoding.encoder import as_batch, require_identifiers
from epigym.encoding.identifiers import NODE_TYPES
from epigym.encoding.pyg import GOAL_EDGE, to_pyg
from epigym.envs.vector import EpistemicVectorEnv
from epigym.errors import EpigymError
from epigym.space.rows import GraphBatch, join
from learn.models.gine.network import make_two_layers
from learn.reinforcement.options import Hyperparameters

_FORMULA = len(NODE_TYPES)
_KINDS = len(NODE_TYPES) + 1
Floats = NDArray[np.float32]


class GraphPolicy(nn.Module):
    """A network from graphs to the logits of all actions and a value: messages along typed edges, pooled by node type.

    Messages go from the end of an edge to its start: a world receives messages from the worlds that an agent considers
    possible there, a formula from its parts. Each round also sends the means over all nodes of each type to every node,
    so that worlds receive the goal. A formula is represented by its parts; its number as a node is left out.

    Args:
        n_actions: number of actions.
        n_agents: number of agents.
        width: bits of a node identifier.
        size: of all hidden layers.
        layers: number of rounds of messages.
    """

    def __init__(self, n_actions: int, n_agents: int, *, width: int = 64, size: int = 64, layers: int = 3) -> None:
        super().__init__()
        self.identifiers = make_two_layers(width, size, size)
        nn.init.normal_(cast(nn.Linear, self.identifiers[0]).weight)  # goals may differ in one bit
        self.node_types = nn.Embedding(_KINDS, size)
        self.rounds = nn.ModuleList(_Round(GOAL_EDGE + 1 + n_agents, size) for _ in range(layers))
        self.logits = make_two_layers(_KINDS * size, 2 * size, n_actions)
        self.value = make_two_layers(_KINDS * size, 2 * size, 1)

    def forward(self, graphs: Any) -> tuple[Tensor, Tensor]:
        """The logits float32[k, n_actions] and values float32[k] of k graphs, as `epigym.to_pyg` gives them."""
        starts, ends = graphs.edge_index
        kinds = graphs.node_type.masked_fill(formulas := _find_formulas(graphs), _FORMULA)
        x = self.identifiers(graphs.x.masked_fill(formulas[:, None], 0)) + self.node_types(kinds)
        groups, count = graphs.batch * _KINDS + kinds, graphs.num_graphs

        def means() -> Tensor:
            return cast(Tensor, global_mean_pool(x, groups, count * _KINDS).view(count, -1))

        for layer in self.rounds:
            x = layer(x, starts, ends, graphs.edge_type, means(), graphs.batch)
        pooled = means()
        return self.logits(pooled), self.value(pooled)[:, 0]

    def choose(self, graphs: GraphBatch, masks: NDArray[np.bool_]) -> NDArray[np.int64]:
        """int64[k]: the most probable allowed actions; masks are bool[k, n_actions]."""
        with torch.no_grad():
            logits, _ = self(to_pyg(graphs))
        return cast(NDArray[np.int64], make_distribution(logits, torch.from_numpy(masks)).logits.argmax(dim=1).numpy())


class _Round(nn.Module):
    """One round of messages, a linear map for each type of edge."""

    def __init__(self, n_types: int, size: int) -> None:
        super().__init__()
        self.n_types = n_types
        self.messages = nn.Linear(size, n_types * size, bias=False)
        self.everywhere = nn.Linear(_KINDS * size, size)
        self.own = nn.Linear(size, size)
        self.update = nn.Linear(size, size)
        self.norm = nn.LayerNorm(size)

    def forward(self, x: Tensor, starts: Tensor, ends: Tensor, types: Tensor, means: Tensor, of: Tensor) -> Tensor:
        sent = self.messages(x).view(-1, x.shape[1]).index_select(0, ends * self.n_types + types)
        heard = (self.own(x) + self.everywhere(means).index_select(0, of)).index_add(0, starts, sent)
        return cast(Tensor, self.norm(x + self.update(heard.relu())))


class Rollout(NamedTuple):
    """T steps of n environments, one step after the other.

    Attributes:
        graphs: T × n graphs.
        masks: bool[T × n, n_actions].
        actions: int64[T × n].
        log_probs: float32[T × n], of the actions when they were chosen.
        values: float32[T × n].
        advantages: float32[T × n].
        returns: the returns of the episodes that ended.
    """

    graphs: GraphBatch
    masks: Tensor
    actions: Tensor
    log_probs: Tensor
    values: Tensor
    advantages: Tensor
    returns: list[float]


def make_distribution(logits: Tensor, masks: Tensor) -> Any:
    """The `Categorical` over allowed actions; over all of them where none is allowed, where none changes anything.

    Args:
        logits: float32[k, n_actions].
        masks: bool[k, n_actions].
    """
    possible = masks | ~masks.any(dim=1, keepdim=True)
    return Categorical(logits=logits.masked_fill(~possible, torch.finfo(logits.dtype).min))


def estimate_advantages(
    rewards: Floats, values: Floats, ended: NDArray[np.bool_], *, gamma: float, trace: float
) -> Floats:
    """Generalised advantage estimation.

    Args:
        rewards: float32[T, n].
        values: float32[T + 1, n], of the e-states before each step and after the last one.
        ended: bool[T, n], whether an episode ended with the step.
        gamma: discount of the reward of the next step.
        trace: λ of generalized advantage estimation, from values (0) to rewards (1).

    Returns:
        float32[T, n]: sums of (gamma × trace)^k δ(t + k) up to the end of the episode, where
        δ(t) = reward(t) + gamma × value(t + 1) − value(t), without value(t + 1) where the episode ended.
    """
    goes_on = 1 - ended.astype(np.float32)
    result, following = np.zeros_like(rewards), np.zeros_like(rewards[0])
    for step in reversed(range(len(rewards))):
        delta = rewards[step] + gamma * values[step + 1] * goes_on[step] - values[step]
        result[step] = following = delta + gamma * trace * goes_on[step] * following
    return result


def train(
    envs: EpistemicVectorEnv, choices: Hyperparameters, *, steps: int, seed: int
) -> Iterator[tuple[GraphPolicy, dict[str, float]]]:
    """Train a policy; the same seed gives the same numbers on a CPU.

    Args:
        envs: environments that start the next episode in the same step and have a time limit.
        choices: of the algorithm.
        steps: of all environments together, rounded up to whole rollouts.
        seed: of the weights, the actions and the environments.

    Yields:
        After each rollout, the policy, which is trained further, and a row of the learning curve: `steps` so far, mean
        `return` of the episodes that ended (NaN without one), `entropy`, `policy_loss`, `value_loss`.

    Raises:
        EpigymError: when the environments are others, or have observations without identifiers.
    """
    if envs.autoreset_mode is not AutoresetMode.SAME_STEP or envs.max_episode_steps is None:
        raise EpigymError("PPO needs environments with autoreset_mode='SameStep' and max_episode_steps")
    torch.manual_seed(seed)
    width = require_identifiers(envs.single.encoding).width
    policy = GraphPolicy(
        len(envs.action_names), len(envs.task.agents), width=width, size=choices.size, layers=choices.layers
    )
    optimizer = torch.optim.Adam(policy.parameters(), lr=choices.learning_rate, eps=1e-5)
    player = _Player(envs, policy, seed)
    updates = math.ceil(steps / (choices.rollout * envs.num_envs))
    for update in range(updates):
        left = 1 - update / updates
        for group in optimizer.param_groups:
            group["lr"] = choices.learning_rate * left
        rollout = player.play(choices)
        losses = _improve(policy, optimizer, rollout, replace(choices, entropy=choices.entropy * left))
        mean = float(np.mean(rollout.returns)) if rollout.returns else math.nan
        yield policy, {"steps": (update + 1) * choices.rollout * envs.num_envs, "return": mean, **losses}


class _Player:
    """Plays episodes; each rollout continues where the last one stopped."""

    def __init__(self, envs: EpistemicVectorEnv, policy: GraphPolicy, seed: int) -> None:
        self.envs = envs
        self.policy = policy
        self.graphs, self.infos = envs.reset(seed=seed)
        self.so_far = np.zeros(envs.num_envs)

    def play(self, choices: Hyperparameters) -> Rollout:
        steps, returns = list[tuple[Any, ...]](), list[float]()
        for _ in range(choices.rollout):
            graphs, masks = self.graphs, torch.from_numpy(self.infos["action_mask"].astype(np.bool_))
            with torch.no_grad():
                logits, values = self.policy(to_pyg(graphs))
                distribution = make_distribution(logits, masks)
                actions = distribution.sample()
            self.graphs, rewards, terminated, truncated, self.infos = self.envs.step(actions.numpy())
            ended = terminated | truncated
            self.so_far += rewards
            returns += self.so_far[ended].tolist()
            self.so_far[ended] = 0
            scaled = ((1 - choices.gamma) * rewards).astype(np.float32)
            if (cut := truncated & ~terminated).any():  # the value of the last e-state replaces the rest of the episode
                scaled[cut] += choices.gamma * self._values(join([as_batch(g) for g in self.infos["final_obs"][cut]]))
            steps.append((graphs, masks, actions, distribution.log_prob(actions), values, scaled, ended))
        columns: Any = zip(*steps, strict=True)
        played, *tensors, values, rewards, ended = columns
        gains = estimate_advantages(
            np.stack(rewards),
            np.stack([*(each.numpy() for each in values), self._values(self.graphs)]),
            np.stack(ended),
            gamma=choices.gamma,
            trace=choices.trace,
        )
        masks, actions, log_probs, values = map(torch.cat, (*tensors, values))
        return Rollout(join(played), masks, actions, log_probs, values, torch.from_numpy(gains.ravel()), returns)

    def _values(self, graphs: GraphBatch) -> Floats:
        with torch.no_grad():
            return cast(Floats, self.policy(to_pyg(graphs))[1].numpy())


def _improve(
    policy: GraphPolicy, optimizer: torch.optim.Optimizer, rollout: Rollout, choices: Hyperparameters
) -> dict[str, float]:
    """Train for some epochs on a rollout; returns the means of entropy and losses over its minibatches."""
    seen: list[tuple[float, float, float]] = []
    targets = rollout.values + rollout.advantages
    for _ in range(choices.epochs):
        for some in torch.randperm(len(rollout.actions)).chunk(choices.minibatches):
            logits, values = policy(to_pyg(rollout.graphs.take(some.numpy())))
            distribution = make_distribution(logits, rollout.masks[some])
            gains = rollout.advantages[some]
            gains = (gains - gains.mean()) / (gains.std(correction=0) + 1e-8)
            ratio = (distribution.log_prob(rollout.actions[some]) - rollout.log_probs[some]).exp()
            clipped = ratio.clamp(1 - choices.clip, 1 + choices.clip)
            policy_loss = -torch.min(ratio * gains, clipped * gains).mean()
            value_loss = (values - targets[some]).square().mean()
            entropy = distribution.entropy().mean()
            loss = policy_loss + choices.value * value_loss - choices.entropy * entropy
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(policy.parameters(), choices.gradient)
            optimizer.step()
            seen.append((entropy.item(), policy_loss.item(), value_loss.item()))
    return dict(zip(("entropy", "policy_loss", "value_loss"), np.mean(seen, axis=0).tolist(), strict=True))


def _find_formulas(graphs: Any) -> Tensor:
    """bool[N]: the nodes of formulas: only they have goal edges to nodes without outgoing goal edges."""
    starts, ends = graphs.edge_index[:, graphs.edge_type == GOAL_EDGE]
    goes_on = torch.zeros(len(graphs.x), dtype=torch.bool)
    goes_on[starts] = True
    found = torch.zeros_like(goes_on)
    found[starts[~goes_on[ends]]] = True
    return cast(Tensor, found & (graphs.node_type == NODE_TYPES.index("goal")))
