"""The file of a model says all of it or is refused in one line, and nothing in it is ever executed."""

import io
import logging
import os
import pickle
import re
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import safetensors.numpy
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors import safe_open

from epigym import StateSpace, load_problem
from epigym.errors import MissingModelError, ModelError
from learn.models import open_model
from learn.models.base import BaseHeuristic
from learn.models.calibration import Calibration
from learn.models.files import VERSION, Content, read_content, read_values, write_content
from learn.models.gine.model import NetworkModel
from learn.models.gine.network import GineNetwork
from learn.models.gine.paper import PaperNetwork
from learn.models.linear.model import LinearModel, Representation
from learn.models.model import Model
from tests.helpers.strategies import damaged
from tests.helpers.trained import PAPER, SMALL, random_model

TINY = PAPER | {"node_size": 4, "edge_size": 4, "hidden_size": 4, "head_size": 4, "blocks": 1}
SPACE = StateSpace(load_problem("coin_in_the_box/pl_3"))
STEPS = Calibration([-1.5, 2.0], [0.0, 4.0])
LINEAR = LinearModel(
    domain="coin_in_the_box",
    representation=Representation(2, True, "h_add"),
    colours=np.array([0, 7, 2**64 - 1], dtype=np.uint64),
    weights=np.array([1e-300, -1 / 3, 1e300]),
    seen=np.array([1, 2, 2**40]),
    base_weight=1 / 3,
    constant=-0.1,
    definitions={0: 'feature "0" → ¬', 5: "mentioned", 2**64 - 1: "too"},
    schema=frozenset({0, 7, 2**64 - 1}),
    steps=STEPS,
    card={"domains": ["a", "b"], "validation": {"solved": 3}, "seconds": 0.1},
)
MODELS: dict[str, Model] = {
    "linear": LINEAR,
    "gine": random_model(SMALL | {"type_dropout": 0.5}, "relational", types=(3, 70), base="h_add", steps=STEPS),
    "identifiers": replace(
        random_model(SMALL, "map", base="h_ff"), identifiers=np.arange(16, dtype=np.uint8).reshape(2, 8)
    ),
    "paper": random_model(TINY, "bitmask"),
}


def refuse(path: Path) -> str:
    """What is said of a file that is no model, one line."""
    with pytest.raises(ModelError) as error:
        open_model(path).make_scorer(SPACE)
    assert re.fullmatch(rf"{re.escape(str(path))}[^\n]+", str(error.value))
    return str(error.value)


