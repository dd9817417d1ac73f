"""Reading checkpoints."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from epigym.errors import CheckpointError, MissingCheckpointError
from epigym.targets import make
from learn.model.regressor import Regressor
from learn.model.target import Target

HYPERPARAMETER_VERSION = 2
"""Raised whenever the hyper-parameters inside a checkpoint change their meaning."""


@dataclass(frozen=True, slots=True)
class Trained:
    """A trained regressor with everything that is needed to score e-states.

    Attributes:
        path: the file it was read from.
        regressor: in evaluation mode, on the CPU.
        target: from its output to steps.
        encoding: keyword arguments of `epigym.encoding.Encoder`.
        domains: domains that it was trained on.
    """

    path: Path
    regressor: Regressor
    target: Target
    encoding: dict[str, Any]
    domains: tuple[str, ...]


def load(path: str | os.PathLike[str]) -> Trained:
    """Read a checkpoint that `learn.train` wrote.

    Raises:
        MissingCheckpointError: when there is no such file.
        CheckpointError: when it is damaged, or not of this program.
    """
    file = Path(path)
    if not file.is_file():
        raise MissingCheckpointError(f"there is no checkpoint {file}: train one with `python -m learn.train domain=…`")
    try:
        content = torch.load(file, map_location="cpu", weights_only=True)
    except Exception as error:  # whatever unpickling junk may raise
        raise CheckpointError(f"{file} is not a readable checkpoint ({type(error).__name__})") from None
    try:
        parameters = content["hyper_parameters"]
        if parameters["version"] != HYPERPARAMETER_VERSION:
            raise CheckpointError(
                f"{file} was written by another version of epigym (format {parameters['version']}, expected "
                f"{HYPERPARAMETER_VERSION}): train it again"
            )
        target = Target(**parameters["target"])
        regressor = make(parameters["network"], Regressor, parameters["encoding"]["width"], margin=target.beta)
        prefix = "regressor."
        state = content["state_dict"].items()
        regressor.load_state_dict({key.removeprefix(prefix): value for key, value in state if key.startswith(prefix)})
        encoding, domains = dict(parameters["encoding"]), tuple(parameters["domains"])
    except (KeyError, TypeError, RuntimeError) as error:
        raise CheckpointError(f"{file} is not a checkpoint of learn.train: {error}") from None
    return Trained(file, regressor.eval().requires_grad_(False), target, encoding, domains)
