"""A checkpoint is what was written or refused in one line, and nothing in it is ever executed."""

import io
import os
import pickle
import re
import tempfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from epigym import StateSpace, load_problem
from epigym.errors import CheckpointError, MissingCheckpointError
from epigym.io.checksummed import append_checksum
from learn.models.base import BaseHeuristic
from learn.models.calibration import Calibration
from learn.models.checkpoints import VERSION, load, write
from learn.models.gine.export import export_onnx
from learn.models.gine.network import GineNetwork
from learn.models.gine.paper import PaperNetwork
from learn.models.scoring import open_scorer
from tests.helpers.marks import slow_but
from tests.helpers.trained import PAPER, SMALL, content_of, random_trained

TINY = PAPER | {"node_size": 4, "edge_size": 4, "hidden_size": 4, "head_size": 4, "blocks": 1}
SPACE = StateSpace(load_problem("coin_in_the_box/pl_3"))


def content(**changed: Any) -> dict[str, Any]:
    """What training writes of a small network, with other hyper-parameters."""
    found = content_of(random_trained(TINY), TINY)
    found["hyper_parameters"] |= changed
    return found


def read_refusal(path: Path) -> str:
    """What is said of a checkpoint that cannot be used, a line that begins with its name."""
    with pytest.raises(CheckpointError) as error:
        open_scorer(path, SPACE)
    assert re.fullmatch(rf"{re.escape(str(path))}[^\n]+", str(error.value))
    assert "weights_only" not in str(error.value)
    return str(error.value)


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("good") / "best.ckpt"
    write(content(), path)
    return path


@pytest.fixture(scope="module")
def onnx_file(good: Path) -> Path:
    pytest.importorskip("onnxruntime")
    pytest.importorskip("onnxscript")
    path = good.with_suffix(".onnx")
    export_onnx(load(good), path)
    return path


def test_it_is_a_file_of_torch_too(good: Path) -> None:
    stored = torch.load(good, weights_only=True)["state_dict"]
    expected = content()["state_dict"]
    assert stored.keys() == expected.keys()
    assert all(torch.equal(stored[name], tensor) for name, tensor in expected.items())
    with zipfile.ZipFile(good) as archive:
        assert archive.testzip() is None
    assert [path.name for path in good.parent.iterdir() if path.suffix == ".ckpt"] == ["best.ckpt"]


@pytest.mark.parametrize("kind", slow_but(["good", "onnx_file"], "good"))
@settings(max_examples=150, deadline=None)
@given(data=st.data())
def test_no_damage_passes(request: pytest.FixtureRequest, kind: str, data: st.DataObject) -> None:
    path: Path = request.getfixturevalue(kind)
    damaged = bytearray(path.read_bytes())
    if data.draw(st.booleans(), "cut off"):
        del damaged[data.draw(st.integers(0, len(damaged) - 1)) :]
    else:
        for place in data.draw(st.lists(st.integers(0, 8 * len(damaged) - 1), min_size=1, max_size=4, unique=True)):
            damaged[place // 8] ^= 1 << place % 8
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / path.name).write_bytes(damaged)
        assert "damaged or cut off, its content does not fit its sha256: " in read_refusal(Path(folder) / path.name)


def test_what_was_not_written_here_is_refused(tmp_path: Path) -> None:
    for name in ("own.ckpt", "own.onnx"):
        path = tmp_path / name
        with pytest.raises(MissingCheckpointError, match="there is no "):
            open_scorer(path, SPACE)
        path.write_bytes(b"nothing")
        assert "damaged or cut off" in read_refusal(path)
        path.write_bytes(append_checksum(b"nothing"))
        assert f"is not a {'checkpoint' if name == 'own.ckpt' else 'network'} of learn." in read_refusal(path)
        path.unlink()
        path.mkdir()
        assert "Is a directory" in read_refusal(path)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf")])
def test_weights_that_are_no_numbers_are_refused(tmp_path: Path, value: float) -> None:
    diverged = content()
    name, tensor = list(diverged["state_dict"].items())[1]
    tensor.view(-1)[0] = value
    write(diverged, tmp_path / "diverged.ckpt")
    expected = f"has weights that are no finite numbers in {name}: train again with a lower learning rate"
    assert read_refusal(tmp_path / "diverged.ckpt").endswith(expected)


@pytest.mark.parametrize(
    ("network", "encoding", "base"),
    [(TINY, "bitmask", "none"), (SMALL, "map", "h_ff"), (SMALL | {"type_dropout": 0.5}, "relational", "h_add")],
)
def test_what_is_read_is_what_was_written(network: dict[str, Any], encoding: str, base: Any, tmp_path: Path) -> None:
    types = (3, 70) if encoding == "relational" else ()
    steps = Calibration([-1.5, 2.0], [0.0, 4.0])
    trained = random_trained(network, encoding, types=types, base=base, steps=steps)
    write(content_of(trained, network), tmp_path / "own.ckpt")
    found = load(tmp_path / "own.ckpt")
    assert (found.path, found.encoding, found.types) == (tmp_path / "own.ckpt", {"name": encoding}, types)
    assert (found.base, found.steps, found.domains) == (base, steps, ("coin_in_the_box",))
    assert type(found.network) is (PaperNetwork if network is TINY else GineNetwork)
    assert not found.network.training
    state, expected = found.network.state_dict(), trained.network.state_dict()
    assert state.keys() == expected.keys()
    assert all(torch.equal(state[name], tensor) for name, tensor in expected.items())
    assert not any(parameter.requires_grad for parameter in found.network.parameters())
    ids = np.unique(np.append(SPACE.expand([0]).target, 0))
    scorer = open_scorer(tmp_path / "own.ckpt", SPACE)
    assert scorer.steps == steps
    corrections = scorer.score(ids) - BaseHeuristic(SPACE, base)(ids)
    assert np.isfinite(corrections).all()
    assert corrections.any()


