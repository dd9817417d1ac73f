"""Checkpoints: files of PyTorch that end with the checksum of all that is before it.

What is damaged is refused before anything in it is looked at.
"""

from __future__ import annotations

import io
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import nn

from epigym.config.targets import TARGET, find, make
from epigym.errors import CheckpointError, DamagedError, MissingCheckpointError
from epigym.io.files import AnyPath, replacing
from epigym.io.sealed import DIGITS, read_bytes, seal
from learn.models.gine.regressor import Regressor
from learn.models.gine.target import Target

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
        encoding: keyword arguments of `epigym.encoding.encoder.Encoder`.
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


def write(content: Mapping[str, Any], path: AnyPath) -> None:
    """Write plain values and tensors so that `read_all` knows whether they are what was written.

    The file is one of `torch.save`, an archive whose comment is the checksum; it appears complete or not at all.
    """
    file = io.BytesIO()
    torch.save(content, file)
    archive = file.getvalue()
    assert archive.endswith(b"\0\0"), "the length of its comment"
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    with replacing(path) as temporary:
        temporary.write_bytes(seal(archive[:-2] + struct.pack("<H", DIGITS)))


def read_all(path: AnyPath) -> dict[str, Any]:
    """All that is in a checkpoint, its tensors on the CPU.

    Raises:
        MissingCheckpointError: when there is no such file.
        CheckpointError: when it is damaged, not of this program, or has weights that are no numbers.
    """
    file = Path(path)
    if not file.exists():
        raise MissingCheckpointError(f"there is no checkpoint {file}: train one with `python -m learn.train domain=…`")
    try:
        data = read_bytes(file, "train it again, or get it again from where it was made")
        content: dict[str, Any] = torch.load(io.BytesIO(data), map_location="cpu", weights_only=True)
        wrong = [name for name, tensor in content["state_dict"].items() if not tensor.isfinite().all()]
    except DamagedError as error:
        raise CheckpointError(str(error)) from None
    except Exception as error:  # whatever reading junk may raise
        raise CheckpointError(f"{file} is not a checkpoint of learn.train ({type(error).__name__})") from None
    if wrong:
        remedy = "train again with a lower learning rate"
        raise CheckpointError(f"{file} has weights that are no finite numbers in {wrong[0]}: {remedy}")
    return content


def read(path: AnyPath) -> Content:
    """What a checkpoint that `learn.train` wrote says of its model; errors as `read_all`."""
    content = read_all(path)
    try:
        parameters, state = dict(content["hyper_parameters"]), content["state_dict"].items()
        parameters["version"]
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise CheckpointError(f"{path} is not a checkpoint of learn.train: {error}") from None
    return Content(
        Path(path), parameters, {key.removeprefix(NETWORK): value for key, value in state if key.startswith(NETWORK)}
    )


def load(path: AnyPath) -> Trained:
    """Read a regressor; errors as `read`, and `restore`."""
    return restore(read(path))


def _require_network(target: str | None) -> None:
    """See that what a checkpoint wants to be called is a class of networks, and nothing else."""
    found = Regressor if target is None else find(target)
    if not (isinstance(found, type) and issubclass(found, nn.Module)):
        raise TypeError(f"{TARGET}={target} is no class of networks")


def unfit(path: Path, error: Exception) -> CheckpointError:
    """The error that a checkpoint does not make a model, in one line."""
    return CheckpointError(f"{path} is not a checkpoint of learn.train: {str(error).partition(chr(10))[0]}")


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
        width, network = parameters["encoding"]["width"], parameters["network"]
        _require_network(network.get(TARGET))
        regressor = make(network, Regressor, width, margin=target.beta)
        regressor.load_state_dict(state)
        encoding, domains = dict(parameters["encoding"]), tuple(parameters["domains"])
    except Exception as error:  # whatever a network of the user's may raise
        raise unfit(path, error) from None
    return Trained(path, regressor.eval().requires_grad_(False), target, encoding, domains)
