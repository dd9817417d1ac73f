"""Training of networks, from the problems to the record of the finished run."""

from __future__ import annotations

import logging
import math
import shutil
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast

import numpy as np
import torch
from lightning import seed_everything
from torch import nn

from epigym.config.targets import make
from epigym.encoding.encoder import Encoding, make_encoder, make_encoding
from epigym.encoding.pyg import to_pyg
from epigym.encoding.relational import Relational, type_ids_of
from epigym.errors import CheckpointError, EpigymError, LimitError, UsageError
from epigym.features.types import FeatureTypes
from epigym.io.checksummed import read_checksummed
from epigym.io.tables import Table
from epigym.space.space import StateSpace
from epigym.task.task import Task
from learn.models.base import Base, correct
from learn.models.files import MODEL_FILE
from learn.models.gine.model import NetworkModel
from learn.models.gine.network import make_network
from learn.models.gine.paper import PaperNetwork
from learn.training.data_module import LabelledStates, PairRuns, StateSamples, TrainingData, split_samples
from learn.training.module import GineModule
from learn.training.options import CHECKPOINTS, RUN_FILE, LossValidation, RankingOptions, SearchValidation, Training
from learn.training.problems import TrainingProblems
from learn.training.report.pictures import draw_curves, draw_predictions, draw_search_curves
from learn.training.report.report import measure_baselines, write_record
from learn.training.resuming import History, begin, find_row, read_checkpoint
from learn.training.trainer import BY_LOSS, BY_SEARCH, WaitingTime, describe_end, fit, make_trainer, write_settings
from learn.training.trials import run_baseline, select
from learn.training.validation import Problems

logger = logging.getLogger(__name__)

_BASES: tuple[Base, ...] = ("h_add", "h_ff")  # if both solve as many problems, the first: its corrections are bounded


def train_best(settings: Training, source: TrainingProblems) -> dict[str, float]:
    """Train a network, see `train`; with `base=best` train one for each base heuristic and select the better one.

    During training each of the two has its own folder inside the folder of the run.
    """
    run_dir = settings.run_dir
    if settings.base == "best" and (run_dir / RUN_FILE).exists():
        settings = replace(settings, base=read_checksummed(run_dir / RUN_FILE, "train again")["base"])
    if settings.base != "best":
        return train(settings, source)
    try:
        found = {base: _train_part(replace(settings, base=base, run_dir=run_dir / base), source) for base in _BASES}
    except KeyboardInterrupt:
        raise KeyboardInterrupt(f"go on with resume=true run_dir={run_dir}") from None
    if not all(found.values()):
        return {}
    chosen = _BASES[select([_score(found[base]) for base in _BASES], tolerance=math.inf)]
    logger.info("the network that corrects %s is kept", chosen)
    for path in sorted((run_dir / chosen).iterdir(), key=lambda path: path.name == RUN_FILE):
        path.replace(run_dir / path.name)
    for base in _BASES:
        shutil.rmtree(run_dir / base)
    compared = {name: one[name] for one in found.values() for name in one if name.startswith(_BASES)}
    other = next(base for base in _BASES if base != chosen)
    compared |= {f"other/{name}": found[other][f"val/{name}"] for name in ("solved", "expanded")}
    return found[chosen] | compared


def _score(metrics: Mapping[str, float]) -> tuple[int, int]:
    """The validation score of a finished training."""
    return round(metrics["val/problems"] - metrics["val/solved"]), round(metrics["val/expanded"])


def _train_part(settings: Training, source: TrainingProblems) -> dict[str, float]:
    """The metrics of a training, which are read if it is finished."""
    file = settings.run_dir / RUN_FILE
    metrics: dict[str, float] = (
        read_checksummed(file, "delete it")["metrics"] if file.exists() else train(settings, source)
    )
    return metrics


