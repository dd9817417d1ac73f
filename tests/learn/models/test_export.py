from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from epigym.problem import load_problem
from epigym.space.space import StateSpace
from learn.models.gine.export import StepRegressor, export_onnx
from learn.models.gine.onnx_scorer import INPUTS, OnnxScorer
from learn.models.gine.scorer import RegressorScorer
from tests.helpers.trained import random_regressor

onnxruntime = pytest.importorskip("onnxruntime")
pytest.importorskip("onnxscript")

CLOSE = 1e-4  # steps


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("export") / "regressor.onnx"
    export_onnx(random_regressor(), path)
    return path


@pytest.mark.parametrize(
    ("nodes", "edges", "graphs"), [(40, 90, 6), (5, 4, 2), (1, 0, 1), (30, 30, 30), (7, 1, 7), (300, 2000, 1)]
)
def test_onnx_runtime_agrees_on_random_batches(exported: Path, nodes: int, edges: int, graphs: int) -> None:
    generator = torch.Generator().manual_seed(nodes)
    graph = torch.cat([torch.arange(graphs), torch.randint(graphs, (nodes - graphs,), generator=generator)])
    inputs = (
        torch.randint(0, 2, (nodes, 64), generator=generator).float(),
        torch.randint(nodes, (2, edges), generator=generator),
        torch.randint(256, (edges, 1), generator=generator) / 255,
        graph,
        torch.zeros(graphs),
    )
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1  # several threads add up the messages of large graphs in any order
    session = onnxruntime.InferenceSession(exported, options, providers=["CPUExecutionProvider"])
    (found,) = session.run(None, {name: value.numpy() for name, value in zip(INPUTS, inputs, strict=True)})
    expected = StepRegressor(random_regressor())(*inputs).numpy()
    assert found.shape == expected.shape
    assert np.abs(found - expected).max() < CLOSE


def test_onnx_scores_are_those_of_the_scorer(exported: Path) -> None:
    space = StateSpace(load_problem("coin_in_the_box/pl_7"))
    for state in range(30):
        space.expand([state])
    ids = np.arange(len(space), dtype=np.int32)
    found = OnnxScorer(exported, space).score(ids)
    assert np.abs(found - RegressorScorer(random_regressor(), space).score(ids)).max() < CLOSE


def test_one_file_is_written_and_knows_its_encoding(exported: Path) -> None:
    assert [path.name for path in exported.parent.iterdir()] == ["regressor.onnx"]
    space = StateSpace(load_problem("coin_in_the_box/pl_3"))
    assert OnnxScorer(exported, space).encoding == {"name": "hash", "width": 64}
