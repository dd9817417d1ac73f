"""Networks with random weights, as if trained."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from torch import nn

from learn.models.base import Base
from learn.models.calibration import Calibration
from learn.models.checkpoints import VERSION, Trained, write
from learn.models.gine.network import GineNetwork, make_network

PAPER = {"_target_": "learn.models.gine.paper.PaperNetwork"}
SMALL = {"width": 8, "layers": 2}
"""Settings of a `GineNetwork`."""


def random_trained(
    network: Mapping[str, Any],
    encoding: str | Mapping[str, Any] = "hash",
    *,
    types: Sequence[int] = (),
    base: Base = "none",
    steps: Calibration | None = None,
    seed: int = 0,
) -> Trained:
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
    made.eval().requires_grad_(False)
    return Trained(Path("none"), made, chosen, tuple(types), base, steps or Calibration(), ("coin_in_the_box",))


def random_regressor(encoding: str = "hash") -> Trained:
    """The paper's network."""
    return random_trained(PAPER, encoding)


def content_of(trained: Trained, network: Mapping[str, Any]) -> dict[str, Any]:
    """What training writes of a network of some settings."""
    return {
        "hyper_parameters": {
            "version": VERSION,
            "encoding": trained.encoding,
            "types": list(trained.types),
            "network": dict(network),
            "base": trained.base,
            "steps": [list(trained.steps.values), list(trained.steps.steps)],
            "domains": list(trained.domains),
        },
        "state_dict": {f"network.{name}": tensor for name, tensor in trained.network.state_dict().items()},
    }


def write_checkpoint(path: Path, seed: int = 0) -> Path:
    """A checkpoint of the paper's network in the form that training writes."""
    write(content_of(random_trained(PAPER, seed=seed), PAPER), path)
    return path
