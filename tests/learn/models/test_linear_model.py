"""Linear models: sums of weights whatever the batch, files that say all of them, and which model fits a task."""

import json
import re
from collections.abc import Callable
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from epigym.errors import CheckpointError, MissingError
from epigym.features.relaxation import Relaxation
from epigym.features.types import FeatureTypes
from epigym.io.checksummed import write_checksummed
from epigym.problem import domain_problem, load_problem
from epigym.space.space import StateSpace
from learn.models import shipped
from learn.models.base import PENALTY, Base
from learn.models.linear.model import (
    FORMAT_VERSION,
    LinearModel,
    LinearScorer,
    Observed,
    Representation,
    read_model,
    read_schema,
    write_model,
)
from learn.models.shipped import find_model
from tests.helpers.tasks import hopeless

PROBLEM = "coin_in_the_box/pl_5"


def make_model(seed: int = 0, features: int = 6, **changes: Any) -> LinearModel:
    """A model of random weights, some of them awkward to write down."""
    rng = np.random.default_rng(seed)
    colours = np.sort(rng.integers(2**64 - 1, size=features, dtype=np.uint64))
    model = LinearModel(
        domain="coin_in_the_box",
        representation=Representation(2, True, "h_add"),
        colours=colours,
        weights=rng.normal(size=features) * 10.0 ** rng.integers(-300, 300, size=features),
        seen=rng.integers(1, 2**40, size=features),
        base_weight=1 / 3,
        constant=-0.1,
        definitions={int(colour): f'feature "{colour}" → ¬' for colour in colours} | {5: "mentioned", 2**64 - 1: "too"},
        schema=frozenset({0, 7, 2**64 - 1}),
        card={"domains": ["a", "b"], "validation": {"solved": 3}, "seconds": 0.1},
    )
    return replace(model, **changes)


def assert_equal(one: LinearModel, other: LinearModel) -> None:
    for entry in fields(LinearModel):
        expected, found = getattr(one, entry.name), getattr(other, entry.name)
        if isinstance(expected, np.ndarray):
            assert found.dtype == expected.dtype
            assert found.tolist() == expected.tolist()
        else:
            assert found == expected


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"representation": Representation(0), "card": {}, "schema": frozenset()},
        {"definitions": {}},
        {"colours": np.empty(0, np.uint64), "weights": np.empty(0), "seen": np.empty(0, np.int64), "definitions": {}},
    ],
)
def test_a_file_says_all_of_a_model(tmp_path: Path, changes: dict[str, Any]) -> None:
    model = make_model(**changes)
    write_model(model, tmp_path / "model.json")
    assert_equal(model, read_model(tmp_path / "model.json"))


def test_a_file_is_for_people_too(tmp_path: Path) -> None:
    model = make_model()
    write_model(model, tmp_path / "model.json")
    text = (tmp_path / "model.json").read_text()
    rows = [line for line in text.splitlines() if line.startswith("  [")]
    order = np.argsort(-np.abs(model.weights))
    assert [row.split('"')[1] for row in rows] == [f"{model.colours[place]:016x}" for place in order]
    data = json.loads(text)
    assert [row[3] for row in data["features"]] == [model.definitions[int(model.colours[place])] for place in order]
    assert data["mentioned"] == {f"{5:016x}": "mentioned", "f" * 16: "too"}


Damage = Callable[[dict[str, Any]], object]


def rewritten(folder: Path, damage: Damage) -> Path:
    """A file of a model that was changed and has the right checksum."""
    path = folder / "model.json"
    write_model(make_model(), path)
    data = json.loads(path.read_text())
    del data["sha256"]
    damage(data)
    write_checksummed(path, data)
    return path


@pytest.mark.parametrize(
    "damage",
    [
        *(
            lambda data, name=name: data.pop(name)
            for name in ("format_version", "domain", "representation", "features")
        ),
        *(
            lambda data, name=name: data.pop(name)
            for name in ("schema", "card", "mentioned", "constant", "base_weight")
        ),
        lambda data: data.update(representation=None),
        lambda data: data["representation"].update(iterations=3),
        lambda data: data["representation"].update(base="h_max"),
        lambda data: data["representation"].update(worlds="some"),
        lambda data: data["representation"].update(depth=1),
        lambda data: data["features"][0].pop(),
        lambda data: data["features"][0].__setitem__(0, "no digits"),
        lambda data: data["features"][0].__setitem__(0, "1" * 17),
        lambda data: data["features"][0].__setitem__(0, 12),
        lambda data: data["features"][0].__setitem__(1, "heavy"),
        lambda data: data["features"][0].__setitem__(2, None),
        lambda data: data.update(features=5),
        lambda data: data.update(mentioned=[]),
        lambda data: data.update(mentioned={"q": "text"}),
        lambda data: data.update(schema=["q"]),
        lambda data: data.update(card=5),
        lambda data: data.update(constant=None),
    ],
)
def test_a_damaged_file_is_one_line(tmp_path: Path, damage: Damage) -> None:
    path = rewritten(tmp_path, damage)
    with pytest.raises(CheckpointError, match=rf"^{re.escape(str(path))}: no linear model: [^\n]+$"):
        read_model(path)


