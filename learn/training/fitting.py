"""Training of networks in four steps: check, build, fit, record."""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple, cast

import numpy as np
import torch
from lightning import Trainer, seed_everything
from lightning.pytorch.callbacks import EarlyStopping
from torch import nn

from epigym.config.sweeps import is_sweep
from epigym.config.targets import full_name, make
from epigym.encoding.encoder import Encoding, make_encoder, make_encoding
from epigym.encoding.pyg import to_pyg
from epigym.errors import CheckpointError, EpigymError, UsageError
from epigym.io.files import write_json
from epigym.language import ground_json
from epigym.space.space import StateSpace
from epigym.task.task import Task
from learn.data.sources import DataSource
from learn.models.base import correct
from learn.models.files import MODEL_FILE
from learn.models.gine.model import NetworkModel
from learn.models.gine.network import make_network
from learn.training.batches import StateSamples
from learn.training.data_module import RolloutData
from learn.training.expert.aggregation import Aggregation
from learn.training.judging import Agent, Judge
from learn.training.module import DivergedError, GineModule
from learn.training.options import CHECKPOINTS, DIVERGED, LAST, RUN_FILE, LossValidation, SearchValidation, Training
from learn.training.problems import find_first_task, fits, sample_tiers
from learn.training.report.pictures import draw_curves, draw_predictions, draw_search_curves
from learn.training.report.report import measure_baselines, measure_errors, write_record
from learn.training.resuming import History, keep_last_validation, read_checkpoint, require_end_of_epoch
from learn.training.trainer import (
    EarlyEnd,
    WaitingTime,
    describe_end,
    fit,
    make_trainer,
    validate_interrupted,
    validate_last,
    write_settings,
)
from learn.training.verdict import NETWORK, Verdict

logger = logging.getLogger(__name__)

EXAMPLE = "example.json"
"""A problem of the verdict that the network solves, in the folder of the run."""
_LAST_SECONDS = 30  # for the validation after an interrupt


class Finished(NamedTuple):
    """A finished training.

    Attributes:
        metrics: of the kept network and of baselines.
        verdict: on the network; None without problems for it.
        search: settings of `search.solve` for a problem of the verdict that the network solves; None without one.
    """

    metrics: dict[str, float]
    verdict: Verdict | None
    search: dict[str, Any] | None


class _Parts(NamedTuple):
    trainer: Trainer
    history: History
    waiting: WaitingTime


def fit_network(settings: Training, source: DataSource) -> Finished | None:
    """Train a network and write everything into the folder of the run.

    Args:
        settings: of the training.
        source: of its data set.

    Returns:
        The result; None in all but the main process of a distributed training.

    Raises:
        EpigymError: when a setting is wrong, or no step was taken.
        KeyboardInterrupt: when the training is interrupted; the message says how to go on with it. Its model is there
            nevertheless if it took a step.
    """
    start = time.perf_counter()
    parts = _check(settings, source)
    module, data = build(settings, source)
    untrained = module.as_model()
    error = _fit(settings, parts, module, data)
    if not parts.trainer.is_global_zero:
        return None
    return _record(settings, parts, untrained, data, start, error)


def _check(settings: Training, source: DataSource) -> _Parts:
    """Check everything that can be wrong before anything is explored; make the trainer."""
    history, waiting = History(settings.run_dir / "metrics.csv"), WaitingTime()
    if settings.checkpoint is not None:
        require_end_of_epoch(settings.checkpoint)
    network = make_network(settings.model.network, settings.encoding, ())
    aggregation = [Aggregation(settings, history)] if settings.expert.aggregation else []
    trainer = make_trainer(settings, history, waiting, *aggregation)
    if settings.checkpoint is not None:
        _require_same_end(settings.checkpoint, trainer)
    _check_network(network, make_encoding(settings.encoding), find_first_task(settings, source))
    make(settings.model.optimizer, torch.optim.AdamW, network.parameters())
    return _Parts(trainer, history, waiting)


