"""Train a policy on graphs that reaches any goal of a domain, and compare it with shortest plans.

Writes curve.csv and curve.png, the learning curves of all seeds, goals.csv with all goals held out, and a file
policy_<seed>.pt for each seed.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from epigym.cli.runner import run
from epigym.cli.settings import RunSettings
from epigym.errors import UsageError
from learn.reinforcement.options import Experiment

logger = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class GraphPpo(RunSettings, Experiment):
    """The settings, see `conf/graph_ppo.yaml`."""

    domain: str
    problem: dict[str, Any]
    goal_steps: int = field(metadata={"minimum": 1})
    goal_size: int = field(metadata={"minimum": 1})
    on_the_way: float = field(metadata={"minimum": 0.0, "maximum": 1.0})


def train(settings: GraphPpo) -> None:
    """Train with each seed.

    Raises:
        EpigymError: when there is no such domain, an argument is wrong, or the domain has fewer goals.
    """
    from learn.data.problems import check_domains

    check_domains([settings.domain])
    if not settings.seeds:
        raise UsageError("seeds=[]: expected one at least")

    import torch

    from learn.reinforcement.goal_reaching import run_experiment, summarize
    from learn.reinforcement.goals import GoalsEnv

    torch.set_num_threads(1)
    env = GoalsEnv(settings.domain, goal_steps=settings.goal_steps, goal_size=settings.goal_size, **settings.problem)
    env.on_the_way = settings.on_the_way
    reached = run_experiment(env, settings, settings.run_dir)
    logger.info("%s", summarize(reached))


main = partial(run, train, GraphPpo, "learn.graph_ppo")


if __name__ == "__main__":
    main()
