"""Linear models: what is fitted, how one is chosen, its file, its score, and the commands."""

from __future__ import annotations

import csv
import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_array

from epigym.errors import CheckpointError, EpigymError, MissingError, UsageError
from epigym.feature_types import FeatureTypes
from epigym.problem import load_problem
from epigym.relaxation import Relaxation
from epigym.space import StateSpace
from epigym.walks import best_first
from learn import train as command
from learn.data.pairs import pairs_of
from learn.model import shipped
from learn.model.linear import LinearModel, LinearScorer, Representation, read_model, write_model
from learn.training.linear import Chosen, train_linear
from learn.training.options import LinearOptions
from learn.training.ranking import TrainingData, _logistic, _squares, fit, observe
from search.agents.limits import Limits
from search.heuristics import make_heuristic
from search.planning.configuration import Configuration
from search.planning.single import search_alone
from tests.helpers.commands import composed

TINY = LinearOptions(
    kind="linear", folder=None, draws=6, validation=3, expansions=20, nodes=60, features=40, levels=[0, 1],
    worlds=[False], losses=["ranking", "regression"], l2=[1e-3], bases=["h_ff"], residual_l2=[1e-2],
)  # fmt: skip
DOMAIN = "active_muddy_child"


def data(table: np.ndarray, target: np.ndarray, base: np.ndarray | None = None) -> TrainingData:
    """All pairs of e-states with different distances, in one problem."""
    better, worse = np.nonzero(target[:, None] < target[None, :])
    count = len(target)
    return TrainingData(
        Representation(0),
        np.arange(1, table.shape[1] + 1, dtype=np.uint64),
        csr_array(table),
        np.zeros(count) if base is None else base,
        target.astype(np.float64),
        np.full(count, 1 / count),
        better,
        worse,
        np.full(len(better), 1 / len(better)),
    )


@pytest.fixture(scope="module")
def planted() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    table = rng.poisson(2.0, size=(40, 6)).astype(np.float64)
    return table, table @ np.array([3.0, 0.0, -1.0, 0.0, 0.5, 0.0]) + 10


def test_a_planted_order_is_found(planted: tuple[np.ndarray, np.ndarray]) -> None:
    table, target = planted
    known = data(table, target)
    scores = known.scores(fit(known, "ranking", 1e-6, most=10))
    assert (scores[known.better] < scores[known.worse]).all()


def test_half_of_the_pairs_are_a_step_apart_or_more(planted: tuple[np.ndarray, np.ndarray]) -> None:
    known = data(*planted)
    scores = known.scores(fit(known, "ranking", 1e-3, most=10))
    assert np.median(np.abs(scores[known.worse] - scores[known.better])) == pytest.approx(1)


def test_planted_distances_are_found(planted: tuple[np.ndarray, np.ndarray]) -> None:
    table, target = planted
    known = data(table, target)
    model = fit(known, "regression", 1e-9, most=10)
    assert known.scores(model) == pytest.approx(target, abs=1e-2)
    assert model.constant == pytest.approx(10, abs=1e-1)


def test_a_model_that_is_held_small_keeps_the_order_of_what_it_corrects(planted: tuple[np.ndarray, np.ndarray]) -> None:
    table, target = planted
    base = np.argsort(np.argsort(target)).astype(np.float64)
    known = data(table, target, base)
    model = fit(known, "ranking", 1e6, most=10)
    assert np.abs(model.weights).max() < 1e-3
    assert (np.argsort(known.scores(model)) == np.argsort(base)).all()


def test_the_features_that_weigh_most_are_kept(planted: tuple[np.ndarray, np.ndarray]) -> None:
    known = data(*planted)
    assert fit(known, "regression", 1e-6, most=3).colours.tolist() == [1, 3, 5]


@pytest.mark.parametrize("losses", [_logistic, _squares(np.array([0.5, -2.0, 3.0]))])
def test_derivatives_are_those_of_the_losses(losses: object) -> None:
    at, step = np.array([0.3, -1.2, 2.0]), 1e-6
    assert callable(losses)
    slope = (losses(at + step)[0] - losses(at - step)[0]) / (2 * step)
    assert losses(at)[1] == pytest.approx(slope, rel=1e-4)


@pytest.mark.parametrize(
    "representation", [Representation(0), Representation(1, worlds=True), Representation(2, base="h_add")]
)
def test_scores_in_training_and_in_search_are_the_same(representation: Representation) -> None:
    found = pairs_of(load_problem("coin_in_the_box/pl_3"), expansions=20, max_states=20_000, seed=0)
    assert found is not None
    types = FeatureTypes(found.space.task)
    seen = observe([found], [types], representation)
    model = fit(seen, "ranking", 1e-2, most=50)
    scores = LinearScorer(found.space, model, types).score(found.ids)
    assert scores == pytest.approx(seen.scores(model), abs=1e-9)
    alone = [LinearScorer(found.space, model).score(found.ids[[place]])[0] for place in range(5)]
    assert alone == scores[:5].tolist()  # whatever else is in the batch


