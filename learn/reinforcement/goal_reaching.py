"""Training of policies on graphs for the goals of a domain, with several seeds, and evaluation on other goals."""

from __future__ import annotations

import logging
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from gymnasium.vector import AutoresetMode

from epigym.envs.vector import EpistemicVectorEnv
from epigym.io.files import replacing, write_rows
from epigym.task.formula import and_
from learn.reinforcement.goals import GoalsEnv, measure_shortest_plans, play, split_goals
from learn.reinforcement.graph_ppo import train
from learn.reinforcement.options import Experiment
from learn.training.report.pictures import draw_reached
from learn.training.seeds import average_over_seeds

logger = logging.getLogger(__name__)

COLUMNS = ("seed", "steps", "return", "entropy", "policy_loss", "value_loss", "reached", "optimal")


def run_experiment(env: GoalsEnv, experiment: Experiment, folder: Path) -> list[float]:
    """Train a policy with each seed on its own goals, and write learning curves, goals and policies.

    Args:
        env: the environment; its list of goals is replaced.
        experiment: the settings.
        folder: where the files are written.

    Returns:
        For each seed, the ratio of the best possible return to the return of the trained policy on the goals held out,
        from 0 to 1.

    Raises:
        EpigymError: when the domain has fewer goals.
    """
    most = experiment.max_episode_steps
    rows: list[dict[str, Any]] = []
    results: list[dict[str, Any]] = []
    final: list[float] = []
    for seed in experiment.seeds:
        learned, others = split_goals(env, experiment.goals, experiment.held_out, experiment.larger_goals, seed)
        env.goals = learned
        best = measure_shortest_plans(env.space, others)
        vector = EpistemicVectorEnv(env, experiment.envs, most, AutoresetMode.SAME_STEP)
        updates = math.ceil(experiment.steps / (experiment.ppo.rollout * experiment.envs))
        for number, (policy, row) in enumerate(train(vector, experiment.ppo, steps=experiment.steps, seed=seed), 1):
            rows.append({"seed": seed, **row})
            if number % experiment.evaluate_every == 0 or number == updates:
                policy.eval()
                taken = play(env.space, env.encoder, others, policy.choose, most)
                policy.train()
                rows[-1] |= {
                    "reached": float((taken < most).mean()),
                    "optimal": float(best.sum() / taken.sum()),
                }
                logger.info(
                    "seed %d, %d steps: return %.2f, of goals held out %.0f %% reached, %.1f %% of the optimal return",
                    seed, row["steps"], row["return"], 100 * rows[-1]["reached"], 100 * rows[-1]["optimal"],
                )  # fmt: skip
            write_rows(folder / "curve.csv", COLUMNS, rows)
        results += [
            {"seed": seed, "goal": str(and_(*goal)), "steps": int(some), "shortest": int(least)}
            for goal, some, least in zip(others, taken, best, strict=True)
        ]
        write_rows(folder / "goals.csv", ("seed", "goal", "steps", "shortest"), results)
        with replacing(folder / f"policy_{seed}.pt") as file:
            torch.save(policy.state_dict(), file)
        final.append(rows[-1]["optimal"])
    draw_reached(rows, folder / "curve.png")
    return final


def summarize(reached: Sequence[float]) -> str:
    """The mean share of reached goals over seeds, with the 95 % interval of Student's t for several seeds."""
    mean, half = average_over_seeds([100 * value for value in reached])
    if len(reached) == 1:
        return f"{mean:.1f} % of the optimal return on goals held out, one seed"
    return f"{mean:.1f} ± {half:.1f} % of the optimal return on goals held out, {len(reached)} seeds"