def build(settings: Training, source: DataSource) -> tuple[GineModule, RolloutData]:
    """Make or open the data set, and make the untrained network.

    Args:
        settings: of the training.
        source: of its data set.

    Raises:
        EpigymError: when a problem or a setting is wrong, or there is too little to learn from.
    """
    data = RolloutData(settings, source)
    data.setup()
    seed_everything(settings.seed, workers=True, verbose=False)
    module = GineModule(
        encoding=settings.encoding,
        types=data.type_ids,
        network=settings.model.network,
        objective=vars(settings.objective),
        base=settings.base,
        optimizer=settings.model.optimizer,
        schedule=settings.model.schedule,
        domains=data.data.domains,
        data=_describe_data(data),
        cycles=1 + settings.expert.aggregation,
        validation={**_describe_validation(settings.validation), "seed": settings.seed},
    )
    module.initialize(data.train)
    if settings.base == "none" and isinstance(data.train, StateSamples) and hasattr(module.network, "start_at"):
        cast(Any, module.network).start_at(float(data.train.distance.mean()))
    if settings.checkpoint is not None:
        _require_same(settings.checkpoint, module)
    return module, data


def _fit(settings: Training, parts: _Parts, module: GineModule, data: RolloutData) -> EarlyEnd | None:
    """Train and validate the last step; returns the interrupt or the divergence that ended the training."""
    trainer = parts.trainer
    if trainer.is_global_zero:
        (settings.run_dir / RUN_FILE).unlink(missing_ok=True)
        write_settings(settings)
    error = fit(trainer, module, data, settings.checkpoint)
    if not trainer.global_step or parts.history.is_validated(trainer.global_step):
        return error
    if error is None:
        error = validate_last(trainer, module, data)
        if error is None and trainer.is_global_zero:
            keep_last_validation(settings.run_dir / CHECKPOINTS / LAST, module, parts.history)
    elif isinstance(error, KeyboardInterrupt) and trainer.world_size == 1:  # else the other processes have ended
        validate_interrupted(trainer, module, data, _LAST_SECONDS)
    return error


def _record(
    settings: Training, parts: _Parts, untrained: NetworkModel, data: RolloutData, start: float, error: EarlyEnd | None
) -> Finished:
    """Write model, pictures, verdict and record of the best network."""
    trainer, history, waiting = parts
    if not trainer.global_step or history.best is None:
        if isinstance(error, KeyboardInterrupt):
            raise KeyboardInterrupt("no step was finished, nothing is kept")
        raise error or EpigymError(
            "no step was taken: give more with trainer.max_epochs, trainer.max_steps or trainer.max_time"
        )
    record = _make_record(settings, parts, data, error)
    record["seconds"] = time.perf_counter() - start + history.earlier
    row, path = history.best_row, settings.run_dir / MODEL_FILE
    stopped, step = record["stopped"], f"{row['step']:,.0f}"
    logger.info("%s; kept is the network of epoch %.0f, step %s", stopped, row["epoch"], step)
    logger.info("%.0f s, %.0f %% of the steps waiting for data", record["seconds"], 100 * waiting.share)
    schema = frozenset[int]().union(*(one.schema for one in data.types))
    model = replace(history.best.model, schema=schema, identifiers=data.identifiers, card=_make_card(record))
    model.write(path)
    is_trained = row["step"] > 0
    verdict, search = (None, None) if error else _judge(settings, data, model, untrained if is_trained else None)
    if verdict is not None:
        replace(model, card={**model.card, "verdict": verdict.describe()}).write(path)
    record["verdict"] = verdict and verdict.to_dict()
    write_record(record, settings.run_dir / RUN_FILE)
    if isinstance(error, DivergedError):
        raise DivergedError(f"{error}; the best network before is kept") from None
    if error is not None:
        remedy = f"go on with ckpt_path=last run_dir={settings.run_dir}"
        is_kept = (settings.run_dir / CHECKPOINTS / LAST).exists()
        raise KeyboardInterrupt(f"its model is kept; {remedy if is_kept else 'no epoch was finished to go on from'}")
    return Finished(record["metrics"], verdict, search)


def _describe_stop(error: EarlyEnd | None) -> str:
    return "" if error is None else DIVERGED if isinstance(error, DivergedError) else "interrupted"


def _count_aggregations(settings: Training, trainer: Trainer, epoch: int) -> int:
    """After how many aggregations an epoch, counted from 1, was; none before the first step, in epoch 0."""
    return max(epoch - 1, 0) * (1 + settings.expert.aggregation) // (trainer.max_epochs or 1)


