"""Scoring e-states with an exported regressor and ONNX Runtime."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from epigym.config.packages import extras
from epigym.encoding.encoder import Encoder
from epigym.encoding.goal_graph import MAX_LABEL
from epigym.errors import CheckpointError, DamagedError, MissingCheckpointError
from epigym.io.sealed import read_bytes
from epigym.space import ragged
from epigym.space.space import StateSpace

INPUTS = ("x", "edge_index", "edge_attr", "graph", "graph_mask")
"""Names of the inputs of an exported regressor, as `learn.models.gine.regressor.Regressor.forward` describes them."""
METADATA_VERSION = 2
"""Raised whenever the inputs or the metadata change."""


class OnnxScorer:
    """Scores the e-states of one space with an exported regressor.

    Args:
        path: a file that `learn.export` wrote.
        space: where the e-states live.
        threads: threads of ONNX Runtime; with more than one the order of additions, and so the rounding, varies.

    Attributes:
        encoding: keyword arguments of `epigym.encoding.encoder.Encoder`.

    Raises:
        CheckpointError: when it cannot be read or was not written by `learn.export`.
        LimitError: when the task does not fit the encoding that the regressor was trained with.
        MissingError: when ONNX Runtime is not installed.
    """

    relaxation = None

    def __init__(self, path: str | os.PathLike[str], space: StateSpace, threads: int = 1) -> None:
        self._session, self.encoding = _open(Path(path), threads)
        self._encoder = Encoder(space, **self.encoding)

    def score(self, ids: NDArray[np.integer]) -> NDArray[np.float64]:
        """float64[k]: the predicted number of steps to a goal from each of `ids` (int32[k])."""
        batch = self._encoder.graphs(ids)
        sizes = ragged.lengths(batch.node_ptr)
        values = (
            batch.nodes.astype(np.float32),
            batch.edge_index,
            batch.edge_label[:, None].astype(np.float32) / MAX_LABEL,
            np.repeat(np.arange(len(sizes)), sizes),
            np.zeros(len(sizes), dtype=np.float32),
        )
        (steps,) = self._session.run(None, dict(zip(INPUTS, values, strict=True)))
        return np.asarray(steps, dtype=np.float64)


@extras()
def _open(file: Path, threads: int) -> tuple[Any, dict[str, Any]]:
    """The session and the encoding of an exported regressor."""
    import onnxruntime  # type: ignore[import-untyped]

    if not file.exists():
        raise MissingCheckpointError(f"there is no exported regressor {file}: write one with `python -m learn.export`")
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    try:
        data = read_bytes(file, "export it again, or get it again from where it was made")
        session = onnxruntime.InferenceSession(data, options, providers=["CPUExecutionProvider"])
        properties = session.get_modelmeta().custom_metadata_map
        version, encoding = (json.loads(properties[name]) for name in ("version", "encoding"))
    except DamagedError as error:
        raise CheckpointError(str(error)) from None
    except Exception as error:  # ONNX Runtime has a dozen exception classes without a common base
        reason = str(error).strip().splitlines()[0]
        raise CheckpointError(f"{file} is not a regressor of learn.export: {reason}") from None
    if version != METADATA_VERSION:
        raise CheckpointError(f"{file} has format version {version}, expected {METADATA_VERSION}: export it again")
    return session, encoding
