"""Train a policy for the goals of a domain by proximal policy optimisation (PPO) on graphs.

    python -m docs.examples.graph_ppo
    python -m docs.examples.graph_ppo --env epi/Grapevine-v0

Each episode has a random goal, which is part of the graph that the policy observes. Lines during the training have the
mean return of the last 100 episodes and how many of these reached their goal. The table at the end compares the most
probable actions of the policy with random actions and with shortest plans on the goals of episodes with other seeds.

Sources: J. Schulman et al., "Proximal Policy Optimization Algorithms", 2017; the mask: S. Huang and S. Ontañón, "A
Closer Look at Invalid Action Masking in Policy Gradient Algorithms", 2022.
"""

import argparse
import math
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from time import monotonic
from typing import Any, NamedTuple, cast

import gymnasium as gym
import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.distributions import Categorical
from torch_geometric.nn import global_mean_pool

import epigym
import search
from epigym.encoding.identifiers import NODE_TYPES
from epigym.encoding.pyg import GOAL_EDGE
from epigym.envs.vector import EpistemicVectorEnv
from epigym.space.rows import GraphBatch, join
from learn.models.gine.network import ResidualLayer, make_two_layers

ROLLOUT = 16  # steps of each environment between two improvements
EPOCHS, MINIBATCHES = 4, 8  # passes over a rollout, and the parts of each
GAMMA, TRACE = 0.9, 0.8  # the discount, and λ of the advantages
CLIP = 0.2  # the largest change of the probability of an action, as a ratio
VALUE_WEIGHT, ENTROPY_WEIGHT = 4.0, 0.02  # of the losses; the weight of the entropy falls to 0
LEARNING_RATE, LARGEST_GRADIENT = 3e-3, 1.0  # the learning rate falls to 0
RECENT = 100  # episodes of the means that are printed
PAUSE = 10.0  # seconds between two lines

Choose = Callable[[GraphBatch, NDArray[np.bool_]], NDArray[np.int64]]  # from k graphs and masks to actions int64[k]


class GraphPolicy(nn.Module):
    """A GINE network from graphs with identifiers to the logits of all actions and a value.

    A node receives messages from the ends of its edges: a world from the worlds that an agent considers possible there,
    a formula from its parts. An identifier has `width` bits; `size` is the width of all hidden layers.
    """

    def __init__(self, n_actions: int, n_agents: int, *, width: int = 64, size: int = 32, layers: int = 3) -> None:
        super().__init__()
        self.identifiers = make_two_layers(width, size, size)
        nn.init.normal_(cast(nn.Linear, self.identifiers[0]).weight)  # two goals may differ in one bit
        self.types = nn.Embedding(len(NODE_TYPES), size)
        edge_types = GOAL_EDGE + 1 + n_agents
        self.layers = nn.ModuleList(ResidualLayer(size, nn.Embedding(edge_types, size)) for _ in range(layers))
        self.logits = make_two_layers(len(NODE_TYPES) * size, 2 * size, n_actions)
        self.value = make_two_layers(len(NODE_TYPES) * size, 2 * size, 1)

    def forward(self, graphs: GraphBatch) -> tuple[Tensor, Tensor]:
        """Logits float32[k, n_actions] and values float32[k] of k graphs."""
        data = epigym.to_pyg(graphs)
        x = self.identifiers(data.x) + self.types(data.node_type)
        for layer in self.layers:
            x = layer(x, data.edge_index.flip(0), data.edge_type)
        groups = data.batch * len(NODE_TYPES) + data.node_type
        pooled = global_mean_pool(x, groups, data.num_graphs * len(NODE_TYPES)).view(data.num_graphs, -1)
        return self.logits(pooled), self.value(pooled)[:, 0]

    @torch.no_grad()
    def choose(self, graphs: GraphBatch, masks: NDArray[np.bool_]) -> NDArray[np.int64]:
        """The most probable actions, see `Choose`."""
        logits, _ = self(graphs)
        return make_distribution(logits, torch.from_numpy(masks)).logits.argmax(dim=1).numpy()


def make_distribution(logits: Tensor, masks: Tensor) -> Any:
    """The `Categorical` over applicable actions; over all where none is applicable, and none changes anything."""
    possible = masks | ~masks.any(dim=1, keepdim=True)
    return Categorical(logits=logits.masked_fill(~possible, torch.finfo(logits.dtype).min))


