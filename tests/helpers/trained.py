"""A regressor with random weights, as if trained."""

from __future__ import annotations

from pathlib import Path

import torch

from learn.models.checkpoints import Trained
from learn.models.gine.regressor import Regressor, ResidualBlock
from learn.models.gine.target import Target


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
