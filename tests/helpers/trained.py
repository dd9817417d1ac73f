"""Networks with random weights, as if trained."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import torch
from torch import nn

from epigym.config.targets import TARGET
from epigym.space.space import StateSpace
from learn.models.base import Base
from learn.models.calibration import Calibration
from learn.models.gine.kinds import CLASSES, GINE
from learn.models.gine.model import NetworkModel
from learn.models.gine.network import GineNetwork, make_network, save_network

S = TypeVar("S")
PAPER = {TARGET: CLASSES["paper"]}
SMALL = {"width": 8, "layers": 2}
"""Settings of a `GineNetwork`."""


def random_model(
    network: Mapping[str, Any],
    encoding: str | Mapping[str, Any] = "hash",
    *,
    types: Sequence[int] = (),
    base: Base = "none",
    steps: Calibration | None = None,
    seed: int = 0,
) -> NetworkModel:
    """A network of some settings whose outputs differ between states, and whose batch statistics are not the first."""
    torch.manual_seed(seed)
    chosen = {"name": encoding} if isinstance(encoding, str) else dict(encoding)
    made = make_network(network, chosen, types)
    for layer in made.modules():
        if isinstance(layer, nn.BatchNorm1d):
            nn.init.normal_(layer.running_mean, std=0.3)
            nn.init.uniform_(layer.running_var, 0.5, 2)
            nn.init.normal_(layer.bias, std=0.3)
    if isinstance(made, GineNetwork):
        nn.init.normal_(made.last.weight, std=0.5)
        nn.init.normal_(made.each.weight, std=0.5)
        made.each.weight.data *= made.is_counted[:, None]
    else:
        nn.init.normal_([layer for layer in made.modules() if isinstance(layer, nn.Linear)][-1].weight, std=0.5)
    target = network.get(TARGET, CLASSES[GINE])
    return NetworkModel(
        path="none",
        kind=next((kind for kind, name in CLASSES.items() if name == target), target),
        domain="coin_in_the_box",
        settings={name: value for name, value in network.items() if name != TARGET},
        encoding=chosen,
        types=tuple(types),
        base=base,
        weights=save_network(made),
        steps=steps or Calibration(),
    )


def bind(kind: Callable[..., S], model: NetworkModel, space: StateSpace, *device: str) -> S:
    """A scorer of PyTorch, which `make_scorer` chooses only where the core does not evaluate the network."""
    return kind(space, model.network, model.encoding, model.base, model.steps, model.known, *device)


def random_regressor(encoding: str = "hash") -> NetworkModel:
    """The paper's network."""
    return random_model(PAPER, encoding)


def write_regressor(path: Path, seed: int = 0) -> Path:
    """The file of a model of the paper's network."""
    random_model(PAPER, seed=seed).write(path)
    return path