@pytest.fixture(scope="module", params=MODELS)
def file(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("models") / f"{request.param}.safetensors"
    MODELS[request.param].write(path)
    return path


def rewrite(path: Path, changed: Path, values: dict[str, Any], tensors: dict[str, Any] | None = None) -> Path:
    """The file with other values and tensors, None for none, and the right checksum."""
    old = read_content(path)
    both = ({**old.values, **values}, {**old.tensors, **(tensors or {})})
    kept = ({name: one for name, one in part.items() if one is not None} for part in both)
    write_content(Content(*kept), changed)
    return changed


def test_a_file_says_all_of_a_model(file: Path) -> None:
    expected, found = MODELS[file.stem], open_model(file)
    assert type(found) is type(expected)
    assert found.path == str(file)
    for name, value in vars(expected).items():
        if name in ("colours", "weights", "seen", "identifiers"):
            parts = [one if isinstance(one, dict) else {name: one} for one in (value, getattr(found, name))]
            assert parts[0].keys() == parts[1].keys()
            for part in parts[0]:
                assert parts[0][part].dtype == parts[1][part].dtype
                assert np.array_equal(parts[0][part], parts[1][part])
        elif name != "path" and name in type(expected).__dataclass_fields__:
            assert getattr(found, name) == value, name


@pytest.mark.parametrize(
    ("name", "kind"), [("gine", GineNetwork), ("identifiers", GineNetwork), ("paper", PaperNetwork)]
)
def test_a_network_of_a_file_scores_as_before(name: str, kind: type, tmp_path: Path) -> None:
    model = MODELS[name]
    assert isinstance(model, NetworkModel)
    model.write(tmp_path / "model.safetensors")
    found = open_model(tmp_path)
    assert isinstance(found, NetworkModel)
    assert type(found.network) is kind
    assert not found.network.training
    assert not any(parameter.requires_grad for parameter in found.network.parameters())
    ids = np.unique(np.append(SPACE.expand([0]).target, 0))
    scorer = found.make_scorer(SPACE)
    assert scorer.steps == model.steps
    assert scorer.score(ids).tolist() == model.make_scorer(SPACE).score(ids).tolist()
    corrections = scorer.score(ids) - BaseHeuristic(SPACE, model.base)(ids)
    assert np.isfinite(corrections).all()
    assert corrections.any()


def test_to_make_a_network_leaves_the_random_numbers_alone() -> None:
    torch.manual_seed(1)
    expected = torch.rand(3)
    torch.manual_seed(1)
    model = MODELS["gine"]
    assert isinstance(model, NetworkModel)
    assert replace(model).network is not None
    assert torch.equal(torch.rand(3), expected)


def test_it_is_a_file_of_safetensors_too(file: Path, tmp_path: Path) -> None:
    with safe_open(file, framework="np") as opened:
        metadata = opened.metadata()
        assert {*opened.keys()} == read_content(file).tensors.keys()
    assert metadata["version"] == str(VERSION)
    assert metadata["domain"] == "coin_in_the_box"
    assert len(metadata["sha256"]) == 64
    open_model(file).write(tmp_path / "again.safetensors")
    assert (tmp_path / "again.safetensors").read_bytes() == file.read_bytes()
    assert [path.name for path in tmp_path.iterdir()] == ["again.safetensors"]
    assert read_values(file) == read_content(file).values


@settings(max_examples=150, deadline=None)
@given(data=st.data())
def test_no_damage_passes(file: Path, tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    path = file.with_name("damaged.safetensors")
    path.write_bytes(data.draw(damaged(file.read_bytes())))
    assert re.search("its content does not fit its sha256: |is no model of learn.train", refuse(path))
    with suppress(ModelError):  # the header alone, whose checksum is not computed
        read_values(path)


@settings(max_examples=100, deadline=None)
@given(content=st.binary(max_size=200), is_alike=st.booleans())
def test_any_bytes_are_refused(tmp_path_factory: pytest.TempPathFactory, content: bytes, is_alike: bool) -> None:
    path = tmp_path_factory.getbasetemp() / "foreign.safetensors"
    start = len(content).to_bytes(8, "little") + b'{"__metadata__":{"sha256":"' if is_alike else b""
    path.write_bytes(start + content)
    refuse(path)
    with pytest.raises(ModelError):
        read_values(path)


@settings(max_examples=50, deadline=None)
@given(
    name=st.sampled_from(["settings", "schema", "types", "encoding", "base_weight", "constant", "calibration", "card"]),
    value=st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3),
        lambda one: st.lists(one, max_size=3) | st.dictionaries(st.text(max_size=5), one, max_size=3),
        max_leaves=5,
    ),
)
def test_any_values_make_a_model_or_are_refused(file: Path, name: str, value: Any) -> None:
    changed = rewrite(file, file.with_name("changed.safetensors"), {name: value} if value is not None else {})
    with suppress(ModelError):
        open_model(changed).make_scorer(SPACE)


def test_what_was_not_written_here_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "own.safetensors"
    with pytest.raises(MissingModelError, match=r"^there is no model .*own\.safetensors: train one with [^\n]+$"):
        open_model(path)
    other = safetensors.numpy.save({"x": np.ones(2)}, {"kind": "gine"})
    for content in (b"", b"nothing", b"{}", b"PK\x03\x04", other):
        path.write_bytes(content)
        assert "own.safetensors is no model of learn.train: give the folder of a run or its model." in refuse(path)
    with pytest.raises(MissingModelError, match=rf"there is no model {tmp_path / 'model.safetensors'}:"):
        open_model(tmp_path)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf")])
