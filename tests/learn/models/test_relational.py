"""Message passing over typed graphs: the graphs, what scores do not depend on, training, checkpoints, the command."""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from torch.utils.data.distributed import DistributedSampler

from epigym.encoding.relational import (
    KIND_OF,
    KINDS,
    MAX_WORLDS,
    RELATIONS,
    GraphMaker,
    Graphs,
    side_by_side,
    vocabulary_of,
)
from epigym.errors import CheckpointError, EpigymError, UsageError
from epigym.features.relaxation import Relaxation
from epigym.features.types import FeatureTypes
from epigym.problem import domain_problem, load_problem
from epigym.space.space import StateSpace
from epigym.task.task import Task
from learn import train as command
from learn.data.pairs import Pairs
from learn.models.checkpoints import load, read
from learn.models.checkpoints import write as save
from learn.models.gine.relational import (
    RelationalModel,
    RelationalNetwork,
    RelationalScorer,
    ResidualLayer,
    restore,
    tensors,
)
from learn.models.linear.model import Base, BaseHeuristic
from learn.training import drawing, relational
from learn.training.linear.fit import target_of
from learn.training.options import RelationalOptions
from learn.training.selection import ValidationResult, search_greedily, validate_by_search
from search.agents.result import SearchResult, SearchStatus
from search.heuristics import make_heuristic
from search.planning.configuration import Configuration
from search.planning.planner import find_plan
from tests.helpers import strategies
from tests.helpers.commands import composed
from tests.helpers.structured import structured, walk_by_other_names
from tests.helpers.tasks import coin, counter, deluded

OBJECT, GOAL, FACT, FLUENT, BELIEF, WORLD, ROW = range(KINDS)
FIRST = np.searchsorted(KIND_OF, range(KINDS))  # the first state of each kind
DOMAIN = "epistemic_gossip"


def graphs_of(task: Task, ids: Sequence[int], space: StateSpace | None = None) -> Graphs:
    types = FeatureTypes(task)
    return GraphMaker(space or StateSpace(task), types, vocabulary_of([types]))(ids)


