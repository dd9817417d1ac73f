"""The settings of reinforcement learning on graphs, checked without PyTorch."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, kw_only=True)
class Hyperparameters:
    """Of the algorithm and its network, see `conf/graph_ppo.yaml`."""

    learning_rate: float = field(metadata={"minimum": 0.0})
    rollout: int = field(metadata={"minimum": 1})
    epochs: int = field(metadata={"minimum": 1})
    minibatches: int = field(metadata={"minimum": 1})
    gamma: float = field(metadata={"minimum": 0.0, "maximum": 0.999})
    trace: float = field(metadata={"minimum": 0.0, "maximum": 1.0})
    clip: float = field(metadata={"minimum": 0.0})
    entropy: float = field(metadata={"minimum": 0.0})
    value: float = field(metadata={"minimum": 0.0})
    gradient: float = field(metadata={"minimum": 0.0})
    size: int = field(metadata={"minimum": 1})
    layers: int = field(metadata={"minimum": 1})


@dataclass(frozen=True, kw_only=True)
class Experiment:
    """Trainings with several seeds and their evaluation, see `conf/graph_ppo.yaml`.

    Attributes:
        goals: number of different goals for training.
        held_out: number of other goals, on which the policy is evaluated.
        larger_goals: number of further goals with up to one formula more; those not held out are used in training, too.
        max_episode_steps: number of steps after which an episode is truncated.
        envs: number of environments that play side by side.
        steps: number of steps of all environments together.
        evaluate_every: number of rollouts between two evaluations.
        seeds: seeds of goals, weights and actions.
        ppo: the hyperparameters of the algorithm.
    """

    goals: int = field(metadata={"minimum": 1})
    held_out: int = field(metadata={"minimum": 1})
    larger_goals: int = field(metadata={"minimum": 0})
    max_episode_steps: int = field(metadata={"minimum": 1})
    envs: int = field(metadata={"minimum": 1})
    steps: int = field(metadata={"minimum": 1})
    evaluate_every: int = field(metadata={"minimum": 1})
    seeds: list[int]
    ppo: Hyperparameters
