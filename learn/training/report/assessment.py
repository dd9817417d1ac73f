"""Assessment of a model on problems outside its training.

The validation samples of a training are e-states of its own problems. Here whole other problems are explored and
labelled in the same way, so the errors are those of search.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torchmetrics.functional import spearman_corrcoef

from epigym.errors import EpigymError
from epigym.io.files import slug
from epigym.language import Reading
from epigym.problem import load_problem
from learn.data.explorers import ExplorerSettings, NoGoalError
from learn.data.pairs import make_rollout
from learn.models.opening import open_for
from learn.training.report.pictures import draw_predictions
from learn.training.report.report import measure_errors

logger = logging.getLogger(__name__)


def assess(
    problems: Sequence[str],
    reading: Reading,
    explorer: ExplorerSettings,
    model: str | None,
    folder: Path,
) -> list[dict[str, Any]]:
    """Compare predictions and the goal count with exact distances, and draw two pictures for every problem.

    Problems without a reachable goal are skipped with a warning.

    Args:
        problems: files, or instances as `domain/instance`.
        reading: how files are read.
        explorer: settings of the exploration.
        model: see `learn.models.opening.open_for`.
        folder: folder of the pictures.

    Returns:
        One row per problem: its samples, R², MAE and rank correlation (Spearman's) of the model with the distance,
        MAE and rank correlation of the goal count; a correlation is NaN if all distances or all predictions are equal.

    Raises:
        EpigymError: when a problem, a setting or a model is wrong, or no problem is left.
    """
    rows = []
    tasks = [load_problem(problem, reading) for problem in problems]
    for problem, task in zip(problems, tasks, strict=True):
        opened = open_for(model, task)
        try:
            states = make_rollout(task, explorer)
        except NoGoalError as error:
            logger.warning("%s is left out: %s", problem, error)
            continue
        scorer = opened.make_scorer(states.space)
        predicted = scorer.steps(scorer.score(states.ids)).astype(np.float32)
        true = states.distance.astype(np.float32)
        name = slug(problem.replace("/", "_"))
        draw_predictions(predicted, true, f"{folder}/{name}_")
        holds = states.space.query(states.space.task.goal)(states.ids)
        goal_count = np.count_nonzero(~holds, axis=1).astype(np.float32)
        rows.append({"problem": problem, **_make_row(predicted, true, goal_count)})
    if not rows:
        raise EpigymError("no problem is left to test on")
    return rows


def _make_row(
    predicted: NDArray[np.float32], true: NDArray[np.float32], goal_count: NDArray[np.float32]
) -> dict[str, Any]:
    ours, counts = (measure_errors(torch.from_numpy(one), torch.from_numpy(true)) for one in (predicted, goal_count))
    return {
        "samples": len(true),
        "steps": int(true.max()),
        "R²": ours["r2"],
        "MAE": ours["mae"],
        "rank": _correlate_ranks(predicted, true),
        "SUB MAE": counts["mae"],
        "SUB rank": _correlate_ranks(goal_count, true),
    }


def _correlate_ranks(predicted: NDArray[np.float32], true: NDArray[np.float32]) -> float:
    if len(np.unique(predicted)) == 1 or len(np.unique(true)) == 1:
        return float("nan")
    return float(spearman_corrcoef(torch.from_numpy(predicted), torch.from_numpy(true)))
