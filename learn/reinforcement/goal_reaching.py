"""Training a policy on graphs for goals of a domain, with several seeds, held against shortest plans of other goals."""

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
from learn.reinforcement.graph_ppo import Hyperparameters, train
from learn.training.report.pictures import draw_reached
from learn.training.seeds import average_over_seeds

logger = logging.getLogger(__name__)

COLUMNS = ("seed", "steps", "return", "entropy", "policy_loss", "value_loss", "reached", "optimal")


def run_experiment(
    env: GoalsEnv,
    choices: Hyperparameters,
    folder: Path,
    *,
    goals: int,
    held_out: int,
    larger_goals: int,
    max_episode_steps: int,
    envs: int,
    steps: int,
    evaluate_every: int,
    seeds: Sequence[int],
) -> list[float]:
    """Train with every seed, each with goals of its own, and write curves, goals and policies.

    Args:
        env: the environment; its list of goals is replaced.
        choices: of the algorithm.
        folder: where the files are written.
        goals: how many different goals are learned from.
        held_out: how many others the policy is held against.
        larger_goals: number of further goals with up to one formula more; those not held out are used in training, too.
        max_episode_steps: after how many steps an episode is given up.
        envs: number of environments that play side by side.
        steps: of all environments together.
        evaluate_every: after how many rollouts the held-out goals are played.
        seeds: of goals, weights and actions.

    Returns:
        For each seed, the return on the goals held out in the end: the best possible one divided by it, from 0 to 1.

    Raises:
        EpigymError: when there are fewer goals.
    """
    rows: list[dict[str, Any]] = []
    results: list[dict[str, Any]] = []
    final: list[float] = []
    for seed in seeds:
        learned, others = split_goals(env, goals, held_out, larger_goals, seed)
        env.goals = learned
        best = measure_shortest_plans(env.space, others)
        vector = EpistemicVectorEnv(env, envs, max_episode_steps, AutoresetMode.SAME_STEP)
        updates = math.ceil(steps / (choices.rollout * envs))
        for number, (policy, row) in enumerate(train(vector, choices, steps=steps, seed=seed), start=1):
            rows.append({"seed": seed, **row})
            if number % evaluate_every == 0 or number == updates:
                policy.eval()
                taken = play(env.space, env.encoder, others, policy.choose, max_episode_steps)
                policy.train()
                rows[-1] |= {
                    "reached": float((taken < max_episode_steps).mean()),
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