def _make_record(settings: Training, parts: _Parts, data: RolloutData, error: EarlyEnd | None) -> dict[str, Any]:
    """The record of a training without its duration and verdict; draws its pictures."""
    history, first = parts.history, parts.history.rows[0]
    last = [row for row in history.rows if "val/score" in row][-1]
    epochs = int(history.rows[-1]["epoch"])
    metrics = history.best_row | _measure(settings, data, history) | {"epochs": float(epochs)}
    metrics["train/waiting_share"] = parts.waiting.share
    aggregations = _count_aggregations(settings, parts.trainer, int(history.best_row["epoch"]))
    if data.plans is not None:
        metrics["train/plans"] = float(len(data.plans))
        metrics["train/corrections"] = float(sum(map(len, data.corrections[:aggregations])))
    if first["step"] == 0:
        metrics |= _rename_validation(first, "untrained")
    if last is not history.best_row:
        metrics |= _rename_validation(last, "last")
    return {
        "finished": datetime.now(UTC).isoformat(timespec="microseconds"),
        "model": MODEL_FILE,
        "domains": data.data.domains,
        "data": _describe_data(data, aggregations),
        "encoding": make_encoding(settings.encoding).name,
        "objective": settings.objective.name,
        "base": settings.base,
        "seed": settings.seed,
        "stopped": _describe_stop(error) or describe_end(parts.trainer, epochs, settings.validation.by),
        "metrics": metrics,
    }


def _rename_validation(row: Mapping[str, float], name: str) -> dict[str, float]:
    """The metrics of a validation with another name in place of `val`."""
    return {metric.replace("val", name, 1): value for metric, value in row.items() if metric.startswith("val/")}


def _describe_validation(validation: LossValidation | SearchValidation) -> dict[str, Any]:
    """The settings of a validation without those of the verdict."""
    return {name: value for name, value in vars(validation).items() if name != "verdict"}


def _describe_data(data: RolloutData, aggregations: int = 0) -> dict[str, Any]:
    """The description of the data in records and checkpoints; `added` are the keys of the sets of an expert."""
    key, *added = data.list_keys(aggregations)
    return {**data.data.settings, "key": key, **({"added": added} if added else {})}


def _make_card(record: Mapping[str, Any]) -> dict[str, Any]:
    """The description of the training in a model file."""
    names = ("domains", "data", "encoding", "objective", "base", "seed", "seconds")
    shown = ("/solved", "/expanded", "/mae")
    metrics = record["metrics"].items()
    measured = {name: value for name, value in metrics if name.endswith(shown) and not name.startswith("last/")}
    return {name: record[name] for name in names} | {"validation": measured}


def _judge(
    settings: Training, data: RolloutData, model: NetworkModel, untrained: NetworkModel | None
) -> tuple[Verdict | None, dict[str, Any] | None]:
    """The verdict, and how to search the problem that the network solves with fewest expansions; None without one."""
    encoding = make_encoding(settings.encoding)
    trained = [one.space.task for one in data.rollouts]
    sampled = sample_tiers(settings, data.data, trained, (*data.tasks, *(task for task, _ in data.problems)))
    fitting = {name: [task for task in tasks if fits(task, encoding)] for name, tasks in sampled.items()}
    tiers = {name: tasks for name, tasks in fitting.items() if tasks}
    if not tiers:
        return None, None
    agent: Agent = "hfs_star" if isinstance(settings.validation, LossValidation) else "hfs"
    consistent_beliefs, limit = data.data.consistent_beliefs, settings.validation.nodes
    judge = Judge(agent=agent, limit=limit, model=model, untrained=untrained, consistent_beliefs=consistent_beliefs)
    threads = torch.get_num_threads()
    verdict = judge.judge(tiers)
    torch.set_num_threads(threads)  # which scorers have set
    counts = zip(verdict.main.expanded[NETWORK], tiers[verdict.main.name], strict=True)
    solved = [(count, place, task) for place, (count, task) in enumerate(counts) if count is not None]
    if not solved:
        return verdict, None
    example = settings.run_dir / EXAMPLE
    specification = ground_json.make_specification(min(solved)[2])
    write_json(example, ground_json.to_json(specification, compact=True), indent=None)
    chosen = {"problem": example, "agent": agent, "heuristic": "learned", "heuristic.model": settings.run_dir}
    return verdict, chosen | ({"consistent_beliefs": True} if consistent_beliefs else {})