def small(**changes: object) -> LinearModel:
    model = LinearModel(
        "coin_in_the_box",
        Representation(1, worlds=True, base="h_ff"),
        np.array([3, 2**63 + 5], dtype=np.uint64),
        np.array([0.1, -2.5]),
        np.array([7, 1]),
        base_weight=0.7,
        constant=1.5,
        definitions={3: "a text", 2**63 + 5: "another", 99: "mentioned"},
        schema=frozenset({1, 2**63}),
        card={"seed": 3},
    )
    return replace(model, **changes)


def test_a_file_gives_back_the_model(tmp_path: Path) -> None:
    write_model(small(), tmp_path / "model.json")
    again = read_model(tmp_path / "model.json")
    for name in ("domain", "representation", "base_weight", "constant", "definitions", "schema", "card"):
        assert getattr(again, name) == getattr(small(), name)
    for name in ("colours", "weights", "seen"):
        assert getattr(again, name).tolist() == getattr(small(), name).tolist()
    lines = (tmp_path / "model.json").read_text(encoding="utf-8").splitlines()
    assert '"another"' in next(line for line in lines if line.startswith("  ["))  # the weightiest first


def test_what_was_never_seen_weighs_nothing() -> None:
    rows = np.array([0, 2, 3]), np.array([1, 3, 4], dtype=np.uint64), np.array([5, 2, 1], dtype=np.float32)
    assert small().weigh(*rows).tolist() == [0.2, 0.0]


@pytest.mark.parametrize(
    ("text", "message"),
    [("{", "not JSON"), ("{}", "no linear model"), ('{"format_version": 0}', "train it again"), ("[1]", "no linear")],
)
def test_another_file_is_refused(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "model.json").write_text(text, encoding="utf-8")
    with pytest.raises(EpigymError, match=message) as caught:
        read_model(tmp_path / "model.json")
    assert isinstance(caught.value, CheckpointError) == (message != "not JSON")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(shipped, "SHIPPED", tmp_path)
    write_model(small(), tmp_path / "coin_in_the_box.json")
    write_model(small(domain="general"), tmp_path / "general.json")
    return tmp_path


@pytest.mark.parametrize(
    ("domain", "schema", "expected"),
    [
        ("coin_in_the_box", {1}, "coin_in_the_box"),
        ("coin_in_the_box", {1, 4}, "general"),
        ("grapevine", {1}, "general"),
        ("", {1}, "general"),
    ],
)
def test_the_domains_model_is_taken_where_it_knows_all_predicates(
    folder: Path, domain: str, schema: set[int], expected: str
) -> None:
    file, model = shipped.fitting(None, domain, frozenset(schema))
    assert (file, model.domain) == (str(folder / f"{expected}.json"), expected)


def test_a_file_may_be_named_for_every_domain(folder: Path) -> None:
    assert shipped.fitting(f"{folder}/{{domain}}.json", "coin_in_the_box", frozenset())[1].domain == "coin_in_the_box"
    with pytest.raises(MissingError, match=r"grapevine\.json: make one with `python -m learn\.train model=linear"):
        shipped.fitting(f"{folder}/{{domain}}.json", "grapevine", frozenset())


def test_the_models_that_come_along_are_found_by_domain() -> None:
    for name in (
        "coin_in_the_box/pl_7",
        "grapevine/3_pl_7",
        "search_and_rescue",
        "gossip",
        "blocks_world/bw_10",
    ):
        task = load_problem(name)
        assert shipped.fitting(None, task.domain, FeatureTypes(task).schema)[1].domain == task.domain


@pytest.mark.parametrize("name", ["coin_in_the_box/pl_6", "active_muddy_child"])
def test_the_heuristic_says_what_the_model_does(name: str) -> None:
    space = StateSpace(load_problem(name))
    heuristic = make_heuristic("learned", space)
    ids = space.expand([space.initial]).target
    model = read_model(heuristic.checkpoint)
    assert heuristic.score(ids).tolist() == LinearScorer(space, model).score(ids).tolist()
    assert heuristic.prefers == (model.representation.base != "none")
    found = heuristic.evaluate(ids, np.full(len(ids), space.initial), np.zeros(len(ids), dtype=np.int64))
    assert found.scores.tolist() == heuristic.score(ids).tolist()
    if heuristic.prefers:
        assert found.preferred.tolist() == Relaxation(space)(ids).helpful.tolist()


