"""Linear models: sums of weights whatever the batch, and which model fits a task."""

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from epigym.errors import MissingError, MissingModelError, ModelError, UsageError
from epigym.features.relaxation import Relaxation
from epigym.features.types import FeatureTypes
from epigym.problem import domain_problem, load_problem
from epigym.space.space import StateSpace
from learn.models import open_model, opening, shipped
from learn.models.base import PENALTY, Base
from learn.models.files import read_content
from learn.models.linear.model import LinearModel, LinearScorer, Observed, Representation
from learn.models.opening import open_for
from learn.models.shipped import find_shipped
from tests.helpers.tasks import hopeless
from tests.helpers.trained import PAPER, SMALL, random_model
from tests.tools.ship import ship

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
    monkeypatch.setattr(shipped, "SHIPPED", tmp_path / "shipped")
    return tmp_path / "shipped"


def write(folder: Path, name: str, *schema: int, kind: str = "linear") -> str:
    """Write a model that comes with epigym and is the default of its domain."""
    make_model(domain=name, schema=frozenset(schema)).write(folder / kind / f"{name}.safetensors")
    file = folder / "choice.json"
    file.write_text(json.dumps((json.loads(file.read_text()) if file.exists() else {}) | {name: kind}))
    return str(folder / kind / f"{name}.safetensors")


def find(domain: str, *schema: int) -> str:
    return str(find_shipped(domain, frozenset(schema)))


def test_the_model_of_a_domain_is_taken_for_what_it_knows(folder: Path) -> None:
    coin, general = write(folder, "coin_in_the_box", 1, 2, 3), write(folder, "general", 1)
    for schema in ((), (2,), (1, 2, 3)):
        assert find("coin_in_the_box", *schema) == coin
    assert find("coin_in_the_box", 1, 2, 3, 4) == general
    assert find("grapevine", 4) == general
    assert find("", 4) == general


def test_what_is_called_otherwise_is_known_by_what_is_in_it(folder: Path) -> None:
    coin, vine = write(folder, "coin_in_the_box", 1, 2, 3), write(folder, "vine", 1, 4, kind="gine")
    write(folder, "general", 9)
    assert find("the-coin", 2, 3) == coin
    assert find("the-coin", 1, 4) == vine
    assert find("vine", 1) == vine
    assert find("coin_in_the_box", 4) == vine


def test_the_choice_decides_which_kind_is_taken(folder: Path) -> None:
    first, second = (write(folder, "vine", 1, kind=kind) for kind in ("linear", "gine"))
    write(folder, "general", 9)
    assert find("vine", 1) == second
    write(folder, "vine", 1)
    assert find("vine", 1) == first


def test_of_the_models_only_the_one_that_is_taken_is_read(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """To read one takes as long as many a search."""
    small = FeatureTypes(load_problem(PROBLEM)).schema
    write(folder, "a", 1, 2)
    write(folder, "general", 9)
    coin = write(folder, "the_coin", *small)
    read: list[str] = []
    monkeypatch.setattr(opening, "read_content", lambda path: (read.append(str(path)), read_content(path))[1])
    assert open_model(load_problem(PROBLEM)).domain == "the_coin"
    assert read == [coin]


def test_the_model_that_is_opened(folder: Path, tmp_path: Path) -> None:
    small = load_problem(PROBLEM)
    large, other = domain_problem("coin_in_the_box", agents=5), hopeless()
    coin, general = write(folder, "coin_in_the_box", *FeatureTypes(small).schema), write(folder, "general")
    for task, expected in ((small, coin), (large, coin), (other, general)):
        assert open_model(task).path == open_for(None, task).path == expected
        assert open_for(None, task, FeatureTypes(task)).domain == Path(expected).stem
    mine = write(tmp_path, "coin_in_the_box", 1)
    assert open_for(mine, other).path == mine
    assert open_for(str(tmp_path / "linear/{domain}.safetensors"), small).path == mine
    run = tmp_path / "runs" / "coin_in_the_box"
    make_model().write(run / "model.safetensors")
    assert open_for(str(tmp_path / "runs/{domain}"), small).path == str(run / "model.safetensors")
    assert open_model(run).path == open_model(str(run)).path == str(run / "model.safetensors")
    Path(coin).write_text("{}")
    with pytest.raises(ModelError, match=r"coin_in_the_box\.safetensors is no model of learn\.train"):
        open_model(small)


def test_what_is_missing_is_named_with_a_remedy(folder: Path, tmp_path: Path) -> None:
    write(folder, "general")
    (folder / "linear" / "general.safetensors").unlink()
    (tmp_path / "run").mkdir()
    for file, path in (
        (None, folder / "linear" / "general.safetensors"),
        (str(tmp_path / "gone"), tmp_path / "gone"),
        (str(tmp_path / "{domain}"), tmp_path / "coin_in_the_box"),
        (str(tmp_path / "run"), tmp_path / "run" / "model.safetensors"),
    ):
        remedy = "train one with `python -m learn.train domain=…`"
        with pytest.raises(MissingModelError, match=rf"^there is no model {re.escape(f'{path}: {remedy}')}$"):
            open_for(file, load_problem(PROBLEM))


def test_a_model_is_shipped_and_chosen(folder: Path, tmp_path: Path) -> None:
    linear, network = make_model(domain="vine"), replace(random_model(SMALL), domain="vine")
    linear.write(tmp_path / "linear" / "model.safetensors")
    network.write(tmp_path / "network" / "model.safetensors")
    assert ship(str(tmp_path / "linear"), is_default=False) == folder / "linear" / "vine.safetensors"
    assert shipped.read_defaults()["vine"] == folder / "linear" / "vine.safetensors"
    for is_default, kind in ((False, "linear"), (True, "gine")):
        assert ship(str(tmp_path / "network"), is_default=is_default) == folder / "gine" / "vine.safetensors"
        assert shipped.read_defaults()["vine"].parent.name == kind
    assert (folder / "gine" / "vine.safetensors").read_bytes() == (tmp_path / "network/model.safetensors").read_bytes()
    random_model(PAPER).write(tmp_path / "paper")
    with pytest.raises(UsageError, match="of kind paper needs PyTorch"):
        ship(str(tmp_path / "paper"), is_default=False)


@pytest.mark.parametrize(
    "problem",
    [
        "coin_in_the_box/pl_7", "grapevine/3_pl_7", "search_and_rescue", "gossip", "blocks_world/bw_10",
        "blocks_world/bw_3_03_2", "blocks_world/bw_3_3_2_clumsy",
    ],
)  # fmt: skip
def test_the_models_that_come_with_epigym_are_found_by_domain(problem: str) -> None:
    task = load_problem(problem)
    assert find_shipped(task.domain, FeatureTypes(task).schema) == shipped.read_defaults()[task.domain]
    assert open_model(task).domain == task.domain


def test_every_call_reads_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("first", "second"):
        make_model(domain=name).write(tmp_path / name / "model.safetensors")

    def domain() -> str:
        return open_model("model.safetensors").domain

    monkeypatch.chdir(tmp_path / "first")
    assert domain() == "first"
    monkeypatch.chdir(tmp_path / "second")
    assert domain() == "second"
    make_model(domain="third").write("model.safetensors")
    assert domain() == "third"
    Path("model.safetensors").unlink()
    with pytest.raises(MissingError, match="there is no model"):
        domain()
