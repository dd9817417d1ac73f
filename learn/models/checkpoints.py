"""Checkpoints: PyTorch files that end with a checksum, which is verified before the content is read."""

from __future__ import annotations

import io
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

import torch
from torch import nn

from epigym.errors import CheckpointError, DamagedError, MissingCheckpointError
from epigym.io.checksummed import DIGITS, append_checksum, read_checksummed_bytes
from epigym.io.files import AnyPath, replacing
from learn.models.base import Base
from learn.models.calibration import Calibration
from learn.models.gine.network import make_network

VERSION = 4
"""Version of the hyper-parameters in a checkpoint and of the graphs."""
_NETWORK = "network."  # prefix of the names of the network's tensors


@dataclass(frozen=True, slots=True)
class Trained:
    """A trained network with all data for scoring e-states.

    Attributes:
        path: file of the checkpoint.
        network: the network in evaluation mode, on the CPU.
        encoding: encoding of its graphs, with settings.
        types: ids of the types in the training data; empty if the encoding has none.
        base: the base heuristic that it corrects.
        steps: calibration of its values to steps.
        domains: training domains.
    """

    path: Path
    network: nn.Module
    encoding: dict[str, Any]
    types: tuple[int, ...]
    base: Base
    steps: Calibration
    domains: tuple[str, ...]


def write(content: Mapping[str, Any], path: AnyPath) -> None:
    """Write plain values and tensors with a checksum, atomically.

    The file is an archive of `torch.save` with the checksum as its comment.
    """
    file = io.BytesIO()
    torch.save(content, file)
    archive = file.getvalue()
    assert archive.endswith(b"\0\0"), "the length of its comment"
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    with replacing(path) as temporary:
        temporary.write_bytes(append_checksum(archive[:-2] + struct.pack("<H", DIGITS)))


def read_all(path: AnyPath) -> dict[str, Any]:
    """Read the whole content of a checkpoint, with tensors on the CPU.

    Raises:
        MissingCheckpointError: when there is no such file.
        CheckpointError: when it is damaged, not a checkpoint of this program, or has weights that are not finite.
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
    except Exception as error:  # reading arbitrary files may raise any exception
        raise CheckpointError(f"{file} is not a checkpoint of learn.train ({type(error).__name__})") from None
    if wrong:
        remedy = "train again with a lower learning rate"
        raise CheckpointError(f"{file} has weights that are no finite numbers in {wrong[0]}: {remedy}")
    return content


def load(path: AnyPath) -> Trained:
    """Read the network of a checkpoint of `learn.train`.

    Raises:
        MissingCheckpointError: as `read_all`.
        CheckpointError: as `read_all`, and when its version differs, or it does not describe a network.
    """
    content = read_all(path)
    try:
        parameters = content["hyper_parameters"]
        version = parameters["version"]
        if version == VERSION:
            encoding, types, base = dict(parameters["encoding"]), tuple(parameters["types"]), parameters["base"]
            if base not in get_args(Base):
                raise ValueError(f"base is {base!r}, expected one of {', '.join(get_args(Base))}")
            network = make_network(parameters["network"], encoding, types)
            state = content["state_dict"].items()
            network.load_state_dict({key.removeprefix(_NETWORK): v for key, v in state if key.startswith(_NETWORK)})
            steps, domains = Calibration(*parameters["steps"]), tuple(parameters["domains"])
            return Trained(Path(path), network.eval().requires_grad_(False), encoding, types, base, steps, domains)
    except Exception as error:  # a user's network may raise any exception
        reason = str(error).partition(chr(10))[0]
        raise CheckpointError(f"{path} is not a checkpoint of learn.train: {reason}") from None
    raise CheckpointError(
        f"{path} was written by another version of epigym (format {version}, expected {VERSION}): train it again"
    )