FEATURE = "no linear model: the {} of feature [0-9a-f]{{16}} is {}, expected a {}: train it again"


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf"), 10**400, "1.5", None, True, [1.0]])
@pytest.mark.parametrize("entry", ["weight", "constant", "base_weight"])
def test_an_entry_that_is_no_finite_number_is_named(tmp_path: Path, entry: str, value: Any) -> None:
    shown = re.escape(repr(value))

    def damage(data: dict[str, Any]) -> None:
        if entry == "weight":
            data["features"][2][1] = value
        else:
            data[entry] = value

    with pytest.raises(CheckpointError) as error:
        read_model(rewritten(tmp_path, damage))
    expected = f"no linear model: {entry} is {shown}, expected a finite number: train it again"
    if entry == "weight":
        expected = FEATURE.format("weight", shown, "finite number")
    assert re.fullmatch(rf"{re.escape(str(tmp_path / 'model.json'))}: {expected}", str(error.value))


@pytest.mark.parametrize("value", [-1, 2**63, 1.5, float("nan"), "3", None, True])
def test_a_count_that_is_none_is_named(tmp_path: Path, value: Any) -> None:
    expected = FEATURE.format("count", re.escape(repr(value)), "whole number from 0 on")
    with pytest.raises(CheckpointError, match=rf": {expected}$"):
        read_model(rewritten(tmp_path, lambda data: data["features"][2].__setitem__(2, value)))


@pytest.mark.parametrize("text", ["[]", "null", '"text"', "{}", "7"])
def test_another_file_is_one_line(tmp_path: Path, text: str) -> None:
    (tmp_path / "other.json").write_text(text)
    with pytest.raises(CheckpointError, match=r"^[^\n]*other\.json: damaged or edited, [^\n]+: train it again[^\n]*$"):
        read_model(tmp_path / "other.json")