def train(settings: Training, source: TrainingProblems) -> dict[str, float]:
    """Train a network and write everything into the folder of the run.

    Args:
        settings: of the training.
        source: the problems.

    Returns:
        The metrics of the best network and of the baselines; empty in all but the main process of a distributed run.

    Raises:
        EpigymError: when a setting is wrong, or training ends before the first validation.
        KeyboardInterrupt: when the training is interrupted; the message says how to resume it.
    """
    start, run_dir = time.perf_counter(), settings.run_dir
    checkpoint = begin(settings)
    encoding = make_encoding(settings.encoding)
    probe = _make_probe(settings)  # fails for wrong arguments before the exploration
    by = BY_LOSS if isinstance(settings.validation, LossValidation) else BY_SEARCH
    history, waiting = History(run_dir / "metrics.csv"), WaitingTime()
    trainer = make_trainer(settings, by, history, waiting)
    _check_network(probe, encoding, source.first_task)
    types = [FeatureTypes(pairs.space.task) for pairs in source.rollouts]
    problems = [(task, FeatureTypes(task)) for task in source.to_validate if _fits(task, encoding)]
    if source.to_validate and not problems:
        raise EpigymError(
            f"no problem to validate on fits the {encoding.name} encoding: give it more room, see conf/encoding"
        )
    compared = _measure_base(settings, problems)
    seed_everything(settings.seed, workers=True, verbose=False)
    module = _make_module(settings, source, types)
    states = LabelledStates(source.rollouts, encoding, module.base, shared=isinstance(module.network, PaperNetwork))
    data = _make_data(settings, states, problems)
    if module.base == "none" and isinstance(data.train, StateSamples) and hasattr(module.network, "start_at"):
        cast(Any, module.network).start_at(float(data.train.distance.mean()))
    if checkpoint is not None:
        _require_same(checkpoint, module)
    write_settings(trainer, settings)
    fit(trainer, module, data, run_dir, checkpoint)
    if not trainer.is_global_zero:
        return {}
    best = run_dir / CHECKPOINTS / "best.ckpt"
    if not best.exists():
        raise EpigymError(
            f"training ended after {trainer.global_step} steps, before the first validation: give it more, or validate "
            "earlier with trainer.check_val_every_n_epoch or trainer.val_check_interval"
        )
    kept = read_checkpoint(best)
    module.load_state_dict(kept["state_dict"])
    module.on_load_checkpoint(kept)
    model = module.as_model()
    epochs = int(history.rows[-1]["epoch"]) + 1
    row = find_row(kept, history)
    metrics = row | compared | _draw_and_measure(model, data, history, row, run_dir)
    metrics |= {"epochs": float(epochs), "train/waiting_share": waiting.share}
    stopped = describe_end(trainer, epochs, by.measure)
    seconds = time.perf_counter() - start + history.earlier
    record = _make_record(settings, source, metrics) | {"seconds": seconds, "stopped": stopped}
    schema = frozenset[int]().union(*(one.schema for one in types))
    replace(model, schema=schema, card=_make_card(record)).write(run_dir / MODEL_FILE)
    write_record(record, run_dir / RUN_FILE)
    logger.info("%s; kept is the network of epoch %d, step %s", stopped, row["epoch"] + 1, f"{row['step'] + 1:,.0f}")
    logger.info("%.0f s, %.0f %% of the steps waiting for data", seconds, 100 * waiting.share)
    return metrics


def _make_module(settings: Training, source: TrainingProblems, types: Sequence[FeatureTypes]) -> GineModule:
    """The untrained module; `types` are those of the training problems."""
    options, encoding = settings.model, make_encoding(settings.encoding)
    assert settings.base != "best"
    return GineModule(
        encoding=settings.encoding,
        types=type_ids_of(types, encoding) if isinstance(encoding, Relational) else [],
        network=options.network,
        objective=vars(settings.objective),
        base=settings.base,
        optimizer=options.optimizer,
        schedule=options.schedule,
        domains=source.data.domains,
        data=source.card,
    )


def _make_record(settings: Training, source: TrainingProblems, metrics: Mapping[str, float]) -> dict[str, Any]:
    """The record of a training that has just finished, without its duration and the reason of its end."""
    by_loss = isinstance(settings.validation, LossValidation)
    return {
        "finished": datetime.now(UTC).isoformat(timespec="microseconds"),
        "model": MODEL_FILE,
        "domains": source.data.domains,
        "data": source.card,
        "encoding": make_encoding(settings.encoding).name,
        "objective": settings.objective.name,
        "base": settings.base,
        "is_good": bool(metrics["val/mae"] < metrics["median/mae"]) if by_loss else True,
        "seed": settings.seed,
        "metrics": metrics,
    }


def _fits(task: Task, encoding: Encoding) -> bool:
    """Whether a problem fits an encoding; logs a warning if not."""
    try:
        make_encoder(StateSpace(task), encoding)
    except LimitError as error:
        logger.warning("not validated on: %s", error)
        return False
    return True


def _make_card(record: Mapping[str, Any]) -> dict[str, Any]:
    """The description of the training in a model file."""
    names = ("domains", "data", "encoding", "objective", "base", "seed", "seconds")
    measured = {name: value for name, value in record["metrics"].items() if name.endswith(("/solved", "/expanded"))}
    return {name: record[name] for name in names} | {"validation": measured}


def _make_probe(settings: Training) -> nn.Module:
    """Make the network of the training without types.

    Raises:
        UsageError: when the network or the optimizer does not accept its settings.
    """
    network = make_network(settings.model.network, settings.encoding, ())
    make(settings.model.optimizer, torch.optim.AdamW, network.parameters())
    return network