def test_only_tensors_of_the_network_are_read(tmp_path: Path) -> None:
    """Lightning writes those of metrics and averages, too."""
    more = content()
    more["state_dict"]["errors.count"] = torch.zeros(1)
    write(more, tmp_path / "own.ckpt")
    names = load(tmp_path / "own.ckpt").network.state_dict()
    assert {f"network.{name}" for name in names} == more["state_dict"].keys() - {"errors.count"}


@pytest.mark.parametrize("version", [VERSION - 1, VERSION + 1, None])
def test_another_version_is_refused(tmp_path: Path, version: int | None) -> None:
    write(content(version=version, encoding=None), tmp_path / "own.ckpt")
    expected = f"was written by another version of epigym (format {version}, expected {VERSION}): train it again"
    assert read_refusal(tmp_path / "own.ckpt").endswith(expected)


class Malicious:
    """Makes a folder when it is unpickled."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __reduce__(self) -> tuple[Callable[..., object], tuple[str]]:
        return os.mkdir, (str(self.folder),)


def pickle_value(value: object) -> bytes:
    return pickle.dumps(value)


def save_value(value: object) -> bytes:
    file = io.BytesIO()
    torch.save(value, file)
    return file.getvalue()


@pytest.mark.parametrize("form", [pickle_value, save_value])
@pytest.mark.parametrize("has_checksum", [True, False])
def test_checkpoints_execute_nothing(tmp_path: Path, form: Callable[[object], bytes], has_checksum: bool) -> None:
    path, trap = tmp_path / "trap.ckpt", tmp_path / "trap"
    for value in (Malicious(trap), content() | {"more": Malicious(trap)}, content(network=Malicious(trap))):
        path.write_bytes(append_checksum(form(value)) if has_checksum else form(value))
        read_refusal(path)
    write(content() | {"more": Malicious(trap)}, path)
    read_refusal(path)
    assert not trap.exists()


@pytest.mark.parametrize(
    "changed",
    [
        {"network": {"_target_": "os.mkdir", "mode": 0o777}},
        {"network": {"_target_": "pathlib.Path"}},
        {"network": {"_target_": "gone.Net"}},
        {"network": {"_target_": 7}},
        {"network": None},
        {"network": TINY | {"size": 3}},
        {"network": TINY | {"blocks": 2}},
        {"network": TINY | {"max_distance": 0}},
        {"network": SMALL},
        {"encoding": {}},
        {"encoding": None},
        {"encoding": {"name": "relational"}},
        {"encoding": {"name": "hash", "width": 32}},
        {"encoding": {"name": "hash", "width": "wide"}},
        {"types": None},
        {"base": "best"},
        {"base": None},
        {"steps": None},
        {"steps": [[1, 2]]},
        {"steps": [[1, 2], [3]]},
        {"steps": [[2, 1], [3, 4]]},
        {"steps": [[1, 2], [4, 3]]},
        {"steps": [[1, 2], [3, float("nan")]]},
        {"domains": None},
    ],
)  # fmt: skip
def test_wrong_hyper_parameters_are_one_line(tmp_path: Path, changed: dict[str, Any]) -> None:
    write(content(**changed), tmp_path / "own.ckpt")
    assert "own.ckpt is not a checkpoint of learn.train: " in read_refusal(tmp_path / "own.ckpt")


@pytest.mark.parametrize("name", list(content()["hyper_parameters"]))
def test_no_hyper_parameter_may_be_missing(tmp_path: Path, name: str) -> None:
    less = content()
    del less["hyper_parameters"][name]
    write(less, tmp_path / "own.ckpt")
    assert "own.ckpt is not a checkpoint of learn.train: " in read_refusal(tmp_path / "own.ckpt")


@pytest.mark.parametrize("types", [[3], [3, 7, 9], [-70_000, 3], [3, 70_000], ["agent", "box"]])
def test_types_that_do_not_fit_the_network_are_refused(tmp_path: Path, types: list[Any]) -> None:
    typed = content_of(random_trained(SMALL, "relational", types=(3, 7)), SMALL)
    typed["hyper_parameters"]["types"] = types
    write(typed, tmp_path / "own.ckpt")
    assert "own.ckpt is not a checkpoint of learn.train: " in read_refusal(tmp_path / "own.ckpt")


@pytest.mark.parametrize("value", [None, 7, [], {}, {"state_dict": {}}, {"hyper_parameters": {}, "state_dict": {}}])
def test_other_content_is_one_line(tmp_path: Path, value: Any) -> None:
    write(value, tmp_path / "own.ckpt")
    assert "own.ckpt is not a checkpoint of learn.train" in read_refusal(tmp_path / "own.ckpt")
