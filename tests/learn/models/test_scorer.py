from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from torch import Tensor

from epigym.encoding.encoder import Encoder
from epigym.encoding.identifiers import IDENTIFIERS
from epigym.problem import load_problem
from epigym.space.space import StateSpace
from epigym.task.formula import believes, fluent, not_
from epigym.task.task import EState, Task
from learn.models.checkpoints import Trained
from learn.models.gine.scorer import RegressorScorer, folded
from tests.helpers.strategies import estates
from tests.helpers.trained import random_regressor

CLOSE = 1e-4  # steps


def explored(name: str, count: int) -> StateSpace:
    space = StateSpace(load_problem(name))
    done = 0
    while done < len(space) < count:
        space.expand([done])
        done += 1
    return space


def plain_inputs(space: StateSpace, encoding: str, ids: np.ndarray) -> tuple[Tensor, ...]:
    batch = Encoder(space, encoding).graphs(ids)
    graph = np.repeat(np.arange(len(ids)), np.diff(batch.node_ptr))
    return (
        torch.from_numpy(batch.nodes).float(),
        torch.from_numpy(batch.edge_index),
        torch.from_numpy(batch.edge_label)[:, None] / 255,
        torch.from_numpy(graph),
        torch.empty(len(ids)),
    )


def plain_scores(model: Trained, space: StateSpace, ids: np.ndarray) -> np.ndarray:
    outputs = model.regressor(*plain_inputs(space, model.encoding["name"], ids))
    return model.target.steps(outputs).numpy()


@pytest.mark.parametrize("encoding", IDENTIFIERS)
@pytest.mark.parametrize("name", ["coin_in_the_box/pl_7", "grapevine/3_pl_4", "assembly_line/b5_pl_5"])
def test_scores_are_those_of_the_plain_module(encoding: str, name: str) -> None:
    space = explored(name, 300)
    ids = np.random.default_rng(0).permutation(len(space))[:270].astype(np.int32)
    model = random_regressor(encoding)
    scores = RegressorScorer(model, space).score(ids)
    assert scores.std() > 100 * CLOSE
    assert np.abs(scores - plain_scores(model, space, ids)).max() < CLOSE


def test_scores_do_not_depend_on_the_batch() -> None:
    space = explored("coin_in_the_box/pl_7", 200)
    ids = np.arange(100, dtype=np.int32)
    together = RegressorScorer(random_regressor(), space).score(ids)
    one_by_one = RegressorScorer(random_regressor(), space)
    assert np.abs(together - np.concatenate([one_by_one.score(ids[k : k + 1]) for k in ids])).max() < CLOSE
    assert np.array_equal(together, RegressorScorer(random_regressor(), space).score(ids))
    assert one_by_one.score(ids[:0]).shape == (0,)


def test_graphs_of_many_states_are_flat_arrays_that_torch_takes_as_they_are() -> None:
    space = explored("coin_in_the_box/pl_7", 50)
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
    assert np.abs(RegressorScorer(model, space).score(ids) - plain_scores(model, space, ids)).max() < CLOSE


def test_goal_part_has_the_same_embeddings_in_every_state() -> None:
    space = explored("coin_in_the_box/pl_6", 100)
    regressor: Any = random_regressor().regressor
    goal_size = len(Encoder(space).goal.bits)
    ids = np.arange(100, dtype=np.int32)
    x, edge_index, edge_attr, graph, _ = plain_inputs(space, "hash", ids)
    nodes, edges = regressor.node_mlp(x), regressor.edge_mlp(edge_attr)
    starts = np.searchsorted(graph.numpy(), ids)
    for conv in regressor.convs:
        nodes = torch.relu(conv(nodes, edge_index, edges))
        goal = nodes[torch.from_numpy(starts[:, None] + np.arange(goal_size))]
        torch.testing.assert_close(goal, goal[:1].expand_as(goal), rtol=0, atol=1e-6)


def test_the_folded_head_computes_what_the_head_computes() -> None:
    regressor = random_regressor().regressor
    x = torch.randn(7, 128)
    expected = regressor.head(x)
    torch.testing.assert_close(folded(regressor).head(x), expected)
    assert torch.equal(regressor.head(x), expected), "the regressor itself stays as it was"


def test_new_worlds_are_embedded_when_they_appear() -> None:
    space = explored("coin_in_the_box/pl_7", 2)
    model = random_regressor()
    scorer = RegressorScorer(model, space)
    scorer.score(np.array([0], dtype=np.int32))
    for state in range(60):
        space.expand([state])
    ids = np.arange(len(space), dtype=np.int32)
    assert np.abs(scorer.score(ids) - plain_scores(model, space, ids)).max() < CLOSE