def check_sound(graphs: Graphs) -> None:
    """Edges stay in their graph, and each has one back."""
    source, target = graphs.edges
    assert (graphs.graph[source] == graphs.graph[target]).all()
    assert (np.bincount(graphs.graph, minlength=graphs.size) > 0).all()
    assert ((graphs.relation >= 0) & (graphs.relation < RELATIONS)).all()
    forth = sorted(zip(source.tolist(), target.tolist(), graphs.relation.tolist(), strict=True))
    turned = (graphs.relation + RELATIONS // 2) % RELATIONS
    assert forth == sorted(zip(target.tolist(), source.tolist(), turned.tolist(), strict=True))
    assert len(set(forth)) == len(forth)


def edges_by_kind(graphs: Graphs, names: Sequence[str]) -> set[frozenset[tuple[str, str]]]:
    """The edges of each kind of one direction, by the names of their ends."""
    is_forth = graphs.relation < RELATIONS // 2
    return {
        frozenset((names[a], names[b]) for a, b in graphs.edges[:, is_forth & (graphs.relation == relation)].T)
        for relation in set(graphs.relation[is_forth].tolist())
    }


def test_the_graph_of_the_coin_by_hand() -> None:
    """At the start nobody knows how the coin lies; open is false everywhere, and no part of the goal speaks of it."""
    graphs = graphs_of(coin(), [0])
    check_sound(graphs)
    kinds = [OBJECT] * 2 + [GOAL] * 3 + [FLUENT] + [BELIEF] * 2 + [WORLD] * 2 + [ROW] * 2
    assert KIND_OF[graphs.state].tolist() == kinds
    own = (graphs.state - FIRST[kinds]).tolist()
    throughout, unsure = 1, 4 * 1 + 0
    assert own[:8] == [0, 0, 1, 0, 0, throughout, unsure, unsure]
    worlds = ["real", "other"] if own[8] else ["other", "real"]
    assert own[8:] == [world == "real" for world in worlds] + [0, 0]
    names = ["a", "b", "?tail", "?B", "?BB", "tail", "a:tail", "b:tail", *worlds, "row of a", "row of b"]
    assert edges_by_kind(graphs, names) == {
        frozenset({("?B", "b"), ("?BB", "a"), ("a:tail", "a"), ("b:tail", "b"), ("row of a", "a"), ("row of b", "b")}),
        frozenset({("?B", "?tail"), ("?BB", "?B")}),
        frozenset({("?tail", "tail"), ("a:tail", "tail"), ("b:tail", "tail")}),
        frozenset({("real", "tail"), ("real", "?tail")}),
        frozenset((world, row) for world in worlds for row in ("row of a", "row of b")),
        frozenset((row, world) for world in worlds for row in ("row of a", "row of b")),
    }


def test_what_agents_believe_is_in_the_states() -> None:
    """After a has looked it knows how the coin lies; what leaves an agent with nothing to believe in is a state too."""
    space = StateSpace(coin())
    looked = space.successor(space.successor(0, 0), 1)
    graphs = graphs_of(space.task, [looked], space)
    beliefs = graphs.state[KIND_OF[graphs.state] == BELIEF] - FIRST[BELIEF]
    true, unsure = 4 * 1 + 1, 4 * 1 + 0
    assert beliefs.tolist() == [true, true, true, unsure]  # a: open, tail; b: open, tail
    assert (KIND_OF[graphs.state] == ROW).sum() == 3  # a has one in each world, b the same in both
    space = StateSpace(deluded())
    end = space.successor(space.successor(0, 0), 1)
    graphs = graphs_of(space.task, [end], space)
    assert 4 * 1 + 3 in (graphs.state - FIRST[BELIEF])[KIND_OF[graphs.state] == BELIEF].tolist()


def test_arguments_and_facts_are_edges() -> None:
    """Every fluent that is a node has an edge to each of its arguments, and so has every static fact."""
    task = load_problem("consecutive_numbers")
    assert task.structure is not None
    assert task.structure.facts
    graphs = graphs_of(task, [0])
    check_sound(graphs)
    kinds = KIND_OF[graphs.state]
    source, target = graphs.edges[:, graphs.relation < RELATIONS // 2]
    to_object = kinds[target] == OBJECT
    tables = FeatureTypes(task).tables
    facts = np.flatnonzero(kinds == FACT)
    counts = np.bincount(source[to_object], minlength=len(kinds))
    assert counts[facts].tolist() == np.diff(tables.fact_edges[0]).tolist()
    assert (counts[kinds == FLUENT] > 0).all()
    first = facts[0]
    assert target[to_object & (source == first)].tolist() == tables.fact_edges[1][: counts[first]].tolist()


def test_types_are_looked_up_and_what_is_unknown_is_0() -> None:
    task = coin()
    types, space = FeatureTypes(task), StateSpace(task)
    vocabulary = vocabulary_of([types])
    assert set(vocabulary.tolist()) < types.definitions.keys()
    graphs = GraphMaker(space, types, vocabulary)([0])
    tables, (_, _, tail, _, _, fluent, belief, *_) = types.tables, graphs.types.tolist()
    assert vocabulary[np.array(tail) - 1].tolist() == [tables.goal_fine[0], tables.goal_coarse[0]]
    assert vocabulary[np.array(fluent) - 1].tolist() == [tables.fluent_fine[1], tables.fluent_coarse[1]]
    assert vocabulary[np.array(belief) - 1].tolist() == [tables.belief_fine[0, 1], tables.belief_coarse[0, 1]]
    assert vocabulary[graphs.types[0, 0] - 1] == tables.objects[0]
    kinds = KIND_OF[graphs.state]
    assert not graphs.types[(kinds == WORLD) | (kinds == ROW)].any()
    assert not GraphMaker(space, types, vocabulary[:0])([0]).types.any()
    known = GraphMaker(space, types, np.sort(tables.fluent_fine))([0]).types
    assert (np.flatnonzero(known.any(axis=1)) == 5).all()


def test_worlds_beyond_the_limit_are_left_out() -> None:
    task = load_problem("active_muddy_child/amc_09_05_muddy")
    space = StateSpace(task)
    assert space.world_counts([0])[0] > MAX_WORLDS
    graphs = graphs_of(task, [0, 0], space)
    check_sound(graphs)
    kinds = KIND_OF[graphs.state]
    assert np.bincount(graphs.graph[kinds == WORLD]).tolist() == [MAX_WORLDS] * 2
    assert (graphs.state[kinds == WORLD] == FIRST[WORLD] + 1).sum() == 2 * len(space.model(0).state.designated)


def network_of(vocabulary: int, seed: int = 0) -> RelationalNetwork:
    torch.manual_seed(seed)
    network = RelationalNetwork(vocabulary, 8, 3).eval()
    torch.nn.init.normal_(network.last.weight)  # as if it were trained
    return network


def written(folder: Path, weights: RelationalNetwork, **changed: object) -> str:
    """A checkpoint of a network that knows one type."""
    parameters = {"kind": "relational", "version": 2, "vocabulary": [2**64 - 1], "domains": [DOMAIN],
                  "network": {"width": 8, "layers": 3}, "base": "none"}  # fmt: skip
    state = {f"regressor.{name}": value for name, value in weights.state_dict().items()}
    save({"hyper_parameters": parameters | changed, "state_dict": state}, folder / "own.ckpt")
    return str(folder / "own.ckpt")


def scorer(task: Task, network: RelationalNetwork, types: FeatureTypes, space: StateSpace) -> RelationalScorer:
    return RelationalScorer(space, network, vocabulary_of([types]), "none")


def check_alike(task: Task, seed: int) -> None:
    """The same walk by other names meets e-states with the same scores, one by one or together.

    Where worlds are left out the order of fluents decides which.
    """
    (spaces, states), types = walk_by_other_names(task, seed), FeatureTypes(task)
    whole = spaces[0].world_counts(states[0]) <= MAX_WORLDS
    states = [np.array(own)[whole].tolist() for own in states]
    network = network_of(len(vocabulary_of([types])))
    one, two = (
        RelationalScorer(space, network, vocabulary_of([types]), "h_add").score(np.array(ids))
        for space, ids in zip(spaces, states, strict=True)
    )
    np.testing.assert_allclose(one, two, atol=1e-5)
    single = RelationalScorer(spaces[0], network, vocabulary_of([types]), "h_add")
    np.testing.assert_allclose([single.score(np.array([state]))[0] for state in states[0]], one, atol=1e-5)


@settings(max_examples=30)
@given(strategies.tasks() | strategies.tasks(agents=("c", "a", "b"), max_designated=4), st.integers(0, 2**32 - 1))
def test_names_and_orders_do_not_matter_in_random_tasks(task: Task, seed: int) -> None:
    check_alike(task, seed)
    check_alike(structured(task, seed), seed)


@pytest.mark.parametrize(
    "problem", ["coin_in_the_box/pl_6", "grapevine/3_pl_4", "blocks_world", "consecutive_numbers", "search_and_rescue"]
)
def test_names_and_orders_do_not_matter_in_problems_of_the_domains(problem: str) -> None:
    check_alike(load_problem(problem), 0)


def test_several_problems_side_by_side_have_the_scores_of_each() -> None:
    tasks = [coin(), counter(), load_problem("grapevine/3_pl_4")]
    types = [FeatureTypes(task) for task in tasks]
    vocabulary = vocabulary_of(types)
    network = network_of(len(vocabulary))
    graphs, scores = [], []
    for task, own in zip(tasks, types, strict=True):
        space = StateSpace(task)
        ids = np.append(space.expand([0]).target[:3], 0)
        graphs.append(GraphMaker(space, own, vocabulary)(ids))
        scores += RelationalScorer(space, network, vocabulary, "none", own).score(ids).tolist()
    together = side_by_side(graphs)
    check_sound(together)
    with torch.inference_mode():
        np.testing.assert_allclose(network(tensors(together)).numpy(), scores, atol=1e-5)
    assert len({round(score, 4) for score in scores}) > len(tasks)


def test_no_e_states_have_no_scores() -> None:
    types = FeatureTypes(coin())
    assert scorer(coin(), network_of(len(vocabulary_of([types]))), types, StateSpace(coin())).score(
        np.empty(0, dtype=np.int32)
    ).shape == (0,)


def test_a_layer_adds_what_its_perceptron_makes_of_the_sum_of_messages() -> None:
    torch.manual_seed(0)
    layer = ResidualLayer(4)
    x, edges, relation = torch.randn(3, 4), torch.tensor([[0, 1, 0], [2, 2, 1]]), torch.tensor([0, 1, 1])
    heard = torch.zeros(3, 4)
    for (source, target), kind in zip(edges.T.tolist(), relation.tolist(), strict=True):
        heard[target] += (x[source] + layer.relations.weight[kind]).relu()
    expected = layer.norm(x + layer.convolution.nn(x + heard))
    torch.testing.assert_close(layer(x, edges, relation), expected)


def test_types_are_dropped_in_training_only() -> None:
    types = FeatureTypes(coin())
    graphs = tensors(GraphMaker(StateSpace(coin()), types, vocabulary_of([types]))([0]))
    network = network_of(len(vocabulary_of([types])))
    dropping = RelationalNetwork(len(vocabulary_of([types])), 8, 3, type_dropout=1.0)
    dropping.load_state_dict(network.state_dict())
    unknown = graphs._replace(types=torch.zeros_like(graphs.types))
    assert dropping.eval()(graphs).item() == network(graphs).item() != network(unknown).item()
    assert dropping.train()(graphs).item() == network(unknown).item() == network.train()(unknown).item()


@pytest.mark.parametrize("base", ["h_ff", "h_add"])
@pytest.mark.parametrize("problem", ["coin_in_the_box/pl_6", "grapevine/3_pl_4", "blocks_world"])
def test_an_untrained_network_searches_as_its_base(base: str, problem: str, tmp_path: Path) -> None:
    task = load_problem(problem)
    file = written(tmp_path, RelationalNetwork(1, 8, 3), base=base)
    own, expected = (
        find_plan(task, Configuration.of("hfs", heuristic)) for heuristic in ({"name": "gnn", "checkpoint": file}, base)
    )
    assert expected.status is SearchStatus.SOLVED
    assert (own.plan, own.expanded, own.generated) == (expected.plan, expected.expanded, expected.generated)


@pytest.mark.parametrize("base", ["h_ff", "h_add"])
def test_a_network_corrects_its_base_and_prefers_its_helpful_actions(base: Base, tmp_path: Path) -> None:
    space = StateSpace(load_problem("coin_in_the_box/pl_6"))
    ids = np.append(space.expand([0]).target, 0)
    alone = make_heuristic("gnn", space, checkpoint=written(tmp_path, network_of(1)))
    assert not alone.prefers
    assert not len(alone.evaluate(ids, ids, ids).preferred)
    corrected = make_heuristic("gnn", space, checkpoint=written(tmp_path, network_of(1), base=base))
    assert corrected.prefers
    found = corrected.evaluate(ids, ids, ids)
    assert found.scores.tolist() == (alone.score(ids) + BaseHeuristic(space, base)(ids)).tolist()
    assert len(set(alone.score(ids).round(3).tolist())) > 1
    relaxed = Relaxation(space)(ids)
    assert found.preferred_ptr.tolist() == relaxed.helpful_ptr.tolist()
    assert found.preferred.tolist() == relaxed.helpful.tolist() != []


def test_agents_that_need_preferences_take_a_network_with_a_base_only(tmp_path: Path) -> None:
    task = load_problem("coin_in_the_box/pl_6")

    def search(base: str) -> SearchResult:
        file = written(tmp_path, network_of(1), base=base)
        return find_plan(task, Configuration.of("lazy", {"name": "gnn", "checkpoint": file}))

    assert search("h_ff").status is SearchStatus.SOLVED
    with pytest.raises(UsageError, match="needs a heuristic that prefers actions"):
        search("none")


@pytest.mark.parametrize(
    ("h_ff", "h_add", "expected"),
    [((1, 90), (0, 99), "h_add"), ((1, 90), (1, 80), "h_add"), ((1, 90), (2, 10), "h_ff"), ((1, 9), (1, 9), "h_ff")],
)
def test_the_base_that_searches_best_is_chosen(
    h_ff: tuple[int, int], h_add: tuple[int, int], expected: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    results = iter((h_ff, h_add))

    def search(*_: object) -> ValidationResult:
        missed, expanded = next(results)
        return ValidationResult(5 - missed, expanded, ("missed",) * missed, stopped=False)

    monkeypatch.setattr(relational, "validate_by_search", search)
    assert relational.choose_base([], 20) == expected


def test_the_average_follows_the_weights() -> None:
    module = relational.RelationalModule(
        vocabulary=[1], network={"width": 4, "layers": 1}, base="none", loss="ranking", lr=1e-3, weight_decay=0.0,
        averaging=0.75, domains=[DOMAIN], problems=[], nodes=1,
    )  # fmt: skip
    before = {name: tensor.clone() for name, tensor in module.regressor.state_dict().items()}
    with torch.no_grad():
        for tensor in module.network.state_dict().values():
            tensor += 1
    module.on_train_batch_end()
    for name, tensor in module.regressor.state_dict().items():
        torch.testing.assert_close(tensor, before[name] + 0.25)


def composed_settings(tmp_path: Path, *overrides: str) -> command.Train:
    tiny = [f"model.{one}" for one in ("draws=2", "validation=1", "expansions=10", "nodes=20", "width=8", "layers=2")]
    return composed(command.Train, "train", "model=relational", f"run_dir={tmp_path / 'run'}",
                    "trainer.accelerator=cpu", "trainer.max_epochs=2", *tiny, *overrides)  # fmt: skip


class Learned(NamedTuple):
    """What training on one task, which it was validated by too, came to."""

    task: Task
    best: str
    model: RelationalModel
    pairs: Pairs
    scores: NDArray[np.float64]


def learned(folder: Path, task: Task, loss: str, base: str) -> Learned:
    given = composed_settings(folder, "domain=gossip", "model.expansions=1000", f"model.loss={loss}", "model.lr=1e-2",
                              "trainer.max_epochs=60", "trainer.check_val_every_n_epoch=20", "model.width=16",
                              "model.layers=4", f"model.base={base}", "model.weight_decay=0", "model.averaging=0",
                              "model.type_dropout=0")  # fmt: skip
    assert isinstance(given.model, RelationalOptions)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(relational, "drawn", lambda *arguments: [task])
        relational.train_relational(given, given.model, ["gossip"])
    checkpoints = folder / "run" / "checkpoints"
    model = restore(read(checkpoints / "last.ckpt"))
    [pairs] = drawing.all_pairs([task], 1000, 0)
    scores = RelationalScorer(pairs.space, model.network, model.vocabulary, model.base).score(pairs.ids)
    return Learned(task, str(checkpoints / "best.ckpt"), model, pairs, scores)


@pytest.fixture(scope="module")
def ranked(tmp_path_factory: pytest.TempPathFactory) -> Learned:
    return learned(tmp_path_factory.mktemp("ranked"), counter(), "ranking", "none")


@pytest.fixture(scope="module")
def regressed(tmp_path_factory: pytest.TempPathFactory) -> Learned:
    return learned(tmp_path_factory.mktemp("regressed"), coin(), "regression", "h_ff")


@pytest.mark.slow
@pytest.mark.parametrize(("name", "plan"), [("ranked", 4), ("regressed", 3)])
def test_what_it_was_trained_on_is_solved_without_a_detour(
    name: str, plan: int, request: pytest.FixtureRequest
) -> None:
    result = request.getfixturevalue(name)
    space = StateSpace(result.task)
    found = search_greedily(space, make_heuristic("gnn", space, checkpoint=result.best).score, 20)
    assert (found.status, found.expanded) == (SearchStatus.SOLVED, plan)


@pytest.mark.slow
def test_a_step_is_the_unit_of_a_ranking(ranked: Learned) -> None:
    margins = ranked.scores[ranked.pairs.worse] - ranked.scores[ranked.pairs.better]
    assert (margins > 0).all()
    assert 0.5 < np.median(margins) < 2
    assert float(ranked.model.network.unit) > 2  # the loss drives pairs farther apart


@pytest.mark.slow
def test_a_regression_learns_distances(regressed: Learned) -> None:
    assert len(set(regressed.pairs.distance.tolist())) > 3
    assert np.abs(regressed.scores - target_of(regressed.pairs.distance)).max() < 0.5
    assert float(regressed.model.network.unit) == 1


@pytest.mark.slow
def test_the_command_keeps_what_searches_best(tmp_path: Path) -> None:
    given = composed_settings(tmp_path, f"domain={DOMAIN}", "model.validation=2", "trainer.max_epochs=3",
                              "trainer.check_val_every_n_epoch=1")  # fmt: skip
    command.train(given)
    run = tmp_path / "run"
    with (run / "curve.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert list(rows[0]) == ["epoch", "loss", "solved", "expanded", "seconds", "kept"]
    assert [row["epoch"] for row in rows] == ["1", "2", "3"]
    assert float(rows[-1]["loss"]) < float(rows[0]["loss"])
    [best] = [row for row in rows if row["kept"] == "best"]
    ended = [(-int(row["solved"]), int(row["expanded"])) for row in rows if row["kept"] != "stopped"]
    assert (-int(best["solved"]), int(best["expanded"])) == min(ended)
    model = restore(read(run / "checkpoints" / "best.ckpt"))
    problems = [(task, FeatureTypes(task)) for task in drawing.drawn([DOMAIN], "validation", 2, given.seed)]
    found = validate_by_search(
        problems, 20, lambda space, types: RelationalScorer(space, model.network, model.vocabulary, model.base).score
    )
    assert (found.solved, found.expanded) == (int(best["solved"]), int(best["expanded"]))
    assert model.domains == (DOMAIN,)
    assert (run / "curves.png").stat().st_size > 1000
    space = StateSpace(load_problem("grapevine/3_pl_4"))  # in which it knows next to nothing
    space.expand([0])
    score = make_heuristic("gnn", space, checkpoint=str(run / "checkpoints" / "best.ckpt")).score(np.arange(len(space)))
    assert np.isfinite(score).all()
    assert len(set(score.tolist())) > 1


@pytest.fixture
def tiny_tasks(monkeypatch: pytest.MonkeyPatch) -> None:
    """In place of what is drawn."""
    monkeypatch.setattr(relational, "drawn", lambda *arguments: [coin(), counter()])


@pytest.mark.usefixtures("tiny_tasks")
def test_every_process_of_a_distributed_run_validates_by_all_problems() -> None:
    runs = relational.PairRuns([], [], np.array([], dtype=np.uint64), "none")
    problems = relational.PairData(runs, batch_size=64, validation=3, seed=0).val_dataloader().dataset
    for rank in range(2):  # which would share them
        [own] = DistributedSampler(problems, num_replicas=2, rank=rank, shuffle=False)
        assert problems[own].tolist() == [0, 1, 2]


@pytest.mark.slow
def test_equal_seeds_give_equal_networks(tmp_path: Path) -> None:
    def weights(name: str, seed: int) -> list[float]:
        command.train(composed_settings(tmp_path / name, "domain=gossip", f"seed={seed}"))
        state = read(tmp_path / name / "run" / "checkpoints" / "best.ckpt").state
        return [float(value) for tensor in state.values() for value in tensor.flatten()]

    first = weights("one", 0)
    assert first == weights("two", 0)
    assert first != weights("three", 1)


@pytest.mark.slow
@pytest.mark.usefixtures("tiny_tasks")
def test_training_goes_on_from_a_checkpoint_of_the_same_network_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(relational, "choose_base", lambda *_: "h_add")
        command.train(composed_settings(tmp_path, "domain=gossip"))
    monkeypatch.setattr(relational, "choose_base", None)  # a base is chosen once
    further, resume = tmp_path / "further", f"ckpt_path={tmp_path / 'run' / 'checkpoints' / 'last.ckpt'}"
    command.train(composed_settings(further, "domain=gossip", resume, "trainer.max_epochs=4"))
    with (further / "run" / "curve.csv").open(encoding="utf-8") as file:
        assert [row["epoch"] for row in csv.DictReader(file)] == ["2", "4"]
    assert restore(read(further / "run" / "checkpoints" / "last.ckpt")).base == "h_add"
    message = r"^[^\n]*last\.ckpt is of another network, or of other problems, than this training$"
    with pytest.raises(CheckpointError, match=message):
        command.train(composed_settings(tmp_path / "narrow", "domain=gossip", resume, "model.width=4"))
    with pytest.raises(CheckpointError, match=message):
        command.train(composed_settings(tmp_path / "alone", "domain=gossip", resume, "model.base=none"))
    monkeypatch.setattr(relational, "drawn", lambda *arguments: [coin()])
    with pytest.raises(CheckpointError, match=message):
        command.train(composed_settings(tmp_path / "other", "domain=gossip", resume))


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        (
            ["problem=coin_in_the_box/pl_3"],
            "problem=coin_in_the_box/pl_3: model=relational does not use it, only",
        ),
        (["domain=[]"], "no domain is left to learn from: give domain="),
        (["domain=grapevin"], "unknown domain 'grapevin': did you mean 'grapevine'?"),
    ],
)
def test_the_command_wants_domains(tmp_path: Path, overrides: list[str], message: str) -> None:
    with pytest.raises(UsageError, match=rf"^{re.escape(message)}[^\n]*$"):
        command.train(composed_settings(tmp_path, *overrides))
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        (["trainer.max_epochs=-1"], "model=relational needs an end: set trainer.max_epochs or trainer.max_steps"),
        (["trainer.max_epochs=1"], "training ended after 1 epochs, before the first validation"),
    ],
)
@pytest.mark.usefixtures("tiny_tasks")
def test_a_training_without_an_end_or_a_validation_is_refused(
    tmp_path: Path, overrides: list[str], message: str
) -> None:
    with pytest.raises(EpigymError, match=rf"^{re.escape(message)}[^\n]*$"):
        command.train(composed_settings(tmp_path, f"domain={DOMAIN}", *overrides))


