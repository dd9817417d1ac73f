"""Train a reinforcement learner of another library, MaskablePPO of sb3-contrib, on an environment."""

from __future__ import annotations

import logging
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from epigym.cli.runner import run
from epigym.cli.settings import RunSettings

logger = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class Padding:
    """The arguments of `epigym.PaddedObservation`."""

    max_nodes: int = field(metadata={"minimum": 1})
    max_edges: int = field(metadata={"minimum": 1})


@dataclass(frozen=True, kw_only=True)
class Ppo(RunSettings):
    """The settings, see `conf/ppo.yaml`."""

    env: str
    problem: dict[str, Any]
    max_episode_steps: int = field(metadata={"minimum": 1})
    padding: Padding
    envs: int = field(metadata={"minimum": 1})
    steps: int = field(metadata={"minimum": 1})
    seed: int = field(metadata={"minimum": 0})
    progress: bool
    ppo: dict[str, Any]


def train(settings: Ppo) -> None:
    """Train, and compare with the shortest plan.

    Raises:
        EpigymError: when there is no such environment or problem, or an argument is wrong.
    """
    import gymnasium

    from epigym import PaddedObservation
    from learn.reinforcement.reinforcement import train

    result = train(
        lambda: PaddedObservation(
            gymnasium.make(settings.env, max_episode_steps=settings.max_episode_steps, **settings.problem),
            settings.padding.max_nodes,
            settings.padding.max_edges,
        ),
        settings.ppo,
        settings.run_dir / "agent.zip",
        envs=settings.envs,
        steps=settings.steps,
        seed=settings.seed,
        progress=settings.progress,
    )
    logger.info("the agent's return is %.0f, the best possible one %.0f", result["return"], result["optimum"])


main = partial(run, train, Ppo, "learn.ppo")


if __name__ == "__main__":
    main()
