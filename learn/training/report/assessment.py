"""Assessment of a model on problems outside its training.

The validation samples of a training are e-states of its own problems. Here whole other problems are explored and
labelled in the same way, so the errors are those of search.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torchmetrics.functional import spearman_corrcoef

from epigym.io.files import slug
from epigym.io.progress import track
from learn.data.dataset import DataSet
from learn.data.labels import make_targets
from learn.models.opening import open_for
from learn.training.diagnosis import FIRST, is_constant
from learn.training.report.pictures import draw_predictions
from learn.training.report.report import measure_errors


def make_assessment(data: DataSet, model: str | None, folder: Path) -> list[dict[str, Any]]:
    """Compare predictions and the goal count with the distances of a data set, and draw two pictures for every problem.

    Args:
        data: the data set.
        model: see `learn.models.opening.open_for`.
        folder: folder of the pictures.

    Returns:
        One row per problem: whether it was explored as a whole or in part, its samples, R², MAE and rank correlation
        (Spearman's) of the model with the distance, MAE and rank correlation of the goal count, whether the
        predictions are constant, and the share of unknown types or identifiers, see `learn.training.diagnosis`; a
        correlation is NaN if all distances or all predictions are equal.

    Raises:
        EpigymError: when a file or a model is wrong.
    """
    rows = []
    for row, states in track(data.open_each("samples"), "assessing", total=len(data)):
        task = states.space.task
        scorer = open_for(model, task).make_scorer(states.space)
        scores = scorer.score(states.ids)
        predicted = scorer.steps(scores).astype(np.float32)
        true = make_targets(states.distance).astype(np.float32)
        draw_predictions(predicted, true, f"{folder}/{slug(task.name.replace('/', '_'))}_")
        holds = states.space.query(task.goal)(states.ids)
        goal_count = np.count_nonzero(~holds, axis=1).astype(np.float32)
        explored = "whole" if row.counts["complete"] else "part"
        judged = {
            "constant": "yes" if is_constant(scores) else "no",
            "unknown": 1 - scorer.rate_known(states.ids[:FIRST]),
        }
        rows.append({"problem": task.name, "explored": explored, **_make_row(predicted, true, goal_count), **judged})
    return rows


def list_left_out(row: Mapping[str, Any], names: Sequence[str]) -> list[dict[str, Any]]:
    """Rows like `row` of problems without an explored goal."""
    return [{**dict.fromkeys(row, ""), "problem": name, "explored": "no goal", "samples": 0} for name in names]


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
        "goal count MAE": counts["mae"],
        "goal count rank": _correlate_ranks(goal_count, true),
    }


def _correlate_ranks(predicted: NDArray[np.float32], true: NDArray[np.float32]) -> float:
    if len(np.unique(predicted)) == 1 or len(np.unique(true)) == 1:
        return float("nan")
    return float(spearman_corrcoef(torch.from_numpy(predicted), torch.from_numpy(true)))
