"""Scoring e-states with an exported regressor and ONNX Runtime."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from epigym.encoding import MAX_LABEL, encoder
from epigym.errors import CheckpointError, EpigymError
from epigym.space import StateSpace

INPUTS = ("x", "edge_index", "edge_attr", "graph", "graph_mask")
"""Names of the inputs of an exported regressor, as `learn.model.regressor.Regressor.forward` describes them."""
METADATA_VERSION = 1
"""Raised whenever the inputs or the metadata change."""


class OnnxScorer:
    """An exported regressor, ready to be bound to any state space.

    Args:
        path: a file that `learn.export` wrote.
        threads: threads of ONNX Runtime; with more than one the order of additions, and so the rounding, varies.

    Raises:
        CheckpointError: when it cannot be read or was not written by `learn.export`.
        EpigymError: when ONNX Runtime is missing.
    """

    def __init__(self, path: str | os.PathLike[str], threads: int = 1) -> None:
        """Open the file."""
        try:
            import onnxruntime  # type: ignore[import-untyped]
        except ModuleNotFoundError:
            raise EpigymError("this needs the package onnxruntime: pip install 'epigym[export]'") from None
        file = Path(path)
        if not file.is_file():
            raise CheckpointError(f"there is no exported regressor {file}: write one with `python -m learn.export`")
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        try:
            self._session = onnxruntime.InferenceSession(file, options, providers=["CPUExecutionProvider"])
            properties = self._session.get_modelmeta().custom_metadata_map
            metadata = {name: json.loads(value) for name, value in properties.items()}
            version, self.encoding = metadata["version"], metadata["encoding"]
        except Exception as error:  # ONNX Runtime has a dozen exception classes without a common base
            reason = str(error).strip().splitlines()[0]
            raise CheckpointError(f"{file} is not a regressor of learn.export: {reason}") from None
        if version != METADATA_VERSION:
            raise CheckpointError(f"{file} has format version {version}, expected {METADATA_VERSION}: export it again")

    def bind(self, space: StateSpace) -> BoundOnnxScorer:
        """The scorer of the e-states of one space.

        Raises:
            LimitError: when the task does not fit the encoding that the regressor was trained with.
        """
        return BoundOnnxScorer(self._session, self.encoding, space)


class BoundOnnxScorer:
    """Scores the e-states of one space; made by `OnnxScorer.bind`.

    Args:
        session: the exported regressor.
        encoding: keyword arguments of `epigym.encoding.encoder`.
        space: where the e-states live.
    """

    def __init__(self, session: Any, encoding: dict[str, Any], space: StateSpace) -> None:
        """Encode the goal."""
        self._session = session
        self._space = space
        self._encoder = encoder(space.task, **encoding)

    def score(self, ids: NDArray[np.integer]) -> NDArray[np.float64]:
        """float64[k]: the predicted number of steps to a goal from each of `ids` (int32[k])."""
        batch = self._space.graphs(ids, self._encoder)
        sizes = batch.node_ptr[1:] - batch.node_ptr[:-1]
        values = (
            batch.node_bits.astype(np.float32),
            batch.edge_index,
            batch.edge_label[:, None].astype(np.float32) / MAX_LABEL,
            np.repeat(np.arange(len(sizes)), sizes),
            np.zeros(len(sizes), dtype=np.float32),
        )
        (steps,) = self._session.run(None, dict(zip(INPUTS, values, strict=True)))
        return np.asarray(steps, dtype=np.float64)