def _measure(settings: Training, data: RolloutData, history: History) -> dict[str, float]:
    """Draw the pictures of a training and measure the errors of baselines on held-out samples."""
    assert history.best is not None
    model = history.best.model
    if data.validation is None:
        draw_search_curves(history.rows, history.best_row, settings.run_dir / "curves.png")
        return {}
    assert isinstance(data.train, StateSamples)
    batches = list(data.val_dataloader())
    with torch.inference_mode():
        predicted = torch.cat([correct(model.base, batch.base, model.network(batch.graphs)) for batch in batches])
    true = torch.cat([batch.distance for batch in batches])
    draw_predictions(predicted.numpy(), true.numpy(), f"{settings.run_dir}/")
    draw_curves(history.rows, history.best_row, settings.run_dir / "curves.png")
    counts = {"train/samples": float(len(data.train)), "val/samples": float(len(data.validation))}
    errors = {f"val/{name}": value for name, value in measure_errors(predicted, true).items()}
    return counts | errors | measure_baselines(data.train, data.validation)


def _check_network(network: nn.Module, encoding: Encoding, task: Task) -> None:
    """Check that a network accepts the graphs of a problem, returns one value for each, and can be trained.

    Raises:
        LimitError: when the problem does not fit the encoding.
        UsageError: when the network fails on them, or has nothing to train.
    """
    space = StateSpace(task)
    states = np.unique(np.append(space.expand([space.initial]).target, space.initial))[:2]
    graphs = make_encoder(space, encoding).graphs(states)
    kind = f"model.network: {full_name(type(network))}"
    name = f"{kind}.forward(data)"
    try:
        with torch.no_grad():
            found = network.eval()(to_pyg(graphs))
    except EpigymError:
        raise
    except Exception as error:  # a user's network may raise any exception
        reason = str(error).partition(chr(10))[0]
        dtype = "float32" if graphs.nodes.dtype == np.uint8 else "int64"
        raise UsageError(
            f"{name} fails on two graphs with x {dtype}[n, {graphs.nodes.shape[1]}]: {reason}; data has x, edge_index, "
            "edge_attr, node_type, edge_type, batch and num_graphs, see epigym.to_pyg"
        ) from None
    if not isinstance(found, torch.Tensor) or found.shape != (len(states),):
        shape = list(found.shape) if isinstance(found, torch.Tensor) else type(found).__name__
        raise UsageError(
            f"{name} returns {shape} for {len(states)} graphs, expected a tensor of shape [{len(states)}]: one value "
            "for each"
        )
    if found.isnan().any():
        raise UsageError(f"{name} returns values that are not numbers before training: check its operations")
    if not any(one.requires_grad for one in network.parameters()):
        raise UsageError(f"{kind} has no parameters to train: make its layers in __init__")


def _require_same(path: Path, module: GineModule) -> None:
    """Check that training can be resumed from a checkpoint: its network and scores are of the same settings.

    Raises:
        CheckpointError: when its network, data, objective, optimizer or validation differ.
    """
    content = read_checkpoint(path)
    try:
        known = content["hyper_parameters"]
        different = [name for name, ours in module.hparams.items() if known.get(name) != ours]
        if not different:
            module.load_state_dict(content["state_dict"])
    except (AttributeError, KeyError, RuntimeError, TypeError):
        different = ["network"]
    if different:
        raise CheckpointError(
            f"{path} is of a training with other settings ({', '.join(different)}): give the same, or train anew"
            + (" in another hydra.sweep.dir=" if is_sweep() else "")
        )


def _require_same_end(path: Path, trainer: Trainer) -> None:
    """Check that a training can go on to the end that is set: Lightning restores the patience of early stopping.

    Raises:
        CheckpointError: when the patience differs.
        UsageError: when the checkpoint is of a later epoch.
    """
    content = read_checkpoint(path)
    for early in trainer.early_stopping_callbacks:
        known = content["callbacks"].get(early.state_key, {}).get("patience")
        if isinstance(early, EarlyStopping) and known not in (None, early.patience):
            raise CheckpointError(f"{path} is of a training with patience={known}, not {early.patience}: give the same")
    finished = content["epoch"] + 1
    if 0 <= (trainer.max_epochs or -1) < finished:
        raise UsageError(
            f"trainer.max_epochs={trainer.max_epochs}: {path} is of epoch {finished}: give at least as many"
        )
