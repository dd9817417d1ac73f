"""Checkpoints: files of PyTorch that end with the checksum of all that is before it.

What is damaged is refused before anything in it is looked at.
"""

from __future__ import annotations

import io
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, get_args

import torch
from torch import nn

from epigym.errors import CheckpointError, DamagedError, MissingCheckpointError
from epigym.io.checksummed import DIGITS, append_checksum, read_checksummed_bytes
from epigym.io.files import AnyPath, replacing
from learn.models.base import Base
from learn.models.calibration import Calibration
from learn.models.gine.network import make_network

VERSION = 4
"""Raised whenever the hyper-parameters inside a checkpoint, or the graphs, change their meaning."""
_NETWORK = "network."  # before the names of the network's tensors


@dataclass(frozen=True, slots=True)
class Trained:
    """A trained network with everything that is needed to score e-states.

    Attributes:
        path: the file it was read from.
        network: in evaluation mode, on the CPU.
        encoding: of the graphs that it reads, with its settings.
        types: ids of the types that occurred in training; empty where the encoding has none.
        base: the heuristic that it corrects.
        steps: from its values to steps.
        domains: domains that it was trained on.
    """

    path: Path
    network: nn.Module
    encoding: dict[str, Any]
    types: tuple[int, ...]
    base: Base
    steps: Calibration
    domains: tuple[str, ...]


class Content(NamedTuple):
    """What is in a checkpoint that `learn.train` wrote.

    Attributes:
        path: the file.
        parameters: the hyper-parameters.
        state: the tensors of the network by name.
    """

    path: Path
    parameters: dict[str, Any]
    state: dict[str, torch.Tensor]


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
        temporary.write_bytes(append_checksum(archive[:-2] + struct.pack("<H", DIGITS)))


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
        data = read_checksummed_bytes(file, "train it again, or get it again from where it was made")
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
        Path(path), parameters, {key.removeprefix(_NETWORK): value for key, value in state if key.startswith(_NETWORK)}
    )


def load(path: AnyPath) -> Trained:
    """Read a network; errors as `read`, and `restore`."""
    return restore(read(path))


def restore(content: Content) -> Trained:
    """The network of a checkpoint.

    Raises:
        CheckpointError: when it is of another version, or makes no network.
    """
    path, parameters, state = content
    if parameters["version"] != VERSION:
        raise CheckpointError(
            f"{path} was written by another version of epigym (format {parameters['version']}, expected {VERSION}): "
            "train it again"
        )
    try:
        encoding, types, base = dict(parameters["encoding"]), tuple(parameters["types"]), parameters["base"]
        if base not in get_args(Base):
            raise ValueError(f"base is {base!r}, expected one of {', '.join(get_args(Base))}")
        network = make_network(parameters["network"], encoding, types)
        network.load_state_dict(state)
        steps, domains = Calibration(*parameters["steps"]), tuple(parameters["domains"])
    except Exception as error:  # whatever a network of the user's may raise
        reason = str(error).partition(chr(10))[0]
        raise CheckpointError(f"{path} is not a checkpoint of learn.train: {reason}") from None
    return Trained(path, network.eval().requires_grad_(False), encoding, types, base, steps, domains)
