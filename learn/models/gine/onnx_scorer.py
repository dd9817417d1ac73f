"""A scorer that evaluates an exported network with ONNX Runtime."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from epigym.config.packages import extras
from epigym.encoding.encoder import make_encoder, make_encoding
from epigym.encoding.pyg import node_types, scale
from epigym.errors import CheckpointError, DamagedError, MissingCheckpointError
from epigym.io.checksummed import read_checksummed_bytes
from epigym.space import ragged
from epigym.space.space import StateSpace
from learn.models.base import Base
from learn.models.calibration import Calibration
from learn.models.scoring import CorrectingScorer

INPUTS = ("x", "edge_index", "edge_attr", "node_type", "batch", "graphs")
"""Names of the inputs of an exported network: fields of `epigym.to_pyg`, and any array of shape [k] for k graphs."""
METADATA_VERSION = 4
"""Version of the inputs and the metadata."""


class OnnxScorer(CorrectingScorer):
    """An exported network bound to a state space.

    Args:
        path: a file of `learn.export`.
        space: the state space.
        threads: number of threads of ONNX Runtime; with several, the order of additions and so the rounding varies.

    Raises:
        CheckpointError: when the file cannot be read or was not written by `learn.export`.
        LimitError: when the task does not fit the encoding that the network was trained with.
        MissingError: when ONNX Runtime is not installed.
    """

    def __init__(self, path: str | os.PathLike[str], space: StateSpace, threads: int = 1) -> None:
        self._session, encoding, base, steps = _open(Path(path), threads)
        super().__init__(space, base, steps)
        self._encoder = make_encoder(space, make_encoding(encoding))

    def _correct(self, ids: NDArray[np.integer]) -> NDArray[np.floating]:
        batch = self._encoder.graphs(ids)
        sizes = ragged.lengths(batch.node_ptr)
        nodes, labels = scale(batch)
        fields = (
            nodes,
            batch.edge_index,
            labels,
            node_types(batch),
            np.repeat(np.arange(len(sizes)), sizes),
            np.zeros(len(sizes), dtype=np.float32),
        )
        given = {entry.name for entry in self._session.get_inputs()}  # without inputs that the network does not use
        values = {name: value for name, value in zip(INPUTS, fields, strict=True) if name in given}
        corrections: NDArray[np.floating]
        (corrections,) = self._session.run(None, values)
        return corrections


@extras()
def _open(file: Path, threads: int) -> tuple[Any, dict[str, Any], Base, Calibration]:
    """The session, the encoding, the base and the calibration of an exported network."""
    import onnxruntime  # type: ignore[import-untyped]

    if not file.exists():
        raise MissingCheckpointError(f"there is no exported network {file}: write one with `python -m learn.export`")
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    try:
        data = read_checksummed_bytes(file, "export it again, or get it again from where it was made")
        session = onnxruntime.InferenceSession(data, options, providers=["CPUExecutionProvider"])
        properties = session.get_modelmeta().custom_metadata_map
        version = json.loads(properties["version"])
    except DamagedError as error:
        raise CheckpointError(str(error)) from None
    except Exception as error:  # ONNX Runtime has a dozen exception classes without a common base
        reason = str(error).strip().splitlines()[0]
        raise CheckpointError(f"{file} is not a network of learn.export: {reason}") from None
    if version != METADATA_VERSION:
        raise CheckpointError(f"{file} has format version {version}, expected {METADATA_VERSION}: export it again")
    encoding, base, steps = (json.loads(properties[name]) for name in ("encoding", "base", "steps"))
    return session, encoding, base, Calibration(*steps)