def _check_network(network: nn.Module, encoding: Encoding, task: Task) -> None:
    """Check that a network accepts the graphs of a problem and returns one value for each.

    Raises:
        LimitError: when the problem does not fit the encoding.
        UsageError: when the network fails on them.
    """
    space = StateSpace(task)
    states = np.unique(np.append(space.expand([space.initial]).target, space.initial))[:2]
    graphs = make_encoder(space, encoding).graphs(states)
    name = f"model.network: {type(network).__module__}.{type(network).__qualname__}.forward(data)"
    try:
        with torch.no_grad():
            found = network.eval()(to_pyg(graphs))
    except EpigymError:
        raise
    except Exception as error:  # a user's network may raise any exception
        reason = str(error).partition(chr(10))[0]
        kind = "float32" if graphs.nodes.dtype == np.uint8 else "int64"
        raise UsageError(
            f"{name} fails on two graphs with x {kind}[n, {graphs.nodes.shape[1]}]: {reason}; data has x, edge_index, "
            "edge_attr, node_type, edge_type, batch and num_graphs, see epigym.to_pyg"
        ) from None
    if not isinstance(found, torch.Tensor) or found.shape != (len(states),):
        shape = list(found.shape) if isinstance(found, torch.Tensor) else type(found).__name__
        raise UsageError(
            f"{name} returns {shape} for {len(states)} graphs, expected a tensor of shape [{len(states)}]: one value "
            "for each"
        )


def _measure_base(settings: Training, problems: Problems) -> dict[str, float]:
    """Metrics of greedy search with the base heuristic alone on the validation problems."""
    base = settings.base
    if base == "none" or not isinstance(settings.validation, SearchValidation):
        return {}
    found = run_baseline(base, problems, settings.validation.nodes).validation
    logger.info("%s alone: %d solved, %d expanded", base, found.solved, found.expanded)
    return {f"{base}/solved": float(found.solved), f"{base}/expanded": float(found.expanded)}


def _make_data(settings: Training, states: LabelledStates, problems: Problems) -> TrainingData:
    """Make the training and validation data."""
    objective, validation, seed = settings.objective, settings.validation, settings.seed
    if isinstance(objective, RankingOptions):
        runs = PairRuns(states)
        count = sum(len(pairs.better) for pairs in states.problems)
        logger.info("%d problems, %s pairs", len(states.problems), f"{count:,}")
        assert isinstance(validation, SearchValidation)
        return TrainingData(runs, problems, settings.batch_size, seed, validation.nodes)
    share = validation.share if isinstance(validation, LossValidation) else 0.0
    train, held_out = split_samples(states, objective.max_class_share, share, seed)
    if isinstance(validation, SearchValidation):
        logger.info("training on %s samples", f"{len(train):,}")
        return TrainingData(train, problems, settings.batch_size, seed, validation.nodes)
    logger.info("training on %s samples, validating on %s", f"{len(train):,}", f"{len(held_out):,}")
    return TrainingData(train, held_out, settings.batch_size, seed)


def _require_same(path: Path, module: GineModule) -> None:
    """Check that training can be resumed from a checkpoint.

    Raises:
        CheckpointError: when its encoding, types, base or network differ.
    """
    content = read_checkpoint(path)
    try:
        known, ours = content["hyper_parameters"], module.hparams
        module.load_state_dict(content["state_dict"])
        is_same = all(known[name] == ours[name] for name in ("version", "encoding", "types", "base"))
    except (KeyError, RuntimeError, TypeError):
        is_same = False
    if not is_same:
        raise CheckpointError(
            f"{path} is of another encoding, network or base, or of other problems, than this training"
        )


def _draw_and_measure(
    model: NetworkModel, data: TrainingData, history: History, row: Mapping[str, float], run_dir: Path
) -> dict[str, float]:
    """Draw the pictures of a training and measure the errors of baselines."""
    if data.problems:
        draw_search_curves(history.rows, row, len(data.problems), run_dir / "curves.png")
        return {"val/problems": float(len(data.problems))}
    assert isinstance(data.train, StateSamples)
    assert isinstance(data.validation, StateSamples)
    batches = list(data.val_dataloader())
    with torch.inference_mode():
        predicted = torch.cat([correct(model.base, batch.base, model.network(batch.graphs)) for batch in batches])
    true = torch.cat([batch.distance for batch in batches])
    draw_predictions(predicted.numpy(), true.numpy(), f"{run_dir}/")
    draw_curves(history.rows, row, run_dir / "curves.png")
    counts = {"train/samples": float(len(data.train)), "val/samples": float(len(data.validation))}
    return counts | measure_baselines(data.train, data.validation)


def make_metrics_table(metrics: Mapping[str, float]) -> Table:
    """The table of the best network and its baselines."""
    if "val/problems" in metrics:
        rows = [
            [name, f"{metrics[f'{key}/solved']:.0f}", f"{metrics[f'{key}/expanded']:,.0f}"]
            for key, name in (
                ("val", "network"),
                ("other", "network, other base"),
                *((b, f"{b} alone") for b in _BASES),
            )
            if f"{key}/solved" in metrics
        ]
        title = f"greedy search on {metrics['val/problems']:.0f} validation problems"
        return Table(title, ("guidance", "solved", "expanded"), rows)
    rows = []
    for key, name in (("val", "network"), ("median", "median distance"), ("goal_count", "goal count")):
        mae, rmse, r2, near = (metrics[f"{key}/{metric}"] for metric in ("mae", "rmse", "r2", "within_half"))
        rows.append([name, f"{mae:.3f}", f"{rmse:.3f}", f"{r2:.3f}", f"{near:.1%}"])
    titles = ("predictor", "MAE", "RMSE", "R²", "within half a step")
    return Table("errors on the validation samples, in steps", titles, rows)