def test_weights_that_are_no_numbers_are_neither_written_nor_read(file: Path, tmp_path: Path, value: float) -> None:
    tensors = dict(read_content(file).tensors)
    name = next(name for name, array in tensors.items() if array.dtype.kind == "f")
    tensors[name] = np.full_like(tensors[name], value)
    remedy = rf": {re.escape(name)} has entries that are no finite numbers: train again with a lower learning rate$"
    path = tmp_path / "diverged.safetensors"
    with pytest.raises(ModelError, match=remedy):
        write_content(Content(read_content(file).values, tensors), path)
    assert not path.exists()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("learn.models.files.check_finite", lambda *_: None)
        write_content(Content(read_content(file).values, tensors), path)
    with pytest.raises(ModelError, match=remedy):
        open_model(path)


@pytest.mark.parametrize("version", [VERSION - 1, VERSION + 1, "new"])
def test_another_version_is_refused(file: Path, tmp_path: Path, version: Any) -> None:
    path = rewrite(file, tmp_path / "own.safetensors", {"version": version, "encoding": 7})
    assert refuse(path) == f"{path}: format {version}, expected {VERSION}: train it again"


OF_ALL: list[dict[str, Any]] = [
    *({name: None} for name in ("kind", "domain", "schema", "calibration", "card", "base", "settings")),
    {"schema": ["q"]}, {"schema": 5}, {"card": 5}, {"base": "best"}, {"settings": 5},
    {"calibration": [[1, 2]]}, {"calibration": [[1, 2], [3]]}, {"calibration": [[2, 1], [3, 4]]},
    {"calibration": [[1, 2], [4, 3]]}, {"calibration": [[1, 2], [3, float("nan")]]},
]  # fmt: skip
OF_LINEAR: list[dict[str, Any]] = [
    *({"settings": {"iterations": 2, "worlds": True} | one} for one in
      ({"iterations": 3}, {"worlds": "some"}, {"depth": 1})),
    *({name: value} for name in ("base_weight", "constant") for value in (float("nan"), 10**400, "heavy", [1.0])),
]  # fmt: skip
OF_NETWORKS: list[dict[str, Any]] = [
    {"encoding": {}}, {"encoding": 5}, {"encoding": {"name": "hash", "width": "wide"}}, {"encoding": {"name": "gone"}},
    *({"types": types} for types in (5, [7, 3], [3, 3], [0, 3], [-70_000, 3], ["agent", "box"], [3.0, 70.0], [True])),
]  # fmt: skip


@pytest.mark.parametrize("changed", [*OF_ALL, *OF_LINEAR, *OF_NETWORKS], ids=str)
def test_wrong_values_are_one_line(tmp_path: Path, changed: dict[str, Any]) -> None:
    for name, own in (("linear", OF_LINEAR), ("gine", OF_NETWORKS)):
        if changed in OF_ALL or changed in own:
            MODELS[name].write(tmp_path / "good.safetensors")
            wrong = {key: value for key, value in changed.items() if value is not None}
            path = rewrite(tmp_path / "good.safetensors", tmp_path / "own.safetensors", changed | wrong)
            with pytest.raises(ModelError, match=r"^[^\n]+own\.safetensors[^\n]+$"):
                open_model(path)


