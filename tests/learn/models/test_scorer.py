"""Scorers compute what the plain forward pass and the base heuristic say, whatever the batch."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings

from epigym import EState, LimitError, StateSpace, Task, load_problem, to_pyg
from epigym.cli.words import hydra_words
from epigym.encoding.encoder import ENCODINGS, Encoder, list_identifiers, make_encoder, make_encoding
from epigym.encoding.goal_graph import GoalGraph
from epigym.encoding.identifiers import Hash, Identify
from epigym.encoding.relational import Relational, type_ids_of
from epigym.errors import UsageError
from epigym.features.relaxation import Relaxation
from epigym.features.types import FeatureTypes
from epigym.space.rows import GraphBatch
from epigym.task.formula import Formula, believes, fluent, not_
from learn.models.base import Base, BaseHeuristic, correct
from learn.models.calibration import Calibration
from learn.models.gine.model import FusedScorer, NetworkModel
from learn.models.gine.network import GineNetwork
from learn.models.gine.paper import PaperNetwork
from learn.models.gine.scorer import NetworkScorer, PaperScorer, fold_batch_norm
from learn.models.scoring import CorrectingScorer, split_into_chunks
from learn.train import Train
from tests.helpers.commands import compose
from tests.helpers.strategies import estates
from tests.helpers.trained import PAPER, SMALL, bind, random_model, random_regressor

CLOSE = 1e-4  # steps
PROBLEMS = ("coin_in_the_box/pl_7", "grapevine/3_pl_4", "assembly_line/b5_pl_5")
BASES: tuple[Base, ...] = ("none", "h_ff", "h_add")


def explore_some(name: str, count: int) -> StateSpace:
    space = StateSpace(load_problem(name))
    done = 0
    while done < len(space) < count:
        space.expand([done])
        done += 1
    return space


def plain_scores(model: NetworkModel, space: StateSpace, ids: np.ndarray) -> np.ndarray:
    """The forward pass on all graphs at once, and the base heuristic."""
    data = to_pyg(make_encoder(space, make_encoding(model.encoding)).graphs(ids))
    return BaseHeuristic(space, model.base).correct(ids, model.network(data).numpy())


def shuffle_ids(space: StateSpace, count: int) -> np.ndarray:
    return np.random.default_rng(0).permutation(len(space))[:count].astype(np.int32)


@pytest.mark.parametrize("name", PROBLEMS)
@pytest.mark.parametrize(
    ("network", "encoding"), [*((PAPER, one) for one in list_identifiers()), *((SMALL, one) for one in ENCODINGS)]
)
def test_scores_are_those_of_the_plain_network(network: dict[str, Any], encoding: str, name: str) -> None:
    space = explore_some(name, 200)
    types = type_ids_of([FeatureTypes(space.task)], Relational()) if encoding == "relational" else []
    ids, model = shuffle_ids(space, 180), random_model(network, encoding, types=types)
    assert isinstance(model.make_scorer(space), PaperScorer if network is PAPER else FusedScorer)
    for scorer in (model.make_scorer(space), bind(NetworkScorer, model, space)):
        scores = scorer.score(ids)
        assert scores.dtype == np.float64
        assert scores.std() > 100 * CLOSE
        assert np.abs(scores - plain_scores(model, space, ids)).max() < CLOSE


class WithoutGoal(Hash):
    """Leaves the goal out."""

    name = "without_goal"

    def encoder(self, space: StateSpace, goal: Sequence[Formula] | None = None) -> Encoder:
        return Encoder(space, self, ())


class OtherEdges(Hash):
    """Makes its graphs with an encoder of its own."""

    name = "other_edges"

    def encoder(self, space: StateSpace, goal: Sequence[Formula] | None = None) -> Encoder:
        return WithOneLabel(space, self, goal)


class WithOneLabel(Encoder):
    def graphs(self, ids: Any) -> GraphBatch:
        batch = super().graphs(ids)
        return batch._replace(edge_label=np.ones_like(batch.edge_label))


class Shorter(Hash):
    """Drops bits of identifiers, and takes the encoder of ours."""

    def of_worlds(self, task: Task, goal: GoalGraph) -> Identify:
        identify = super().of_worlds(task, goal)
        return lambda valuations, repetitions: identify(valuations, repetitions) & (np.arange(self.width) < 32)


@pytest.mark.parametrize("network", [PAPER, SMALL])
@pytest.mark.parametrize("encoding", [WithoutGoal, OtherEdges, Shorter])
@pytest.mark.parametrize("by", ["name", "_target_"])
def test_scores_with_an_own_encoding_are_those_of_its_graphs(
    network: dict[str, Any], encoding: type[Hash], by: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(ENCODINGS, "own", encoding)
    space = explore_some("coin_in_the_box/pl_6", 60)
    choice = {by: "own" if by == "name" else f"{__name__}.{encoding.__name__}"}
    ids, model = shuffle_ids(space, 50), random_model(network, choice)
    expected = plain_scores(model, space, ids)
    assert np.abs(model.make_scorer(space).score(ids) - expected).max() < CLOSE
    hashed = plain_scores(replace(model, encoding={"name": "hash"}), space, ids)
    assert np.abs(hashed - expected).max() > 5 * CLOSE  # so that the wrong graphs would be noticed


@pytest.mark.parametrize("given", ["encoding={{_target_: {}, width: 32}}", "encoding._target_={} encoding.width=32"])
def test_commands_take_an_own_encoding(given: str, tmp_path: Path) -> None:
    words = given.format(f"{__name__}.WithoutGoal")
    overrides = [words] if "{" in words else words.split()
    found = hydra_words([f"run_dir={tmp_path}/run", *overrides], Train, is_sweep=False)
    assert make_encoding(compose(Train, "train", *found).encoding) == WithoutGoal(width=32)
    with pytest.raises(UsageError, match=r"^encoding\.width=-1: expected at least 0$"):
        compose(Train, "train", *(word.replace("32", "-1") for word in found))


@pytest.mark.parametrize("network", [PAPER, SMALL])
@pytest.mark.parametrize("base", BASES)
def test_a_network_corrects_its_base(network: dict[str, Any], base: Base) -> None:
    space = explore_some("coin_in_the_box/pl_6", 60)
    ids, steps = shuffle_ids(space, 50), Calibration([1, 2], [0, 5])
    alone, corrected = (random_model(network, base=one, steps=steps).make_scorer(space) for one in ("none", base))
    expected = BaseHeuristic(space, base)(ids)
    assert (base == "none") == (not expected.any())
    values = correct(base, expected, alone.score(ids))
    np.testing.assert_allclose(corrected.score(ids), values, atol=CLOSE)
    assert corrected.steps is steps
    assert alone.relaxation is None
    if base == "none":
        assert corrected.relaxation is None
    else:
        assert corrected.relaxation(ids).actions.tolist() == Relaxation(space)(ids).actions.tolist()


class OwnPaper(PaperNetwork):
    """It may have a forward pass of its own."""


class OwnGine(GineNetwork):
    """As well."""


@pytest.mark.parametrize(("model", "kind"), [(random_regressor(), OwnPaper), (random_model(SMALL), OwnGine)])
def test_subclasses_are_scored_plainly(model: NetworkModel, kind: type) -> None:
    space = StateSpace(load_problem("coin_in_the_box/pl_3"))
    own = replace(model, kind=f"{__name__}.{kind.__name__}")
    assert isinstance(own.make_scorer(space), NetworkScorer)
    assert type(own.network) is kind


def test_a_gpu_that_is_not_there_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    for model in (random_regressor(), random_model(SMALL)):
        with pytest.raises(UsageError, match=r"^device=cuda: PyTorch finds no GPU here: give device=cpu$"):
            model.make_scorer(StateSpace(load_problem("coin_in_the_box/pl_3")), "cuda")


def test_threads_are_those_of_pytorch() -> None:
    before = torch.get_num_threads()
    try:
        random_regressor().make_scorer(StateSpace(load_problem("coin_in_the_box/pl_3")), threads=3)
        assert torch.get_num_threads() == 3
    finally:
        torch.set_num_threads(before)


@pytest.mark.parametrize("model", [random_regressor(), random_model(SMALL, "relational", base="h_add")])
def test_scores_do_not_depend_on_the_batch(model: NetworkModel, monkeypatch: pytest.MonkeyPatch) -> None:
    space = explore_some("coin_in_the_box/pl_7", 200)
    ids = np.arange(100, dtype=np.int32)
    together = model.make_scorer(space).score(ids)
    one_by_one = model.make_scorer(space)
    assert np.abs(together - np.concatenate([one_by_one.score(ids[k : k + 1]) for k in ids])).max() < CLOSE
    assert np.array_equal(together, model.make_scorer(space).score(ids))
    assert one_by_one.score(ids[:0]).shape == (0,)
    for kind in (CorrectingScorer, FusedScorer):
        monkeypatch.setattr(kind, "chunk", 7)
    for scorer in (model.make_scorer(space), bind(NetworkScorer, model, space)):
        assert np.abs(together - scorer.score(ids)).max() < CLOSE


@pytest.mark.parametrize(("most", "size"), [(800, 10), (8193, 1), (4, 20)])
def test_e_states_of_many_worlds_are_scored_a_few_at_a_time(most: int, size: int) -> None:
    space: Any = SimpleNamespace(world_counts=lambda ids: np.where(ids == 7, most, 1))
    ids = np.arange(50, dtype=np.int32)
    parts = list(split_into_chunks(space, ids, 20))
    assert {len(part) for part in parts[:-1]} == {size}
    assert np.concatenate(parts).tolist() == ids.tolist()


@pytest.mark.parametrize("network", [PAPER, SMALL])
def test_a_task_that_does_not_fit_the_encoding_is_refused(network: dict[str, Any]) -> None:
    model = random_model(network, "bitmask")
    initial = EState((frozenset(),), ((frozenset({0}),),), (0,))
    task = Task("large", tuple(f"f{n}" for n in range(33)), ("a",), (), initial, (fluent("f0"),))
    with pytest.raises(LimitError, match="does not fit the bitmask encoding"):
        model.make_scorer(StateSpace(task))


def test_graphs_of_many_states_are_flat_arrays_that_torch_takes_as_they_are() -> None:
    space = explore_some("coin_in_the_box/pl_7", 50)
    for array in Encoder(space).graphs(np.arange(50, dtype=np.int32)):
        assert array.dtype in (np.int64, np.uint8)
        assert array.flags.c_contiguous
        assert array.flags.writeable
        assert torch.from_numpy(array).data_ptr() == array.ctypes.data


@settings(max_examples=40)
@given(estates(fluents=("p", "q"), agents=("a", "b"), max_designated=3))
def test_any_frame_and_any_number_of_designated_worlds(state: EState) -> None:
    world = (frozenset({0}),)
    goal = (believes("a", fluent("p")), not_(fluent("q")))
    task = Task("test", ("p", "q"), ("a", "b"), (), EState((frozenset(),), (world, world), (0,)), goal)
    space = StateSpace(task)
    ids = np.array([space.intern(state), 0], dtype=np.int32)
    model = random_regressor()
    assert np.abs(bind(PaperScorer, model, space).score(ids) - plain_scores(model, space, ids)).max() < CLOSE


def test_goal_part_has_the_same_embeddings_in_every_state() -> None:
    space = explore_some("coin_in_the_box/pl_6", 100)
    network: Any = random_regressor().network
    goal_size = len(Encoder(space).goal.bits)
    data = to_pyg(Encoder(space).graphs(np.arange(100, dtype=np.int32)))
    nodes, edges = network.node_mlp(data.x), network.edge_mlp(data.edge_attr)
    for conv in network.convs:
        nodes = torch.relu(conv(nodes, data.edge_index, edges))
        goal = nodes[data.ptr[:-1, None] + torch.arange(goal_size)]
        torch.testing.assert_close(goal, goal[:1].expand_as(goal), rtol=0, atol=1e-6)


def test_the_folded_head_computes_what_the_head_computes() -> None:
    network: Any = random_regressor().network
    x = torch.randn(7, 128)
    expected = network.head(x)
    torch.testing.assert_close(fold_batch_norm(network).head(x), expected)
    assert torch.equal(network.head(x), expected), "the network itself stays as it was"


def test_new_worlds_are_embedded_when_they_appear() -> None:
    space = explore_some("coin_in_the_box/pl_7", 2)
    model = random_regressor()
    scorer = bind(PaperScorer, model, space)
    scorer.score(np.array([0], dtype=np.int32))
    for state in range(60):
        space.expand([state])
    ids = np.arange(len(space), dtype=np.int32)
    assert np.abs(scorer.score(ids) - plain_scores(model, space, ids)).max() < CLOSE
