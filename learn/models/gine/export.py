"""Networks as ONNX files, which run without PyTorch."""

from __future__ import annotations

import json
import logging
import warnings
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import torch
from torch import Tensor, nn
from torch.export import Dim

from epigym.config.packages import extras
from epigym.encoding.encoder import make_encoding
from epigym.encoding.relational import Relational
from epigym.io.checksummed import DIGITS, append_checksum
from epigym.io.files import replacing
from learn.models.checkpoints import Trained
from learn.models.gine.onnx_scorer import INPUTS, METADATA_VERSION


class _Exported(nn.Module):
    """A network with tensors as inputs instead of a batch of PyTorch Geometric.

    Args:
        network: the network.
    """

    def __init__(self, network: nn.Module) -> None:
        super().__init__()
        self.network = network

    def forward(
        self, x: Tensor, edge_index: Tensor, edge_attr: Tensor, node_type: Tensor, batch: Tensor, graphs: Tensor
    ) -> Tensor:
        """float32[k]: the output for k graphs; `graphs` is any tensor of shape [k]."""
        fields = {"x": x, "edge_index": edge_index, "edge_attr": edge_attr, "node_type": node_type, "batch": batch}
        return self.network(SimpleNamespace(**fields, num_graphs=graphs.size(0)))  # type: ignore[no-any-return]


@extras()
def export_onnx(trained: Trained, path: Path) -> None:
    """Write a network as one ONNX file with dynamic numbers of nodes, edges and graphs, atomically.

    Its metadata contain the encoding, the base, the calibration, the domains, a format version and a checksum.

    Args:
        trained: the network.
        path: the file to write.

    Raises:
        MissingError: when the packages of the extra `export` are not installed.
    """
    import onnx
    import onnxscript  # noqa: F401 - the exporter needs it

    nodes, edges, graphs = (Dim(name, max=2**31) for name in ("nodes", "edges", "graphs"))
    encoding = make_encoding(trained.encoding)
    is_typed = isinstance(encoding, Relational)
    columns = 2 + encoding.types_per_node if isinstance(encoding, Relational) else encoding.width
    kind = torch.int64 if is_typed else torch.float32
    example = (
        torch.zeros(5, columns, dtype=kind),
        torch.tensor([[0, 1, 2, 3], [1, 2, 1, 4]]),
        torch.zeros(4, 1, dtype=kind),
        torch.zeros(5, dtype=torch.int64),
        torch.tensor([0, 0, 0, 1, 1]),
        torch.zeros(2),
    )
    for name in ("onnx_ir", "onnxscript", "torch.onnx"):
        logging.getLogger(name).setLevel(logging.ERROR)  # they log every node
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        program = torch.onnx.export(
            _Exported(trained.network).eval(),
            example,
            input_names=INPUTS,
            output_names=("values",),
            dynamic_shapes=({0: nodes}, {1: edges}, {0: edges}, {0: nodes}, {0: nodes}, {0: graphs}),
            dynamo=True,
            external_data=False,
            verbose=False,
        )
    model = cast(Any, program).model_proto
    metadata = {
        "version": METADATA_VERSION,
        "encoding": trained.encoding,
        "base": trained.base,
        "steps": [list(trained.steps.values), list(trained.steps.steps)],
        "domains": list(trained.domains),
        "checkpoint": str(trained.path),
    }
    onnx.helper.set_model_props(model, {name: json.dumps(value) for name, value in metadata.items()})
    # Protocol buffers can be concatenated: the checksum is a further property whose value ends the file.
    checksum = onnx.StringStringEntryProto(key="sha256", value="0" * DIGITS)
    last = onnx.ModelProto(metadata_props=[checksum]).SerializeToString()
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path) as temporary:
        temporary.write_bytes(append_checksum(model.SerializeToString() + last[:-DIGITS]))
