"""Exported networks agree with PyTorch, whatever their encoding and base."""

import json
import logging
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch

from epigym import load_problem
from epigym.encoding.encoder import ENCODINGS, list_identifiers
from epigym.encoding.relational import KIND_OF, KINDS, RELATIONS, Relational, type_ids_of
from epigym.errors import ModelError, UsageError
from epigym.features.types import FeatureTypes
from learn import export as command
from learn.models.calibration import Calibration
from learn.models.gine import export
from learn.models.gine.export import INPUTS, export_onnx
from learn.models.gine.model import NetworkModel
from learn.models.shipped import locate_shipped
from tests.helpers.commands import compose
from tests.helpers.trained import PAPER, SMALL, random_model, random_regressor

onnx = pytest.importorskip("onnx")
onnxruntime = pytest.importorskip("onnxruntime")
pytest.importorskip("onnxscript")

pytestmark = pytest.mark.slow

CLOSE = 1e-4  # steps
PROBLEM = "coin_in_the_box/pl_7"
STEPS = Calibration([-2.5, 0.25, 3.0], [0.0, 1.0, 7.0])


def types_of(encoding: str) -> list[int]:
    return type_ids_of([FeatureTypes(load_problem(PROBLEM))], Relational()) if encoding == "relational" else []


def make_model(network: dict[str, Any], encoding: str, **changed: Any) -> NetworkModel:
    return random_model(network, encoding, types=types_of(encoding), **changed)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("export")


@pytest.fixture(scope="module")
def onnx_file(folder: Path) -> Path:
    """The paper's network."""
    export_onnx(random_regressor(), folder / "paper" / "network.onnx")
    return folder / "paper" / "network.onnx"


@pytest.fixture(scope="module")
def typed_file(folder: Path) -> Path:
    """A network of typed graphs."""
    export_onnx(make_model(SMALL, "relational"), folder / "typed.onnx")
    return folder / "typed.onnx"


@pytest.mark.parametrize(
    ("nodes", "edges", "graphs"), [(40, 90, 6), (5, 4, 2), (1, 0, 1), (30, 30, 30), (7, 1, 7), (300, 2000, 1)]
)
@pytest.mark.parametrize("kind", ["onnx_file", "typed_file"])
def test_onnx_runtime_agrees(request: pytest.FixtureRequest, kind: str, nodes: int, edges: int, graphs: int) -> None:
    file: Path = request.getfixturevalue(kind)
    generator = torch.Generator().manual_seed(nodes)

    def random(most: int, *shape: int) -> torch.Tensor:
        return torch.randint(most, shape, generator=generator)

    batch = torch.cat([torch.arange(graphs), random(graphs, nodes - graphs)])
    if kind == "typed_file":
        model, known = make_model(SMALL, "relational"), torch.tensor([0, 1, *types_of("relational")])
        state = random(len(KIND_OF), nodes)
        x = torch.cat([torch.from_numpy(KIND_OF)[state, None], state[:, None], known[random(len(known), nodes, 2)]], 1)
        edge_attr, node_type = random(RELATIONS, edges, 1), random(KINDS, nodes)
    else:
        model = random_regressor()
        x, edge_attr, node_type = random(2, nodes, 64).float(), random(256, edges, 1) / 255, random(5, nodes)
    inputs = (x, random(nodes, 2, edges), edge_attr, node_type, batch, torch.zeros(graphs))
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1  # several threads add up the messages of large graphs in any order
    session = onnxruntime.InferenceSession(file, options, providers=["CPUExecutionProvider"])
    given = {entry.name for entry in session.get_inputs()}
    values = {name: value.numpy() for name, value in zip(INPUTS, inputs, strict=True) if name in given}
    (found,) = session.run(None, values)
    expected = model.network(SimpleNamespace(**dict(zip(INPUTS, inputs, strict=True)), num_graphs=graphs)).numpy()
    assert found.shape == expected.shape == (graphs,)
    assert np.abs(found - expected).max() < CLOSE


@pytest.mark.parametrize(
    ("network", "encoding"), [*((SMALL, name) for name in ENCODINGS), *((PAPER, name) for name in list_identifiers())]
)
def test_the_largest_difference_is_told(network: dict[str, Any], encoding: str, folder: Path) -> None:
    model = make_model(network, encoding, steps=STEPS)
    file = folder / f"{network is PAPER}_{encoding}.onnx"
    assert 0 <= export_onnx(model, file) < CLOSE
    assert file.exists()


def test_a_network_that_differs_is_not_written(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    trace = export._trace
    other = export._Exported(random_model(PAPER, seed=1).network).eval()
    monkeypatch.setattr(export, "_trace", lambda network, model: trace(other, model))
    with pytest.raises(ModelError, match=r"^none: the exported network differs from the network by \S+: report it$"):
        export_onnx(random_regressor(), folder / "differs.onnx")
    assert not (folder / "differs.onnx").exists()


class Untraceable(torch.nn.Module):
    def forward(self, data: Any) -> torch.Tensor:
        return torch.from_numpy(np.bincount(data.batch.numpy(), minlength=data.num_graphs)).float()


def test_a_network_that_cannot_be_traced_is_named(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(NetworkModel, "network", Untraceable())
    with pytest.raises(
        ModelError, match=r"cannot trace tests\.\S+\.Untraceable: .+: compute with operations"
    ) as refused:
        export_onnx(random_regressor(), folder / "untraceable.onnx")
    assert str(refused.value).isprintable()  # one line without colours


def test_one_file_is_written_that_knows_what_it_is(onnx_file: Path) -> None:
    assert [path.name for path in onnx_file.parent.iterdir()] == ["network.onnx"]
    session = onnxruntime.InferenceSession(onnx_file, providers=["CPUExecutionProvider"])
    found = session.get_modelmeta().custom_metadata_map
    assert {name: json.loads(value) for name, value in found.items()} == {
        "domain": "coin_in_the_box",
        "encoding": {"name": "hash"},
        "base": "none",
        "calibration": [[], []],
    }
    onnx.checker.check_model(onnx.load(onnx_file))


def test_the_command_writes_next_to_the_model(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    make_model(SMALL, "relational").write(tmp_path / "model.safetensors")
    with caplog.at_level(logging.INFO):
        command.export(compose(command.Export, "export", f"model={tmp_path}"))
    assert (tmp_path / "model.onnx").exists()
    assert re.search(rf"{tmp_path}/model\.onnx: outputs differ by at most \S+ from those", caplog.text)
    with pytest.raises(UsageError, match=r"^model=\S+general\.safetensors is a linear model, expected a network$"):
        command.export(compose(command.Export, "export", f"model={locate_shipped('linear', 'general')}"))
