"""The forward pass of the core agrees with PyTorch and refuses arrays that do not fit."""

import re
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from epigym import StateSpace, _core, load_problem
from epigym.encoding.relational import KINDS, RELATIONS, Relational, RelationalEncoder
from epigym.space.rows import GraphBatch
from epigym.space.space import as_ids
from tests.helpers.gine_weights import STATES, TYPES, random_weights
from tests.helpers.tasks import coin
from tests.oracles.gine import Network

TYPE_IDS = 100  # the network knows some of them


def random_graphs(rng: np.random.Generator, kinds: int = KINDS, relations: int = RELATIONS) -> GraphBatch:
    """Random graphs, among them one without nodes, one without edges, kinds without nodes, and repeated edges."""
    sizes, counts = np.array([5, 0, 3, 1, 40]), np.array([20, 0, 0, 2, 300])
    node_ptr, edge_ptr = (np.append(0, np.cumsum(lengths)) for lengths in (sizes, counts))
    ends = np.concatenate(
        [
            rng.integers(first, first + size, (2, count))
            for first, size, count in zip(node_ptr, sizes, counts, strict=False)
            if count
        ],
        axis=1,
    )
    state = rng.integers(0, STATES, sizes.sum())
    types = rng.integers(0, TYPE_IDS, (sizes.sum(), 3))
    nodes = np.concatenate([np.stack([rng.integers(0, kinds, sizes.sum()), state], axis=1), types], axis=1)
    return GraphBatch(nodes, ends, rng.integers(0, relations, counts.sum()), node_ptr, edge_ptr)


def random_index(rng: np.random.Generator) -> NDArray[np.int64]:
    """A random row for each type id, 0 for some of them."""
    return rng.integers(0, TYPES, TYPE_IDS) * rng.integers(0, 2, TYPE_IDS)


@pytest.mark.parametrize("layers", [1, 3])
@pytest.mark.parametrize("width", [1, 5, 8, 16, 24, 32, 40])
def test_random_graphs_have_the_values_of_pytorch(width: int, layers: int) -> None:
    rng = np.random.default_rng(width)
    for seed in range(3):
        weights, index, batch = random_weights(width, layers, seed=seed), random_index(rng), random_graphs(rng)
        network = Network(weights)
        found = _core.GineNetwork(weights, index).forward(*batch)
        assert found.dtype == np.float32
        np.testing.assert_allclose(found, network.of_nodes(batch, index), atol=1e-5)
        few = batch._replace(nodes=np.where(np.arange(5) < 2, batch.nodes, batch.nodes % TYPES))
        found = _core.GineNetwork(weights).forward(*few)
        np.testing.assert_allclose(found, network.of_nodes(few, np.arange(TYPES)), atol=1e-5)


@pytest.mark.parametrize(("kinds", "relations"), [(1, 1), (5, 256)])
def test_nodes_may_have_features_instead_of_states_and_types(kinds: int, relations: int) -> None:
    rng = np.random.default_rng(kinds)
    weights, batch = random_weights(16, 2, kinds, relations), random_graphs(rng, kinds, relations)
    network = Network(weights)
    state = {name: weight for name, weight in weights.items() if name not in ("states.weight", "types.weight")}
    features, kind = rng.normal(size=(len(batch.nodes), 16)).astype(np.float32), batch.nodes[:, 0].copy()
    found = _core.GineNetwork(state).forward_features(features, kind, *batch[1:])
    expected = network.of_features(torch.from_numpy(features), torch.from_numpy(kind), batch)
    np.testing.assert_allclose(found, expected, atol=1e-5)


@pytest.mark.parametrize("width", [16, 20, 32])
@pytest.mark.parametrize("problem", ["coin_in_the_box/pl_6", "grapevine/3_pl_4", "active_muddy_child/amc_09_05_muddy"])
def test_scores_are_the_values_of_the_graphs(problem: str, width: int) -> None:
    space = StateSpace(load_problem(problem))
    ids = as_ids(np.append(space.expand([0]).target[:20], 0))
    encoder = RelationalEncoder(space, Relational(type_ids=TYPE_IDS - 1))
    weights, index = random_weights(width, 3), random_index(np.random.default_rng(0))
    network, core = Network(weights), _core.GineNetwork(weights, index)
    batch = encoder.graphs(ids)
    found = core.score(encoder.core, ids)
    np.testing.assert_allclose(found, network.of_nodes(batch, index), atol=1e-5)
    assert np.array_equal(found, core.forward(*batch))
    assert np.array_equal(found, [core.score(encoder.core, ids[k : k + 1])[0] for k in range(len(ids))])
    assert len(core.score(encoder.core, ids[:0])) == len(core.forward(*encoder.graphs([]))) == 0


def test_unknown_ids_have_no_score() -> None:
    encoder = RelationalEncoder(StateSpace(coin()), Relational())
    core = _core.GineNetwork(random_weights(16, 1), np.zeros(65537, np.int64))
    with pytest.raises(IndexError):
        core.score(encoder.core, np.array([0, 99], np.int32))


