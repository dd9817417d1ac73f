"""Exported networks agree with PyTorch, whatever their encoding and base."""

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch

from epigym import StateSpace, load_problem
from epigym.encoding.encoder import ENCODINGS, list_identifiers
from epigym.encoding.relational import KIND_OF, KINDS, RELATIONS, Relational, type_ids_of
from epigym.errors import CheckpointError, MissingCheckpointError
from epigym.features.relaxation import Relaxation
from epigym.features.types import FeatureTypes
from epigym.io.checksummed import DIGITS, append_checksum
from learn.models.calibration import Calibration
from learn.models.checkpoints import Trained
from learn.models.gine.export import export_onnx
from learn.models.gine.onnx_scorer import INPUTS, METADATA_VERSION, OnnxScorer
from learn.models.gine.scorer import NetworkScorer, make_scorer
from learn.models.scoring import open_scorer
from tests.helpers.trained import PAPER, SMALL, random_regressor, random_trained

onnx = pytest.importorskip("onnx")
onnxruntime = pytest.importorskip("onnxruntime")
pytest.importorskip("onnxscript")

pytestmark = pytest.mark.slow

CLOSE = 1e-4  # steps
PROBLEM = "coin_in_the_box/pl_7"
STEPS = Calibration([-2.5, 0.25, 3.0], [0.0, 1.0, 7.0])


def types_of(encoding: str) -> list[int]:
    return type_ids_of([FeatureTypes(load_problem(PROBLEM))], Relational()) if encoding == "relational" else []


def make_trained(network: dict[str, Any], encoding: str, **changed: Any) -> Trained:
    return random_trained(network, encoding, types=types_of(encoding), **changed)


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
    export_onnx(make_trained(SMALL, "relational"), folder / "typed.onnx")
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
        trained, known = make_trained(SMALL, "relational"), torch.tensor([0, 1, *types_of("relational")])
        state = random(len(KIND_OF), nodes)
        x = torch.cat([torch.from_numpy(KIND_OF)[state, None], state[:, None], known[random(len(known), nodes, 2)]], 1)
        edge_attr, node_type = random(RELATIONS, edges, 1), random(KINDS, nodes)
    else:
        trained = random_regressor()
        x, edge_attr, node_type = random(2, nodes, 64).float(), random(256, edges, 1) / 255, random(5, nodes)
    inputs = (x, random(nodes, 2, edges), edge_attr, node_type, batch, torch.zeros(graphs))
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1  # several threads add up the messages of large graphs in any order
    session = onnxruntime.InferenceSession(file, options, providers=["CPUExecutionProvider"])
    given = {entry.name for entry in session.get_inputs()}
    values = {name: value.numpy() for name, value in zip(INPUTS, inputs, strict=True) if name in given}
    (found,) = session.run(None, values)
    expected = trained.network(SimpleNamespace(**dict(zip(INPUTS, inputs, strict=True)), num_graphs=graphs)).numpy()
    assert found.shape == expected.shape == (graphs,)
    assert np.abs(found - expected).max() < CLOSE


@pytest.mark.parametrize(
    ("network", "encoding", "base"),
    [
        *((SMALL, name, "none") for name in ENCODINGS), *((PAPER, name, "none") for name in list_identifiers()),
        (SMALL, "relational", "h_add"), (SMALL, "hash", "h_ff"), (PAPER, "hash", "h_add"),
    ],
)  # fmt: skip
def test_onnx_scores_are_those_of_pytorch(network: dict[str, Any], encoding: str, base: Any, folder: Path) -> None:
    trained = make_trained(network, encoding, base=base, steps=STEPS)
    file = folder / f"{network is PAPER}_{encoding}_{base}.onnx"
    export_onnx(trained, file)
    space = StateSpace(load_problem(PROBLEM))
    for state in range(30):
        space.expand([state])
    ids = np.arange(len(space), dtype=np.int32)
    scorer = open_scorer(file, space)
    assert isinstance(scorer, OnnxScorer)
    found = scorer.score(ids)
    assert (found.dtype, found.std() > 10 * CLOSE) == (np.float64, True)
    assert np.abs(found - make_scorer(trained, space).score(ids)).max() < CLOSE
    assert np.abs(found - NetworkScorer(trained, space).score(ids)).max() < CLOSE
    assert scorer.steps == STEPS
    if base == "none":
        assert scorer.relaxation is None
    else:
        assert scorer.relaxation(ids).actions.tolist() == Relaxation(space)(ids).actions.tolist()


def test_a_batch_may_be_empty(typed_file: Path, onnx_file: Path) -> None:
    space = StateSpace(load_problem("coin_in_the_box/pl_3"))
    for file in (typed_file, onnx_file):
        assert OnnxScorer(file, space).score(np.empty(0, dtype=np.int32)).shape == (0,)


def test_one_file_is_written_that_knows_what_it_is(onnx_file: Path) -> None:
    assert [path.name for path in onnx_file.parent.iterdir()] == ["network.onnx"]
    session = onnxruntime.InferenceSession(onnx_file, providers=["CPUExecutionProvider"])
    found = session.get_modelmeta().custom_metadata_map
    assert len(found.pop("sha256")) == DIGITS
    assert {name: json.loads(value) for name, value in found.items()} == {
        "version": METADATA_VERSION,
        "encoding": {"name": "hash"},
        "base": "none",
        "steps": [[], []],
        "domains": ["coin_in_the_box"],
        "checkpoint": "none",
    }
    onnx.checker.check_model(onnx.load(onnx_file))


def with_new_checksum(file: Path, target: Path, **changed: Any) -> Path:
    """The same network with other metadata, and a checksum of its own."""
    model = onnx.load(file)
    kept = {entry.key: entry.value for entry in model.metadata_props if entry.key not in ("sha256", *changed)}
    onnx.helper.set_model_props(model, kept | {name: json.dumps(value) for name, value in changed.items()})
    last = onnx.ModelProto(metadata_props=[onnx.StringStringEntryProto(key="sha256", value="0" * DIGITS)])
    target.write_bytes(append_checksum(model.SerializeToString() + last.SerializeToString()[:-DIGITS]))
    return target


def test_what_is_no_export_or_another_version_is_refused(onnx_file: Path, tmp_path: Path) -> None:
    space = StateSpace(load_problem("coin_in_the_box/pl_3"))
    assert OnnxScorer(with_new_checksum(onnx_file, tmp_path / "same.onnx"), space).score(np.array([0])).shape == (1,)
    with pytest.raises(CheckpointError, match=rf"has format version 2, expected {METADATA_VERSION}: export it again"):
        OnnxScorer(with_new_checksum(onnx_file, tmp_path / "old.onnx", version=2), space)
    with pytest.raises(MissingCheckpointError, match=r"there is no exported network .*gone\.onnx: write one with"):
        OnnxScorer(tmp_path / "gone.onnx", space)
    changed = bytearray(onnx_file.read_bytes())
    changed[len(changed) // 2] ^= 1
    (tmp_path / "damaged.onnx").write_bytes(changed)
    with pytest.raises(CheckpointError, match=r"damaged\.onnx.*export it again, or get it again from"):
        OnnxScorer(tmp_path / "damaged.onnx", space)
    foreign = tmp_path / "foreign.onnx"
    foreign.write_bytes(append_checksum(b"nothing"))
    with pytest.raises(CheckpointError, match=r"foreign\.onnx is not a network of learn\.export: "):
        OnnxScorer(foreign, space)