def test_searching_with_it_needs_neither_torch_nor_scipy() -> None:
    script = (
        "import sys; from search.heuristics import make_heuristic; from epigym import StateSpace, load_problem;"
        "space = StateSpace(load_problem('coin_in_the_box/pl_3')); "
        "make_heuristic('learned', space).score(space.expand([0]).target);"
        "print(*{name.partition('.')[0] for name in sys.modules})"
    )
    loaded = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout.split()
    assert "search" in loaded
    assert {"torch", "scipy", "lightning"}.isdisjoint(loaded)


@pytest.mark.parametrize("name", ["coin_in_the_box/pl_6", "assembly_line/b5_pl_5", "grapevine/3_pl_4"])
@pytest.mark.parametrize("heuristic", ["divided_goals", "h_ff", "learned"])
@pytest.mark.parametrize("nodes", [5, 400])
def test_the_walk_that_chooses_models_is_the_agent_hfs(name: str, heuristic: str, nodes: int) -> None:
    task = load_problem(name)
    space = StateSpace(task)
    found = best_first(space, make_heuristic(heuristic, space).score, max_expanded=nodes)
    result = search_alone(task, Configuration.of("hfs", heuristic), Limits(max_expanded=nodes))
    assert found.solved == (result.plan is not None)
    assert found.expanded == result.expanded


@pytest.fixture(scope="module")
def chosen() -> Chosen:
    return train_linear([DOMAIN], TINY, 0)


def test_the_simplest_of_the_best_by_search_is_chosen(chosen: Chosen) -> None:
    learned = [one for one in chosen.candidates if one.model and not one.stopped]
    most = max(one.solved for one in learned)
    fewest = min(one.expanded for one in learned if one.solved == most)
    first = next(one for one in learned if one.solved == most and one.expanded <= 1.1 * fewest)
    assert str(chosen.model.representation) == first.representation
    assert chosen.model.card["loss"] == first.loss
    assert chosen.model.card["validation"] == {"problems": 3, "solved": most, "expanded": first.expanded}
    assert [one.representation for one in chosen.candidates[:3]] == ["divided_goals", "h_ff", "h_add"]
    assert [one.representation for one in chosen.candidates[3:]] == ["L0"] * 2 + ["L1"] * 2 + ["L0+h_ff"] * 2 + [
        "L1+h_ff"
    ] * 2


def test_a_model_is_chosen_even_where_what_is_not_learned_does_better() -> None:
    hopeless = replace(TINY, draws=2, validation=2, expansions=1, features=1, levels=[0], bases=[], l2=[1e6])
    found = train_linear(["search_and_rescue"], hopeless, 0)
    learned = [one for one in found.candidates if one.model]
    assert min(one.expanded for one in found.candidates) < min(one.expanded for one in learned if not one.stopped)
    assert found.model.card["validation"]["expanded"] in [one.expanded for one in learned if not one.stopped]


def test_the_chosen_model_says_what_it_is(chosen: Chosen) -> None:
    model = chosen.model
    assert model.domain == DOMAIN
    assert set(model.colours.tolist()) <= set(model.definitions)
    assert 0 < len(model.colours) <= TINY.features
    assert model.card["problems"] == 6
    assert model.schema == FeatureTypes(load_problem(DOMAIN)).schema


def test_the_same_seed_gives_the_same_model(chosen: Chosen) -> None:
    again = train_linear([DOMAIN], TINY, 0).model
    assert again.weights.tolist() == chosen.model.weights.tolist()
    assert again.colours.tolist() == chosen.model.colours.tolist()


@pytest.fixture
def settings(tmp_path: Path) -> command.Train:
    tiny = [
        "model.draws=2",
        "model.validation=1",
        "model.nodes=20",
        "model.levels=[0]",
        "model.worlds=[false]",
        "model.bases=[]",
    ]
    return composed(command.Train, "train", "model=linear", f"domain={DOMAIN}", f"run_dir={tmp_path / 'run'}", *tiny)


def test_the_command_writes_the_model_and_the_candidates(settings: command.Train, tmp_path: Path) -> None:
    assert isinstance(settings.model, LinearOptions)
    command.train(replace(settings, model=replace(settings.model, folder=str(tmp_path))))
    assert read_model(tmp_path / "run" / "model.json").domain == DOMAIN
    assert (tmp_path / f"{DOMAIN}.json").read_bytes() == (tmp_path / "run" / "model.json").read_bytes()
    with (tmp_path / "run" / "candidates.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [row["sees"] for row in rows] == ["divided_goals", "h_ff", "h_add", "L0", "L0"]
    assert json.loads((tmp_path / f"{DOMAIN}.json").read_text(encoding="utf-8"))["card"]["draws"] == 2


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"problem": ["coin_in_the_box/pl_3"]}, "learns from distributions"),
        ({"domain": []}, "learns from distributions"),
        ({"domain": ["grapevin"]}, "grapevine"),
    ],
)
def test_the_command_wants_domains(settings: command.Train, changes: dict[str, list[str]], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        command.train(replace(settings, **changes))
