"""Reading checkpoints."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import torch

from epigym.errors import CheckpointError, MissingCheckpointError
from epigym.targets import make
from learn.model.regressor import Regressor
from learn.model.target import Target

HYPERPARAMETER_VERSION = 2
"""Raised whenever the hyper-parameters inside a checkpoint change their meaning."""
NETWORK = "regressor."
"""Before the names of the network's tensors, whatever kind of model a checkpoint holds."""


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


class Content(NamedTuple):
    """What is in a checkpoint that `learn.train` wrote, whatever kind of model it holds.

    Attributes:
        path: the file.
        parameters: the hyper-parameters.
        state: the tensors of the network by name.
    """

    path: Path
    parameters: dict[str, Any]
    state: dict[str, torch.Tensor]

    def require_version(self, expected: int) -> None:
        """See that the hyper-parameters mean what they mean here.

        Raises:
            CheckpointError: when they do not.
        """
        if self.parameters["version"] != expected:
            raise CheckpointError(
                f"{self.path} was written by another version of epigym (format {self.parameters['version']}, expected "
                f"{expected}): train it again"
            )


def read(path: str | os.PathLike[str]) -> Content:
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
        parameters, state = dict(content["hyper_parameters"]), content["state_dict"].items()
        parameters["version"]
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise CheckpointError(f"{file} is not a checkpoint of learn.train: {error}") from None
    return Content(
        file, parameters, {key.removeprefix(NETWORK): value for key, value in state if key.startswith(NETWORK)}
    )


def load(path: str | os.PathLike[str]) -> Trained:
    """Read a regressor; errors as `read`, and `restore`."""
    return restore(read(path))


def restore(content: Content) -> Trained:
    """The regressor of a checkpoint.

    Raises:
        CheckpointError: when it holds another kind of model, or one of another version.
    """
    path, parameters, state = content
    if "kind" in parameters:
        raise CheckpointError(f"{path} holds a model={parameters['kind']}: expected a regressor, as of model=gine")
    content.require_version(HYPERPARAMETER_VERSION)
    try:
        target = Target(**parameters["target"])
        regressor = make(parameters["network"], Regressor, parameters["encoding"]["width"], margin=target.beta)
        regressor.load_state_dict(state)
        encoding, domains = dict(parameters["encoding"]), tuple(parameters["domains"])
    except (KeyError, TypeError, RuntimeError) as error:
        raise CheckpointError(f"{path} is not a checkpoint of learn.train: {error}") from None
    return Trained(path, regressor.eval().requires_grad_(False), target, encoding, domains)