def test_nothing_to_learn_from_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(drawing, "pairs_of", lambda task, **options: None)
    message = rf"^nothing to learn from in 2 problems of {DOMAIN}: raise model\.draws$"
    with pytest.raises(EpigymError, match=message):
        command.train(composed_settings(tmp_path, f"domain={DOMAIN}"))


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("model.draws=0", "model.draws=0: expected at least 1"),
        ("model.loss=hinge", "model.loss"),
        ("model.lr=-1", "model.lr=-1: expected at least 0"),
        ("model.base=goal_count", "model.base"),
        ("model.type_dropout=2", "model.type_dropout=2: expected at most 1"),
        ("model.averaging=2", "model.averaging=2: expected at most 1"),
    ],
)
def test_wrong_settings_are_named(tmp_path: Path, override: str, message: str) -> None:
    with pytest.raises(UsageError, match=re.escape(message)):
        composed_settings(tmp_path, "domain=gossip", override)


def test_checkpoints_of_another_kind_or_version_are_refused(tmp_path: Path) -> None:
    space = StateSpace(domain_problem(DOMAIN))
    network = network_of(1)

    def write(**changed: object) -> str:
        return written(tmp_path, network_of(1), **{"base": "h_add"} | changed)

    scores = make_heuristic("gnn", space, checkpoint=write()).score(np.array([0]))
    own = RelationalScorer(space, network, np.array([2**64 - 1], dtype=np.uint64), "h_add").score(np.array([0]))
    assert scores.tolist() == own.tolist()
    with pytest.raises(CheckpointError, match=r"^[^\n]* holds a model=relational: expected a regressor[^\n]*$"):
        load(write())
    with pytest.raises(CheckpointError, match=r"^[^\n]*\(format 1, expected 2\): train it again$"):
        make_heuristic("gnn", space, checkpoint=write(version=1))
    damages = (
        {"base": "best"},
        {"vocabulary": [1, 2]},
        {"vocabulary": [-1]},
        {"network": {"size": 3}},
        {"domains": None},
    )
    for wrong in damages:
        with pytest.raises(CheckpointError, match=r"own\.ckpt is not a checkpoint of learn\.train: "):
            make_heuristic("gnn", space, checkpoint=write(**wrong))


def test_a_relational_model_is_no_regressor(tmp_path: Path) -> None:
    given = composed_settings(tmp_path, "domain=gossip")
    with pytest.raises(UsageError, match=r"^model=relational is no regressor: give model=gine$"):
        _ = given.regressor