def estimate_advantages(rewards: Tensor, values: Tensor, terminated: Tensor, truncated: Tensor) -> Tensor:
    """Generalised advantage estimation.

    From rewards float32[T, n], values float32[T + 1, n] before each step and after the last, and ends bool[T, n], sums
    float32[T, n] of (γ λ)^k δ(t + k) up to the end of the episode, where δ(t) = reward(t) + γ value(t + 1) - value(t),
    without value(t + 1) where the goal was reached.
    """
    result, following = torch.zeros_like(rewards), torch.zeros_like(rewards[0])
    for step in reversed(range(len(rewards))):
        delta = rewards[step] + GAMMA * values[step + 1] * ~terminated[step] - values[step]
        result[step] = following = delta + GAMMA * TRACE * following * ~(terminated[step] | truncated[step])
    return result


class Rollout(NamedTuple):
    """The steps of all environments, one step after the other: k graphs, and arrays with k rows."""

    graphs: GraphBatch
    masks: Tensor
    actions: Tensor
    log_probs: Tensor
    advantages: Tensor
    targets: Tensor


def collect_rollouts(
    envs: EpistemicVectorEnv, policy: GraphPolicy, seed: int, episodes: deque[tuple[float, bool]]
) -> Iterator[Rollout]:
    """Play episodes; each rollout goes on where the one before stopped.

    `episodes` receives the return of each episode that ends, and whether it reached its goal.
    Rewards of -1 are multiplied by 1 - γ, so that values lie between -1 and 0.
    """
    graphs, infos = envs.reset(seed=seed)
    is_start = torch.zeros(envs.num_envs, dtype=torch.bool)  # the step after an episode starts the next one
    returns = np.zeros(envs.num_envs)
    while True:
        played, steps = list[GraphBatch](), list[tuple[Tensor, ...]]()
        for _ in range(ROLLOUT):
            masks = torch.from_numpy(infos["action_mask"].astype(np.bool_))
            with torch.no_grad():
                logits, values = policy(graphs)
            distribution = make_distribution(logits, masks)
            actions = distribution.sample()
            played.append(graphs)
            graphs, rewards, *ends, infos = envs.step(actions.numpy())
            scaled = torch.from_numpy(rewards.astype(np.float32)) * (1 - GAMMA)
            terminated, truncated = map(torch.from_numpy, ends)
            log_probs = distribution.log_prob(actions)
            steps.append((masks, actions, log_probs, values, scaled, terminated, truncated, ~is_start))
            is_start = terminated | truncated
            returns += rewards
            episodes.extend(zip(returns[is_start].tolist(), terminated[is_start].tolist(), strict=True))
            returns[is_start] = 0
        with torch.no_grad():
            values_after = policy(graphs)[1]
        columns = map(torch.stack, zip(*steps, strict=True))
        masks, actions, log_probs, values, scaled, terminated, truncated, counts = columns
        advantages = estimate_advantages(scaled, torch.cat([values, values_after[None]]), terminated, truncated)
        kept = (column[counts] for column in (masks, actions, log_probs, advantages, values + advantages))
        yield Rollout(join(played).take(np.flatnonzero(counts)), *kept)


def improve(policy: GraphPolicy, optimizer: torch.optim.Optimizer, rollout: Rollout, entropy_weight: float) -> None:
    """Train for some epochs on a rollout."""
    for _ in range(EPOCHS):
        for some in torch.randperm(len(rollout.actions)).chunk(MINIBATCHES):
            masks, actions, log_probs, gains, targets = (column[some] for column in rollout[1:])
            logits, values = policy(rollout.graphs.take(some.numpy()))
            distribution = make_distribution(logits, masks)
            gains = (gains - gains.mean()) / (gains.std(correction=0) + 1e-8)
            ratio = (distribution.log_prob(actions) - log_probs).exp()
            loss = -torch.min(ratio * gains, ratio.clamp(1 - CLIP, 1 + CLIP) * gains).mean()
            loss += VALUE_WEIGHT * (values - targets).square().mean()
            loss -= entropy_weight * distribution.entropy().mean()
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(policy.parameters(), LARGEST_GRADIENT)
            optimizer.step()


