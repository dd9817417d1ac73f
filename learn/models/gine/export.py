"""Export of networks as ONNX files for other programs."""

from __future__ import annotations

import json
import logging
import warnings
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Final, cast

import numpy as np
import torch
from torch import Tensor, nn
from torch.export import Dim

from domains import DOMAINS
from epigym.config.packages import extras
from epigym.config.targets import full_name
from epigym.encoding.encoder import make_encoder, make_encoding
from epigym.encoding.pyg import to_pyg
from epigym.encoding.relational import Relational
from epigym.errors import LimitError, ModelError
from epigym.io.files import replacing
from epigym.problem import load_problem
from epigym.space.rows import GraphBatch
from epigym.space.space import StateSpace
from learn.models.gine.model import NetworkModel

INPUTS: Final = ("x", "edge_index", "edge_attr", "node_type", "batch", "graphs")
"""Names of the inputs of an exported network: fields of `epigym.to_pyg`, and any array of shape [k] for k graphs."""
_TOLERANCE = 1e-3
_SMALL, _STATES = "coin_in_the_box/pl_3", 64


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
def export_onnx(model: NetworkModel, path: Path) -> float:
    """Write a network as one ONNX file with dynamic numbers of nodes, edges and graphs, atomically.

    Its metadata contain the domain, the encoding, the base heuristic and the calibration.

    Args:
        model: the network.
        path: the file to write.

    Returns:
        The largest difference between the outputs of the file and of the network on the graphs of some e-states.

    Raises:
        MissingError: when the packages of the extra `export` are not installed.
        ModelError: when PyTorch cannot trace the network, or an output differs by over a thousandth of the largest.
    """
    import onnx
    import onnxscript  # noqa: F401 - the exporter needs it

    network = _Exported(model.network).eval()
    try:
        exported = cast(Any, _trace(network, model)).model_proto
    except torch.onnx.OnnxExporterError as error:
        reason = str(error.__cause__ or error).partition("\n")[0].rstrip(".")
        remedy = "compute with operations of PyTorch only, without loops and branches on values"
        raise ModelError(
            f"{model.path}: torch.export cannot trace {full_name(type(model.network))}: {reason}: {remedy}"
        ) from error
    metadata = {
        "domain": model.domain,
        "encoding": model.encoding,
        "base": model.base,
        "calibration": [list(model.steps.values), list(model.steps.steps)],
    }
    onnx.helper.set_model_props(exported, {name: json.dumps(value) for name, value in metadata.items()})
    content = exported.SerializeToString()
    difference = _measure_difference(content, network, model)
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path) as temporary:
        temporary.write_bytes(content)
    return difference


def _trace(network: nn.Module, model: NetworkModel) -> Any:
    nodes, edges, graphs = (Dim(name, max=2**31) for name in ("nodes", "edges", "graphs"))
    encoding = make_encoding(model.encoding)
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
        return torch.onnx.export(
            network,
            example,
            input_names=INPUTS,
            output_names=("values",),
            dynamic_shapes=({0: nodes}, {1: edges}, {0: edges}, {0: nodes}, {0: nodes}, {0: graphs}),
            dynamo=True,
            external_data=False,
            verbose=False,
        )


def _measure_difference(content: bytes, network: nn.Module, model: NetworkModel) -> float:
    """The largest difference between the outputs of an exported network and of the network."""
    import onnxruntime  # type: ignore[import-untyped]

    session = onnxruntime.InferenceSession(content, providers=["CPUExecutionProvider"])
    data = to_pyg(_make_graphs(model))
    inputs = (data.x, data.edge_index, data.edge_attr, data.node_type, data.batch, torch.zeros(data.num_graphs))
    with torch.inference_mode():
        expected = network(*inputs).numpy()
    given = {entry.name for entry in session.get_inputs()}  # without inputs that the network does not use
    feed = {name: value.numpy() for name, value in zip(INPUTS, inputs, strict=True) if name in given}
    (found,) = session.run(None, feed)
    difference = float(np.abs(found - expected).max())
    if not difference <= _TOLERANCE * max(1.0, float(np.abs(expected).max())):
        raise ModelError(f"{model.path}: the exported network differs from the network by {difference:.3g}: report it")
    return difference


def _make_graphs(model: NetworkModel) -> GraphBatch:
    """The graphs of some e-states of the model's domain, or of a small problem that fits every encoding."""
    encoding = make_encoding(model.encoding)
    for problem in (model.domain, _SMALL):
        if problem.partition("/")[0] in DOMAINS:
            space = StateSpace(load_problem(problem))
            with suppress(LimitError):
                ids = np.unique(np.append(space.expand([space.initial]).target, space.initial))[:_STATES]
                return make_encoder(space, encoding).graphs(ids)
    raise LimitError(f"{model.path}: {_SMALL} does not fit the encoding")
