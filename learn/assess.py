"""Test a regressor on problems it was not trained on: `python -m learn.assess domain=coin_in_the_box`.

The validation samples of a training are other e-states of its own problems. Here the samples are those of whole
problems, explored and labelled in the same way, so that the errors are those that a search meets.
"""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any, cast

import numpy as np
import torch
from numpy.typing import NDArray
from omegaconf import DictConfig, OmegaConf
from rich.console import Console
from torchmetrics.functional import spearman_corrcoef

from epigym.errors import EpigymError
from learn.command import run
from learn.data.collecting import collect
from learn.data.dataset import DataSet, NoGoalError
from learn.data.problems import listed, test_problems
from learn.model.checkpoints import Trained, load
from learn.model.runs import chosen
from learn.training.loaders import Selection
from learn.training.pictures import draw_errors, draw_predictions
from learn.training.report import step_errors
from learn.training.tables import write_table

logger = logging.getLogger(__name__)

_BATCH = 256


def assess(config: DictConfig) -> list[dict[str, Any]]:
    """Compare predicted with exact distances as `conf/assess.yaml` describes, beside the open goals.

    Writes `assessment.csv`, `assessment.md`, and for every problem two pictures. A problem of which no goal is found is
    left out with a warning.

    Args:
        config: the composed configuration.

    Returns:
        One row per problem: its samples, R², MAE and rank correlation (Spearman's) of the regressor with the distance,
        MAE and rank correlation of the number of open goals; a correlation is not a number where all
        distances or all predictions are equal.

    Raises:
        EpigymError: when a problem, a setting, a checkpoint or a stored data set is wrong.
    """
    values = cast(dict[str, Any], OmegaConf.to_container(config, resolve=True))
    run_dir = Path(values["run_dir"])
    run_dir.mkdir(parents=True, exist_ok=True)
    rows = []
    for problem in test_problems(listed(values["domain"]), listed(values["problem"])):
        trained = load(chosen(values["checkpoint"], problem.partition("/")[0]))
        try:
            (data,) = collect(
                [problem], values["semantics"], values["explorer"], trained.encoding, Path(values["outputs"])
            )
        except NoGoalError as error:
            logger.warning("%s is left out: %s", problem, error)
            continue
        predicted = predict(trained, data)
        true = data.samples.distance.astype(np.float32)
        name = problem.replace("/", "_")
        draw_predictions(predicted, true, run_dir / f"{name}_predictions.png")
        draw_errors(predicted, true, run_dir / f"{name}_errors.png")
        rows.append({"problem": problem, "encoding": trained.encoding["name"], **_row(predicted, true, data)})
    if not rows:
        raise EpigymError("no problem is left to test on")
    Console().print(write_table(rows, run_dir / "assessment", "errors in steps on whole problems"))
    logger.info("%s and assessment.md", run_dir / "assessment.csv")
    return rows


@torch.inference_mode()
def predict(trained: Trained, data: DataSet) -> NDArray[np.float32]:
    """float32[k]: the predicted number of steps of the k samples of a data set."""
    samples = Selection([data], [np.arange(len(data.samples))], gradients=False)
    outputs = []
    for start in range(0, len(samples), _BATCH):
        batch = samples.__getitems__(range(start, min(start + _BATCH, len(samples))))
        outputs.append(trained.target.steps(trained.regressor.forward_shared(batch)))
    return torch.cat(outputs).numpy()


def _row(predicted: NDArray[np.float32], true: NDArray[np.float32], data: DataSet) -> dict[str, Any]:
    open_goals = data.samples.open_goals.astype(np.float32)
    ours, counts = (step_errors(torch.from_numpy(one), torch.from_numpy(true)) for one in (predicted, open_goals))
    return {
        "samples": len(true),
        "steps": int(true.max()),
        "R²": ours["r2"],
        "MAE": ours["mae"],
        "rank": _rank_correlation(predicted, true),
        "SUB MAE": counts["mae"],
        "SUB rank": _rank_correlation(open_goals, true),
    }


def _rank_correlation(predicted: NDArray[np.float32], true: NDArray[np.float32]) -> float:
    if len(np.unique(predicted)) == 1 or len(np.unique(true)) == 1:
        return float("nan")
    return float(spearman_corrcoef(torch.from_numpy(predicted), torch.from_numpy(true)))


if __name__ == "__main__":
    run(assess, "assess")
