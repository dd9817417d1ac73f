"""A training from its data sets to the record of a finished run."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime

import numpy as np
import torch
from lightning import seed_everything
from numpy.typing import NDArray

from epigym.errors import EpigymError
from epigym.io.tables import ScreenTable
from learn.data.dataset import DataSet
from learn.models.checkpoints import Trained, load
from learn.models.runs import CHECKPOINTS, RUN_FILE
from learn.training.loaders import RolloutData
from learn.training.options import Training
from learn.training.report.pictures import draw_curves, draw_errors, draw_predictions
from learn.training.report.report import baselines, column, write_record
from learn.training.resuming import History, begin, row_of
from learn.training.trainer import WaitingTime, describe_end, fit, make_module, make_trainer, write_settings

logger = logging.getLogger(__name__)


def train(
    settings: Training,
    collect: Callable[[], Sequence[DataSet]],
    domains: Sequence[str],
    problems: Sequence[str],
    semantics: str,
) -> dict[str, float]:
    """Train a regressor and write everything into the folder of the run.

    Args:
        settings: of the training.
        collect: what to learn from; called when the settings have proved to be right.
        domains: that their problems belong to.
        problems: the names of their problems, where these are published.
        semantics: the reading of mA* that they were read under.

    Returns:
        The metrics of the best checkpoint, and those of two baselines; nothing in the helping processes of a
        distributed run.

    Raises:
        EpigymError: when a setting is wrong, or training ends before it is validated.
        KeyboardInterrupt: when it was interrupted; the message says how to go on.
    """
    start = time.perf_counter()
    run_dir = settings.run_dir
    checkpoint = begin(settings)
    seed_everything(settings.seed, workers=True, verbose=False)
    module = make_module(settings, checkpoint, domains, problems, semantics)
    history, waiting = History(run_dir / "metrics.csv"), WaitingTime()
    trainer = make_trainer(settings, history, waiting)
    sets = collect()
    options = settings.data
    data = RolloutData(
        sets,
        batch_size=options.batch_size,
        max_class_share=options.max_class_share,
        validation_share=options.validation_share,
        seed=settings.seed,
    )
    distance = torch.from_numpy(column(data.train, "distance"))
    module.regressor.start_at(float(module.target.normalise(distance).mean()))
    logger.info("training on %s samples, validating on %s", f"{len(data.train):,}", f"{len(data.validation):,}")
    write_settings(trainer, settings)
    fit(trainer, module, data, run_dir, checkpoint)

    if not trainer.is_global_zero:
        return {}
    best = run_dir / CHECKPOINTS / "best.ckpt"
    if not best.exists():
        raise EpigymError(
            f"training ended after {trainer.global_step} steps, before the first validation: give it more, or validate "
            "earlier with trainer.val_check_interval"
        )
    predicted, true = _predicted(load(best), data)
    draw_predictions(predicted, true, run_dir / "predictions.png")
    draw_errors(predicted, true, run_dir / "errors.png")
    row = row_of(best, history)
    draw_curves(history.rows, row, run_dir / "curves.png")
    counts = {"train/samples": float(len(data.train)), "val/samples": float(len(data.validation))}
    metrics = row | counts | baselines(data.train, data.validation)
    epochs = int(history.rows[-1]["epoch"]) + 1
    metrics |= {"epochs": float(epochs), "train/waiting_share": waiting.share}
    stopped = describe_end(trainer, epochs)
    record = {
        "finished": datetime.now(UTC).isoformat(timespec="microseconds"),
        "checkpoint": f"{CHECKPOINTS}/best.ckpt",
        "domains": list(domains),
        "problems": list(problems),
        "distribution": settings.distribution,
        "encoding": settings.encoding["name"],
        "seed": settings.seed,
        "seconds": time.perf_counter() - start + history.earlier,
        "stopped": stopped,
        "metrics": metrics,
        "data_sets": [str(item.folder) for item in sets],
    }
    write_record(record, run_dir / RUN_FILE)
    logger.info("%s; kept is the checkpoint of epoch %d, step %s", stopped, row["epoch"] + 1, f"{row['step'] + 1:,.0f}")
    logger.info("%.0f s, %.0f %% of the steps waiting for data", record["seconds"], 100 * waiting.share)
    return metrics


@torch.inference_mode()
def _predicted(trained: Trained, data: RolloutData) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Predicted and true distances of the validation samples in steps, float32[k] each."""
    batches = list(data.val_dataloader())
    predicted = [trained.target.steps(trained.regressor.forward_shared(batch)) for batch in batches]
    return torch.cat(predicted).numpy(), torch.cat([batch.distance for batch in batches]).float().numpy()


def metrics_table(metrics: dict[str, float]) -> ScreenTable:
    """The regressor of the checkpoint that is kept, beside the baselines."""
    rows = []
    for key, name in (("val", "regressor"), ("median", "median distance"), ("open_goals", "open goals")):
        mae, rmse, r2, near = (metrics[f"{key}/{metric}"] for metric in ("mae", "rmse", "r2", "within_half"))
        rows.append([name, f"{mae:.3f}", f"{rmse:.3f}", f"{r2:.3f}", f"{near:.1%}"])
    titles = ("predictor", "MAE", "RMSE", "R²", "within half a step")
    return ScreenTable("errors on the validation samples, in steps", titles, rows)