def train(envs: EpistemicVectorEnv, steps: int, seed: int) -> GraphPolicy:
    """Train a policy with a number of steps of all environments together, rounded up to whole rollouts."""
    torch.manual_seed(seed)
    policy = GraphPolicy(len(envs.action_names), len(envs.task.agents))
    optimizer = torch.optim.Adam(policy.parameters(), eps=1e-5)
    updates, say = math.ceil(steps / (ROLLOUT * envs.num_envs)), make_printer()
    episodes = deque[tuple[float, bool]](maxlen=RECENT)
    for update, rollout in zip(range(updates), collect_rollouts(envs, policy, seed, episodes), strict=False):
        left = 1 - update / updates
        optimizer.param_groups[0]["lr"] = LEARNING_RATE * left
        improve(policy, optimizer, rollout, ENTROPY_WEIGHT * left)
        done, (mean, share) = (update + 1) * ROLLOUT * envs.num_envs, np.mean(episodes, axis=0)
        line = f"{done:,} steps: mean return {mean:.2f}, {share:.0%} of {len(episodes)} episodes reached their goal"
        say(line, update + 1 == updates)
    return policy


def make_printer() -> Callable[[str, bool], None]:
    """A function that prints a line if it is important, or if the last one was printed some seconds ago."""
    last = monotonic()

    def say(line: str, is_important: bool) -> None:
        nonlocal last
        if is_important or monotonic() >= last + PAUSE:
            print(line, flush=True)
            last = monotonic()

    return say


def play(envs: EpistemicVectorEnv, choose: Choose, seed: int) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Play one episode in each environment: its steps int64[n], and whether it reached its goal bool[n]."""
    graphs, infos = envs.reset(seed=seed)
    steps, reached = np.zeros(envs.num_envs, np.int64), np.zeros(envs.num_envs, np.bool_)
    is_open = np.ones(envs.num_envs, np.bool_)
    while is_open.any():
        graphs, _, terminated, truncated, infos = envs.step(choose(graphs, infos["action_mask"].astype(np.bool_)))
        steps += is_open
        reached |= is_open & terminated
        is_open &= ~(terminated | truncated)
    return steps, reached


def make_envs(name: str, count: int, **settings: Any) -> EpistemicVectorEnv:
    """Environments that share a state space; identifiers of worlds are the bits of their fluents."""
    return cast(EpistemicVectorEnv, gym.make_vec(name, count, encoding="bitmask", max_episode_steps=12, **settings))


def find_shortest(envs: EpistemicVectorEnv, seed: int) -> NDArray[np.int64]:
    """The lengths int64[n] of shortest plans for the goals of episodes with a seed."""
    envs.reset(seed=seed)
    lengths, say = list[int](), make_printer()
    for index in range(envs.num_envs):
        plan = search.plan(envs.search_problem(index), agent="bfs").plan
        assert plan is not None, "sampled goals are reachable"
        lengths.append(len(plan))
        say(f"{index + 1} of {envs.num_envs} shortest plans", False)
    return np.array(lengths)


def main(arguments: Sequence[str] | None = None) -> None:
    """Train, and print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, usage=argparse.SUPPRESS
    )
    parser.add_argument("--env", default="epi/CoinInTheBox-v0", help="the environment of a domain")
    parser.add_argument("--steps", type=int, default=100_000, help="steps of training")
    parser.add_argument("--episodes", type=int, default=100, help="episodes of the comparison")
    parser.add_argument("--seed", type=int, default=0, help="of weights, actions and goals")
    given = parser.parse_args(arguments)
    if min(given.steps, given.episodes) < 1 or not 0 <= given.seed < 2**32:
        parser.error("--steps and --episodes are at least 1, and --seed is from 0 to 2^32 - 1")
    try:
        training, envs = (make_envs(given.env, number, random_goals=True) for number in (64, given.episodes))
    except Exception as error:  # of Gymnasium, or of the environment
        parser.error(f"--env {given.env}: {error}".partition("\n")[0])
    torch.set_num_threads(1)
    policy, seed = train(training, given.steps, given.seed), given.seed + 1_000_000
    rng = np.random.default_rng(seed)
    shortest = find_shortest(envs, seed)
    rows: dict[str, tuple[Any, Any]] = {
        "random actions": play(envs, lambda _, masks: (rng.random(masks.shape) * masks).argmax(axis=1), seed),
        "trained policy": play(envs, policy.choose, seed),
        "shortest plans": (shortest, np.ones(given.episodes)),
    }
    print(f"{f'{given.episodes} episodes':<20}{'goals reached':>14}{'mean return':>13}")
    for name, (steps, reached) in rows.items():
        print(f"{name:<20}{reached.mean():>14.1%}{-steps.mean():>13.2f}")


if __name__ == "__main__":
    main()