def test_a_file_that_is_cut_off_or_of_another_version_is_one_line(tmp_path: Path) -> None:
    path = tmp_path / "model.json"
    write_model(make_model(), path)
    text = path.read_text()
    write_checksummed(path, {"format_version": 99})
    expected = f"{path}: format 99, expected {FORMAT_VERSION}: train it again"
    with pytest.raises(CheckpointError, match=rf"^{re.escape(expected)}$"):
        read_model(path)
    path.write_text(text[: len(text) // 2])
    with pytest.raises(CheckpointError, match=r"^[^\n]*model\.json:\d+:\d+: not JSON: [^\n]+: train it again[^\n]*$"):
        read_model(path)


def rows(*values: dict[int, float]) -> tuple[NDArray[np.int64], NDArray[np.uint64], NDArray[np.float32]]:
    return (
        np.cumsum([0, *map(len, values)]),
        np.array([colour for row in values for colour in sorted(row)], dtype=np.uint64),
        np.array([row[colour] for row in values for colour in sorted(row)], dtype=np.float32),
    )


def test_what_was_never_seen_weighs_nothing() -> None:
    model = make_model(colours=np.array([4, 9, 2**64 - 2], np.uint64), weights=np.array([2.0, -1.0, 10.0]))
    states = [{4: 1.5, 9: 2.0}, {}, {3: 7.0, 5: 7.0, 2**64 - 1: 7.0}, {0: 1.0, 4: 1.0, 10: 1.0, 2**64 - 2: 3.0}]
    assert model.weigh(*rows(*states)).tolist() == [1, 0, 0, 32]
    assert model.weigh(*rows()).tolist() == []
    nothing = replace(model, colours=np.empty(0, np.uint64), weights=np.empty(0))
    assert nothing.weigh(*rows(*states)).tolist() == [0, 0, 0, 0]


def make_model_of(representation: Representation, space: StateSpace, seed: int = 0) -> LinearModel:
    """A model of random weights for what occurs at the start."""
    colours = Observed(space, representation).features(np.array([0], dtype=np.int32)).colour
    weights = np.random.default_rng(seed).normal(size=len(colours))
    return make_model(
        representation=representation,
        colours=colours,
        weights=weights,
        seen=np.ones(len(colours), np.int64),
        schema=FeatureTypes(space.task).schema,
    )


@pytest.mark.parametrize("base", ["none", "h_ff", "h_add"])
def test_scores_do_not_depend_on_the_batch(base: Base) -> None:
    space = StateSpace(load_problem(PROBLEM))
    for state in range(4):
        space.expand([state])
    scorer = LinearScorer(space, make_model_of(Representation(2, True, base), space))
    ids = np.arange(len(space), dtype=np.int32)
    together = scorer.score(ids)
    assert len(set(together.tolist())) > 5
    assert together.tolist() == [float(scorer.score(ids[state : state + 1])[0]) for state in ids]
    order = np.random.default_rng(1).permutation(ids)
    assert scorer.score(order).tolist() == together[order].tolist()


@pytest.mark.parametrize("base", ["h_ff", "h_add"])
def test_the_base_is_the_cost_of_the_relaxation(base: Base) -> None:
    space = StateSpace(load_problem(PROBLEM))
    space.expand([0])
    ids = np.arange(len(space), dtype=np.int32)
    relaxed = Relaxation(space)(ids)
    observed = Observed(space, Representation(0, base=base))
    assert observed.base(ids).tolist() == getattr(relaxed, base).tolist()
    model = make_model_of(Representation(0, base=base), space)
    features = LinearScorer(space, replace(model, base_weight=0, constant=0)).score(ids)
    score = LinearScorer(space, replace(model, base_weight=2, constant=0.5))
    assert score.score(ids) == pytest.approx(features + 2 * getattr(relaxed, base) + 0.5)
    assert score.relaxation is not None
    assert LinearScorer(space, make_model_of(Representation(0), space)).relaxation is None


@pytest.mark.parametrize("base", ["h_ff", "h_add"])
def test_what_the_relaxation_does_not_reach_is_far_but_not_infinitely(base: Base) -> None:
    space = StateSpace(hopeless())
    space.expand([0])
    ids = np.arange(len(space), dtype=np.int32)
    relaxed = Relaxation(space)(ids)
    uninformative = ~np.isfinite(relaxed.h_add)
    assert uninformative.any()
    found = Observed(space, Representation(0, base=base)).base(ids)
    within_reach = relaxed.cost if base == "h_add" else relaxed.actions
    assert found[uninformative].tolist() == (within_reach + PENALTY[base] * relaxed.unreached)[uninformative].tolist()
    assert np.isfinite(found).all()


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the models that come with epigym are."""
    monkeypatch.setattr(shipped, "LINEAR", tmp_path / "shipped")
    monkeypatch.setattr(shipped, "NETWORKS", tmp_path / "networks")
    (tmp_path / "shipped").mkdir()
    return tmp_path / "shipped"


def write(folder: Path, name: str, *schema: int) -> str:
    write_model(make_model(domain=name, schema=frozenset(schema)), folder / f"{name}.json")
    return str(folder / f"{name}.json")


def test_the_model_of_a_domain_is_taken_for_what_it_knows(folder: Path) -> None:
    coin, general = write(folder, "coin_in_the_box", 1, 2, 3), write(folder, "general", 1)
    for schema in (frozenset[int](), frozenset({2}), frozenset({1, 2, 3})):
        assert find_model(None, "coin_in_the_box", schema)[0] == coin
        assert find_model(None, "coin_in_the_box", schema)[1].domain == "coin_in_the_box"
    assert find_model(None, "coin_in_the_box", frozenset({1, 2, 3, 4}))[0] == general
    assert find_model(None, "grapevine", frozenset({4}))[0] == general
    assert find_model(None, "", frozenset({4}))[1].domain == "general"


def test_what_is_called_otherwise_is_known_by_what_is_in_it(folder: Path) -> None:
    coin, vine = write(folder, "coin_in_the_box", 1, 2, 3), write(folder, "vine", 1, 4)
    write(folder, "general", 9)
    assert find_model(None, "the-coin", frozenset({2, 3}))[0] == coin
    assert find_model(None, "the-coin", frozenset({1, 4}))[0] == vine
    assert find_model(None, "vine", frozenset({1}))[0] == vine
    assert find_model(None, "coin_in_the_box", frozenset({4}))[0] == vine


def test_of_the_models_only_the_one_that_is_taken_is_read(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """To read one takes as long as many a search."""
    vine = [write(folder, name, *schema) for name, schema in {"a": (1, 2), "general": (9,), "vine": (3, 4)}.items()][-1]
    read: list[str] = []
    monkeypatch.setattr(shipped, "read_model", lambda path: (read.append(str(path)), read_model(path))[1])
    assert find_model(None, "the-vine", frozenset({3}))[1].domain == "vine"
    assert read == [vine]


@pytest.mark.parametrize("content", ['{\n "schema": [1],\n', '{\n "schema": ["x"],\n', '{"schema": []}', "\xff"])
def test_a_schema_that_cannot_be_read_alone_is_an_error_of_its_file(content: str, tmp_path: Path) -> None:
    (tmp_path / "model.json").write_text(content, encoding="latin-1")
    with pytest.raises(CheckpointError, match=r"model\.json"):
        read_schema(tmp_path / "model.json")


def test_the_file_that_is_taken(folder: Path, tmp_path: Path) -> None:
    small, large = (FeatureTypes(domain_problem("coin_in_the_box", agents=count)).schema for count in (3, 5))
    coin, general = write(folder, "coin_in_the_box", *small), write(folder, "general")
    assert find_model(None, "coin_in_the_box", large)[0] == coin
    assert find_model(None, "coin_in_the_box", FeatureTypes(hopeless()).schema)[0] == general
    write(folder, "general")
    mine = write(tmp_path, "grapevine", 1)
    assert find_model(mine, "coin_in_the_box", frozenset({9}))[0] == mine
    file, model = find_model(str(tmp_path / "{domain}.json"), "grapevine", frozenset({9}))
    assert (file, model.domain) == (mine, "grapevine")
    write(folder, "general")
    (folder / "coin_in_the_box.json").write_text("{}")
    with pytest.raises(CheckpointError, match=r"coin_in_the_box\.json: damaged or edited"):
        find_model(None, "coin_in_the_box", frozenset())


def test_what_is_missing_is_named_with_a_remedy(folder: Path, tmp_path: Path) -> None:
    remedy = "make one with `python -m learn.train domain=…`"
    for file, path in (
        (None, folder / "general.json"),
        (str(tmp_path / "gone.json"), tmp_path / "gone.json"),
        (str(tmp_path / "{domain}.json"), tmp_path / "coin_in_the_box.json"),
        (str(tmp_path / "folder.json"), tmp_path / "folder.json"),
    ):
        (tmp_path / "folder.json").mkdir(exist_ok=True)
        with pytest.raises(MissingError, match=rf"^there is no model {re.escape(f'{path}: {remedy}')}$"):
            find_model(file, "coin_in_the_box", frozenset())
    with pytest.raises(CheckpointError, match=r"best\.ckpt: expected a model\.json.* the heuristic 'gnn'"):
        find_model("best.ckpt", "coin_in_the_box", frozenset())


@pytest.mark.parametrize(
    "problem",
    [
        "coin_in_the_box/pl_7", "grapevine/3_pl_7", "search_and_rescue", "gossip", "blocks_world/bw_10",
        "blocks_world/bw_3_03_2", "blocks_world/bw_3_3_2_clumsy",
    ],
)  # fmt: skip
def test_the_models_that_come_with_epigym_are_found_by_domain(problem: str) -> None:
    task = load_problem(problem)
    file, model = find_model(None, task.domain, FeatureTypes(task).schema)
    folder = shipped.NETWORKS if task.domain in shipped.NETWORKS_FIRST else shipped.LINEAR
    assert (file, model.domain) == (str(folder / f"{task.domain}.json"), task.domain)


def test_every_call_reads_the_file(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("first", "second"):
        (tmp_path / name).mkdir()
        write_model(make_model(domain=name), tmp_path / name / "model.json")

    def domain() -> str:
        return find_model("model.json", "", frozenset())[1].domain

    monkeypatch.chdir(tmp_path / "first")
    assert domain() == "first"
    monkeypatch.chdir(tmp_path / "second")
    assert domain() == "second"
    write_model(make_model(domain="third"), "model.json")
    assert domain() == "third"
    Path("model.json").unlink()
    with pytest.raises(MissingError, match="there is no model"):
        domain()
