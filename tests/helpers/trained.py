"""A regressor with random weights, as if trained."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import torch

from learn.models.checkpoints import Trained, write
from learn.models.gine.regressor import Regressor, ResidualBlock
from learn.models.gine.target import Target
from learn.training.module import HYPERPARAMETER_VERSION


def random_regressor(encoding: str = "hash") -> Trained:
    """Its outputs differ between states, and its batch statistics are not those at the start of training."""
    torch.manual_seed(0)
    regressor = Regressor()
    for block in regressor.head:
        if isinstance(block, ResidualBlock):
            for norm in (block.inner[1], block.inner[5]):
                torch.nn.init.normal_(norm.running_mean, std=0.3)
                torch.nn.init.uniform_(norm.running_var, 0.5, 2)
                torch.nn.init.normal_(norm.bias, std=0.3)
    torch.nn.init.normal_(regressor.head[-1].weight, std=0.5)
    regressor.eval().requires_grad_(False)
    return Trained(Path("none"), regressor, Target.between(50, 1e-3), {"name": encoding, "width": 64}, ())


def write_checkpoint(path: Path, seed: int = 0) -> Path:
    """A checkpoint in the form that training writes."""
    torch.manual_seed(seed)
    regressor = Regressor()
    torch.nn.init.normal_(regressor.head[-1].weight, std=0.5)
    content = {
        "hyper_parameters": {
            "version": HYPERPARAMETER_VERSION,
            "target": asdict(Target.between(50, 1e-3)),
            "encoding": {"name": "hash", "width": 64},
            "network": {},
            "domains": ["coin_in_the_box"],
        },
        "state_dict": {f"regressor.{key}": value for key, value in regressor.state_dict().items()},
    }
    write(content, path)
    return path
