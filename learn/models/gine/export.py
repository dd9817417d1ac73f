"""Regressors as ONNX files, which run without PyTorch."""

from __future__ import annotations

import json
import logging
import warnings
from pathlib import Path
from typing import Any, cast

import torch
from torch import Tensor, nn
from torch.export import Dim

from epigym.config.packages import extras
from epigym.io.files import replacing
from epigym.io.sealed import DIGITS, seal
from learn.models.checkpoints import Trained
from learn.models.gine.onnx_scorer import INPUTS, METADATA_VERSION


class StepRegressor(nn.Module):
    """The regressor with its output in steps.

    Args:
        trained: the regressor and its target.
    """

    def __init__(self, trained: Trained) -> None:
        super().__init__()
        self.regressor = trained.regressor
        self.target = trained.target

    def forward(self, x: Tensor, edge_index: Tensor, edge_attr: Tensor, graph: Tensor, graph_mask: Tensor) -> Tensor:
        """Predicted distances in steps, float32[k]; see `Regressor.forward` for the inputs."""
        return self.target.steps(self.regressor(x, edge_index, edge_attr, graph, graph_mask))


@extras()
def export_onnx(trained: Trained, path: Path) -> None:
    """Write a regressor as one ONNX file whose numbers of nodes, edges and graphs are free.

    Its metadata carry the encoding, the domains, a format version and a checksum. The file appears complete or not at
    all.

    Args:
        trained: the regressor.
        path: the file to write.

    Raises:
        MissingError: when the packages of the extra `export` are not installed.
    """
    import onnx
    import onnxscript  # noqa: F401 - the exporter needs it

    nodes, edges, graphs = (Dim(name, max=2**31) for name in ("nodes", "edges", "graphs"))
    example = (
        torch.zeros(5, trained.encoding["width"]),
        torch.tensor([[0, 1, 2, 3], [1, 2, 1, 4]]),
        torch.zeros(4, 1),
        torch.tensor([0, 0, 0, 1, 1]),
        torch.zeros(2),
    )
    for name in ("onnx_ir", "onnxscript", "torch.onnx"):
        logging.getLogger(name).setLevel(logging.ERROR)  # they tell of every node
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        program = torch.onnx.export(
            StepRegressor(trained).eval(),
            example,
            input_names=INPUTS,
            output_names=("steps",),
            dynamic_shapes=({0: nodes}, {1: edges}, {0: edges}, {0: nodes}, {0: graphs}),
            dynamo=True,
            external_data=False,
            verbose=False,
        )
    model = cast(Any, program).model_proto
    metadata = {
        "version": METADATA_VERSION,
        "encoding": trained.encoding,
        "domains": list(trained.domains),
        "checkpoint": str(trained.path),
    }
    onnx.helper.set_model_props(model, {name: json.dumps(value) for name, value in metadata.items()})
    # Protocol buffers can be strung together: the checksum is one more property, whose value is the end of the file.
    checksum = onnx.StringStringEntryProto(key="sha256", value="0" * DIGITS)
    last = onnx.ModelProto(metadata_props=[checksum]).SerializeToString()
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path) as temporary:
        temporary.write_bytes(seal(model.SerializeToString() + last[:-DIGITS]))