@pytest.mark.parametrize(
    ("name", "tensors"),
    [
        *(("linear", {name: None}) for name in ("colours", "weights", "seen", "texts")),
        ("linear", {"colours": np.array([7, 0, 9], np.uint64)}),
        ("linear", {"colours": np.array([0, 7, 7], np.uint64)}),
        ("linear", {"colours": np.array([0, 7], np.uint64)}),
        ("linear", {"colours": np.array([0, 7, 9])}),
        ("linear", {"weights": np.ones((3, 1))}),
        ("linear", {"weights": np.ones(3, np.float32)}),
        ("linear", {"seen": np.array([1, -2, 3])}),
        *(("linear", {"texts": np.frombuffer(text, np.uint8)}) for text in (b"[]", b"{", b'{"q": "text"}', b"\xff")),
        ("gine", {"each.weight": None}),
        ("gine", {"each.weight": np.ones((3, 8), np.float32)}),
        ("gine", {"each.weight": np.ones(8, np.float64)}),
        ("gine", {"nodes.types.weight": np.ones((4, 8), np.float32)}),
        ("gine", {"nodes.types.weight": None}),
        ("identifiers", {"nodes.0.weight": np.ones((8, 32), np.float32)}),
        ("paper", {"node_mlp.0.weight": None}),
        ("paper", {"node_mlp.0.weight": np.ones((4, 32), np.float32)}),
        ("paper", {"more": np.ones(3, np.float32)}),
    ],
)
def test_wrong_tensors_are_one_line(tmp_path: Path, name: str, tensors: dict[str, Any]) -> None:
    MODELS[name].write(tmp_path / "good.safetensors")
    path = rewrite(tmp_path / "good.safetensors", tmp_path / "own.safetensors", {}, tensors)
    assert refuse(path).startswith(f"{path}: no ")


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("gine", {"types": [3]}),
        ("gine", {"types": [3, 7, 9]}),
        ("gine", {"types": [3, 70_000]}),
        ("gine", {"encoding": {"name": "hash"}}),
        ("identifiers", {"encoding": {"name": "relational"}}),
        ("identifiers", {"encoding": {"name": "map", "width": 32}}),
        ("identifiers", {"kind": "linear"}),
        ("linear", {"kind": "gine"}),
        ("paper", {"kind": "gine"}),
        ("paper", {"settings": TINY | {"size": 3}}),
        ("paper", {"settings": {"blocks": 2}}),
        ("paper", {"settings": {"max_distance": 0}}),
        *(("paper", {"kind": kind}) for kind in ("os.mkdir", "pathlib.Path", "gone.Net", "", "7", "..")),
    ],
)
def test_values_that_do_not_fit_the_tensors_are_one_line(tmp_path: Path, name: str, values: dict[str, Any]) -> None:
    MODELS[name].write(tmp_path / "good.safetensors")
    path = rewrite(tmp_path / "good.safetensors", tmp_path / "own.safetensors", values)
    assert refuse(path).startswith(f"{path}: no ")


NET = """
from pathlib import Path
from learn.models.gine.network import GineNetwork
Path("imported").touch()
class Net(GineNetwork):
    def forward(self, data):
        return 2 * super().forward(data)
"""


def test_a_class_of_a_user_is_named_and_imported_by_its_scorer_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "foreign_network.py").write_text(NET)
    model = MODELS["identifiers"]
    replace(model, kind="foreign_network.Net").write("model.safetensors")
    with caplog.at_level(logging.INFO):
        found = open_model("model.safetensors")
        assert not (tmp_path / "imported").exists()
        assert caplog.messages == []
        scorer = found.make_scorer(SPACE)
    assert caplog.messages == ["model.safetensors names foreign_network.Net, whose module is imported"]
    assert (tmp_path / "imported").exists()
    ids = np.unique(np.append(SPACE.expand([0]).target, 0))
    base = BaseHeuristic(SPACE, "h_ff")(ids)
    np.testing.assert_allclose(scorer.score(ids) - base, 2 * (model.make_scorer(SPACE).score(ids) - base), atol=1e-4)
    del sys.modules["foreign_network"]


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
def test_a_pickled_call_is_refused(tmp_path: Path, form: Callable[[object], bytes], file: Path) -> None:
    path, trap = tmp_path / "trap.safetensors", tmp_path / "trap"
    call = form(Malicious(trap))
    path.write_bytes(call)
    refuse(path)
    rewrite(file, path, {"card": 5}, {"trap": np.frombuffer(call, np.uint8)})
    refuse(path)
    assert not trap.exists()
