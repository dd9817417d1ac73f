"""Folders of trainings: their metrics, and whether two are alike."""

import csv
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch

from epigym.language import Reading
from learn.data.dataset import DataSet
from learn.data.explorers import ExplorerSettings
from learn.data.sources import DataSource, SampledData
from learn.models import open_model
from learn.models.base import correct
from learn.models.gine.model import NetworkModel
from learn.train import Train
from learn.training.data_module import RolloutData
from learn.training.options import DistanceOptions, LossValidation
from learn.training.resuming import read_checkpoint
from learn.training.validation import validate_by_search
from tests.helpers.commands import compose

PROBLEM = "collaboration_communication/2_2_3_pl_6"  # 225 e-states
HASH = {"name": "hash", "width": 64}
PAPER = ("experiment=paper", f"problem={PROBLEM}", "trainer.accelerator=cpu", "batch_size=40", "trainer.max_epochs=4",
         "validation.verdict=0")  # fmt: skip
"""A training of the paper's network, four steps an epoch, without a verdict."""
SEARCHED = ("model=gine", "objective=ranking", "data=sampled", "base=h_ff", "domain=consecutive_numbers",
            "trainer.accelerator=cpu", "data.instances=2", "data.expansions=8", "batch_size=64",
            "validation.problems=2", "validation.verdict=0", "validation.nodes=20", "model.network.width=4",
            "model.network.layers=2", "trainer.max_epochs=4", "trainer.check_val_every_n_epoch=1")  # fmt: skip
"""A training that is validated by search, of a second, without a verdict."""

Fit = Callable[..., dict[str, float]]
Stages = dict[str, list[str]]


def make_data_set(
    folder: Path,
    domains: list[str],
    instances: int = 2,
    seed: int = 0,
    *,
    long_goals: bool = False,
    consistent_beliefs: bool = False,
) -> DataSet:
    """The data set of some sampled problems, in the folder `outputs` of a folder."""
    data = SampledData(
        split="train", seed=seed, expansions=10, instances=instances, goals=4, partially_explored=False,
        long_goals=long_goals, held_out=0,
    )  # fmt: skip
    explorer = ExplorerSettings(
        "exhaustive", max_visited=20_000, max_kept=None, seed=seed, consistent_beliefs=consistent_beliefs
    )
    return DataSource(domains, [], Reading(), data, explorer).open(folder / "outputs")


def rows_of(run: Path) -> list[dict[str, float]]:
    """The metrics of a training, without those that a row does not have."""
    with (run / "metrics.csv").open(newline="") as file:
        return [{name: float(value) for name, value in row.items() if value} for row in csv.DictReader(file)]


def is_same(first: Any, second: Any) -> bool:
    """Whether two values are equal, tensors bit by bit."""
    if isinstance(first, torch.Tensor):
        return first.dtype == second.dtype and torch.equal(first, second)
    if isinstance(first, dict):
        return first.keys() == second.keys() and all(is_same(first[name], second[name]) for name in first)
    if isinstance(first, list | tuple):
        return len(first) == len(second) and all(map(is_same, first, second))
    return bool(first == second)


def drop_seconds(rows: list[dict[str, float]]) -> list[dict[str, float]]:
    return [{name: value for name, value in row.items() if name != "seconds"} for row in rows]


def assert_same(first: Path, second: Path) -> None:
    """See that the folders of two runs hold the same checkpoint, metrics and model."""
    assert drop_seconds(rows_of(first)) == drop_seconds(rows_of(second))
    one, two = (read_checkpoint(run / "checkpoints" / "last.ckpt") for run in (first, second))
    assert one["global_step"] == two["global_step"]
    assert one.keys() == two.keys()
    for part in one.keys() - {"callbacks", "loops"}:  # these hold folders and seconds
        assert is_same(one[part], two[part]), part
    ours, theirs = map(model_of, (first, second))
    assert strip(ours) == strip(theirs)
    assert ours.weights.keys() == theirs.weights.keys()
    for name, weights in ours.weights.items():
        assert np.array_equal(weights, theirs.weights[name]), name


def model_of(run: Path) -> NetworkModel:
    """The network of a training."""
    model = open_model(run)
    assert isinstance(model, NetworkModel)
    return model


def strip(model: NetworkModel) -> NetworkModel:
    """A model without weights, and without what differs between two equal trainings."""
    card = {name: value for name, value in model.card.items() if name != "seconds"}
    return replace(model, path="", card=card, weights={})


def validate_again(run: Path, *overrides: str) -> float:
    """The validation score of the model in the folder of a run with some overrides, as `val/score` of the training."""
    settings = compose(Train, "train", f"run_dir={run}.again", *overrides)
    data, model, validation = RolloutData(settings, settings.source), model_of(run), settings.validation
    data.setup()
    if isinstance(validation, LossValidation):
        assert isinstance(settings.objective, DistanceOptions)
        most, errors = settings.objective.max_distance, list[torch.Tensor]()
        for batch in data.val_dataloader():
            with torch.no_grad():
                values = correct(model.base, batch.base, model.network(batch.graphs))
            errors.append(values / most - batch.distance.clamp(max=most) / most)
        return float(torch.cat(errors).square().mean())
    found = validate_by_search(data.problems, validation.nodes, lambda space, _: model.make_scorer(space).score)
    missed, expanded = found.score
    return missed + expanded / (1 + validation.nodes * len(data.problems))