@pytest.mark.parametrize(
    ("name", "shape", "expected"),
    [
        ("last.weight", (2, 16), "(1, any)"),
        ("last.weight", (1, 0), "(1, any)"),
        ("last.bias", (2,), "(1)"),
        ("head.0.weight", (16, 100), "(16, 96)"),
        ("head.0.weight", (16, 16), "(16, 32)"),
        ("head.0.bias", (16, 1), "(16)"),
        ("types.weight", (16,), "(any, 16)"),
        ("states.weight", (22, 15), "(any, 16)"),
        ("layers.0.norm.weight", (15,), "(16)"),
        ("layers.1.relations.weight", (3, 16), "(28, 16)"),
        ("layers.1.convolution.nn.0.bias", (), "(16)"),
        ("layers.1.convolution.nn.2.weight", (16, 8), "(16, 16)"),
    ],
)
def test_arrays_of_other_shapes_are_refused(name: str, shape: tuple[int, ...], expected: str) -> None:
    state = {**random_weights(16, 2), name: np.ones(shape, np.float32)}
    shown = f"({', '.join(map(str, shape))})"
    with pytest.raises(ValueError, match=re.escape(f"the array '{name}' has the shape {shown}, expected {expected}")):
        _core.GineNetwork(state)


@pytest.mark.parametrize(
    "name", ["layers.0.relations.weight", "layers.1.norm.bias", "head.0.bias", "last.weight", "last.bias"]
)
def test_arrays_that_are_missing_are_named(name: str) -> None:
    state = random_weights(16, 2)
    del state[name]
    with pytest.raises(ValueError, match=re.escape(f"the network has no array '{name}'")):
        _core.GineNetwork(state)


@pytest.mark.parametrize("row", [-1, TYPES])
def test_an_index_of_unknown_types_is_refused(row: int) -> None:
    with pytest.raises(ValueError, match=r"the array 'index' names rows that 'types\.weight' does not have"):
        _core.GineNetwork(random_weights(16, 1), np.array([0, row]))


@pytest.mark.parametrize(
    ("name", "place", "value"),
    [
        *(("nodes", (0, column), wrong) for column, end in enumerate((KINDS, STATES, TYPES)) for wrong in (-1, end)),
        *(("edge_index", (0, 0), wrong) for wrong in (-1, 5, 2**40)),
        *(("edge_label", 0, wrong) for wrong in (-1, RELATIONS)),
        *((name, place, wrong) for name in ("node_ptr", "edge_ptr") for place, wrong in ((0, 1), (1, -1), (-1, 99))),
    ],
)
def test_graphs_that_do_not_fit_are_refused(name: str, place: Any, value: int) -> None:
    rng = np.random.default_rng(0)
    batch = random_graphs(rng)
    batch = batch._replace(nodes=np.where(np.arange(5) < 2, batch.nodes, batch.nodes % TYPES))
    network = _core.GineNetwork(random_weights(16, 1))
    network.forward(*batch)
    getattr(batch, name)[place] = value
    with pytest.raises(ValueError, match=f"the array '{name}'"):
        network.forward(*batch)
    short = batch._replace(**{name: getattr(batch, name)[:1].copy()})
    with pytest.raises(ValueError, match="the array '"):
        network.forward(*short)


def test_features_that_do_not_fit_are_refused() -> None:
    batch = random_graphs(np.random.default_rng(0))
    network = _core.GineNetwork(random_weights(16, 1))
    features, kind = np.zeros((len(batch.nodes), 16), np.float32), batch.nodes[:, 0].copy()
    network.forward_features(features, kind, *batch[1:])
    with pytest.raises(ValueError, match="the array 'features'"):
        network.forward_features(features[:, :8].copy(), kind, *batch[1:])
    with pytest.raises(ValueError, match="the array 'kind'"):
        network.forward_features(features, kind[:-1].copy(), *batch[1:])
    with pytest.raises(ValueError, match="the array 'kind'"):
        network.forward_features(features, kind + KINDS, *batch[1:])
    bare = {name: weight for name, weight in random_weights(16, 1).items() if name != "states.weight"}
    with pytest.raises(ValueError, match="the array 'nodes' has states and types, but the network does not"):
        _core.GineNetwork(bare).forward(*batch)


@pytest.mark.parametrize(
    ("change", "name"),
    [({"kinds": 6}, "head.0.weight"), ({"relations": 27}, "layers.0.relations.weight"), ({}, "types.weight")],
)
def test_networks_of_other_graphs_have_no_scores(change: dict[str, int], name: str) -> None:
    encoder = RelationalEncoder(StateSpace(coin()), Relational())
    with pytest.raises(ValueError, match=f"the array '{name}' does not fit relational graphs"):
        _core.GineNetwork(random_weights(16, 1, **change)).score(encoder.core, np.zeros(1, np.int32))


def test_a_network_scores_on_one_thread_at_least() -> None:
    encoder, ids = RelationalEncoder(StateSpace(coin()), Relational(type_ids=TYPES - 1)), np.zeros(1, np.int32)
    scores = [_core.GineNetwork(random_weights(16, 1)).score(encoder.core, ids, threads) for threads in (0, 1)]
    assert np.array_equal(*scores)
