"""The graph network: its value written out, what it does not depend on, and what it starts with."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

from epigym import StateSpace, Task, load_problem, to_pyg
from epigym.encoding.encoder import ENCODINGS, make_encoder, make_encoding
from epigym.encoding.identifiers import NODE_TYPES
from epigym.encoding.relational import KINDS, MAX_WORLDS, Relational, type_ids_of
from epigym.errors import UsageError
from epigym.features.types import FeatureTypes
from epigym.space.rows import GraphBatch
from learn.models.gine.model import NetworkModel
from learn.models.gine.network import GineNetwork, make_network
from learn.models.gine.scorer import NetworkScorer
from tests.helpers import strategies
from tests.helpers.structures import add_structure, walk_by_other_names
from tests.helpers.tasks import coin, counter
from tests.helpers.trained import SMALL, bind, random_model

CLOSE = 1e-4


def types_of(*tasks: Task) -> list[int]:
    return type_ids_of(map(FeatureTypes, tasks), Relational())


def random_network(encoding: str, types: list[int] | None = None) -> nn.Module:
    chosen = types_of(coin()) if types is None and encoding == "relational" else types or []
    return random_model(SMALL, encoding, types=chosen).network


def graphs_of(task: Task, encoding: str) -> GraphBatch:
    """Those of the initial e-state and its successors."""
    space = StateSpace(task)
    ids = np.unique(np.append(space.expand([0]).target, 0))
    return make_encoder(space, make_encoding(encoding)).graphs(ids)


def arrays_of(module: nn.Module) -> list[np.ndarray]:
    return [parameter.numpy() for parameter in module.parameters()]


def perceptron(x: np.ndarray, module: nn.Module) -> np.ndarray:
    """Linear, ReLU, Linear."""
    weight, bias, last_weight, last_bias = arrays_of(module)
    return np.maximum(x @ weight.T + bias, 0) @ last_weight.T + last_bias


def evaluate_by_loops(network: Any, data: Any) -> list[float]:
    """The values of graphs by loops over nodes and edges."""
    x = data.x.numpy()
    if isinstance(network.nodes, nn.Sequential):
        x = perceptron(x, network.nodes)
    else:
        states, types = network.nodes.states.weight.numpy(), network.nodes.types.weight.numpy()
        place = network.nodes.place.numpy()
        x = np.array([states[row[1]] + sum(types[place[one]] for one in row[2:]) for row in x])
    for layer in network.layers:
        if isinstance(layer.edges, nn.Sequential):
            edges = perceptron(data.edge_attr.numpy(), layer.edges)
        else:
            edges = layer.edges.weight.numpy()[data.edge_attr.numpy()[:, 0]]
        heard = x.copy()
        for edge, (source, target) in enumerate(data.edge_index.numpy().T):
            heard[target] += np.maximum(x[source] + edges[edge], 0)
        x = x + perceptron(heard, layer.convolution.nn)
        x = (x - x.mean(axis=1, keepdims=True)) / np.sqrt(x.var(axis=1, keepdims=True) + 1e-5)
        x = x * layer.norm.weight.numpy() + layer.norm.bias.numpy()
    values = []
    for graph in range(data.num_graphs):
        pooled = []
        for take in (np.mean, np.max):
            for kind in range(network.node_types):
                rows = x[(data.batch.numpy() == graph) & (data.node_type.numpy() == kind)]
                pooled.append(take(rows, axis=0) if len(rows) else np.zeros(x.shape[1]))
        # Mean and maximum of a type stand beside each other.
        types = network.node_types
        ordered = np.concatenate([part for kind in range(types) for part in (pooled[kind], pooled[types + kind])])
        weight, bias, last_weight, last_bias = (*arrays_of(network.head), *arrays_of(network.last))
        of_types = np.maximum(ordered @ weight.T + bias, 0) @ last_weight.T + last_bias
        own = data.batch.numpy() == graph
        weight, bias = arrays_of(network.each)
        kinds = data.node_type.numpy()[own]
        of_nodes = (x[own] @ weight.T + bias)[np.arange(own.sum()), kinds]
        is_world = np.isin(kinds, np.flatnonzero(network.is_counted.numpy() == 0))
        values.append(of_types.item() + of_nodes[~is_world].sum())
    return values


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_values_are_the_definition_written_out(encoding: str) -> None:
    network, data = random_network(encoding), to_pyg(graphs_of(coin(), encoding))
    found = network(data)
    assert found.shape == (data.num_graphs,)
    np.testing.assert_allclose(found, evaluate_by_loops(network, data), atol=CLOSE)
    assert found.abs().min() > 100 * CLOSE


@pytest.mark.parametrize("encoding", ENCODINGS)
@settings(max_examples=10)
@given(seed=st.integers(0, 2**32 - 1))
def test_the_order_of_nodes_and_edges_does_not_matter(encoding: str, seed: int) -> None:
    network, data = random_network(encoding), to_pyg(graphs_of(coin(), encoding))
    generator = torch.Generator().manual_seed(seed)
    nodes, edges = (torch.randperm(count, generator=generator) for count in (len(data.x), len(data.edge_attr)))
    place = torch.empty_like(nodes)
    place[nodes] = torch.arange(len(nodes))
    mixed = SimpleNamespace(
        x=data.x[nodes],
        node_type=data.node_type[nodes],
        batch=data.batch[nodes],
        edge_index=place[data.edge_index[:, edges]],
        edge_attr=data.edge_attr[edges],
        num_graphs=data.num_graphs,
    )
    torch.testing.assert_close(network(mixed), network(data), rtol=0, atol=CLOSE)


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_graphs_of_several_tasks_have_the_values_of_each(encoding: str) -> None:
    tasks = [coin(), counter(), load_problem("grapevine/3_pl_4")]
    network = random_network(encoding, types_of(*tasks) if encoding == "relational" else None)
    batches = [graphs_of(task, encoding) for task in tasks]
    single = [network(to_pyg(one.take(np.array([index])))) for one in batches for index in range(len(one.node_ptr) - 1)]
    together = network(to_pyg(batches))
    torch.testing.assert_close(together, torch.cat(single), rtol=0, atol=CLOSE)
    assert len({round(value, 3) for value in together.tolist()}) > len(tasks)


def check_alike(task: Task, seed: int) -> None:
    """The same walk by other names meets e-states with the same scores, one by one or together.

    Where worlds are left out the order of fluents decides which.
    """
    spaces, states = walk_by_other_names(task, seed)
    whole = spaces[0].world_counts(states[0]) <= MAX_WORLDS
    first, second = (np.array(own)[whole] for own in states)
    model = random_model(SMALL, "relational", types=types_of(task), base="h_add")
    one, two = (
        bind(NetworkScorer, model, space).score(ids) for space, ids in zip(spaces, (first, second), strict=True)
    )
    np.testing.assert_allclose(one, two, atol=CLOSE, rtol=1e-5)
    scorer = bind(NetworkScorer, model, spaces[0])
    alone = [scorer.score(first[k : k + 1])[0] for k in range(len(first))]
    np.testing.assert_allclose(alone, one, atol=CLOSE, rtol=1e-5)


@settings(max_examples=30)
@given(strategies.tasks() | strategies.tasks(agents=("c", "a", "b"), max_designated=4), st.integers(0, 2**32 - 1))
def test_names_do_not_matter_in_random_tasks(task: Task, seed: int) -> None:
    check_alike(task, seed)
    check_alike(add_structure(task, seed), seed)


@pytest.mark.parametrize(
    "problem", ["coin_in_the_box/pl_6", "grapevine/3_pl_4", "blocks_world", "consecutive_numbers", "search_and_rescue"]
)
def test_names_do_not_matter_in_problems_of_the_domains(problem: str) -> None:
    check_alike(load_problem(problem), 0)


def test_unknown_types_add_nothing() -> None:
    known = types_of(coin())
    data = to_pyg(graphs_of(coin(), "relational"))
    nothing = data.clone()
    nothing.x[:, 2:] = 0
    network: Any = random_network("relational", known)
    assert not torch.equal(network(data), network(nothing))
    assert torch.equal(random_network("relational", [])(data), random_network("relational", [])(nothing))
    few: Any = random_network("relational", known[:2])
    some = data.clone()
    some.x[:, 2:] *= torch.isin(some.x[:, 2:], torch.tensor(known[:2]))
    assert torch.equal(few(data), few(some))
    assert not torch.equal(few(some), few(nothing))


def test_types_are_dropped_in_training_only() -> None:
    types, data = types_of(coin()), to_pyg(graphs_of(coin(), "relational"))
    unknown = data.clone()
    unknown.x[:, 2:] = 0
    network = random_network("relational", types)
    dropping = make_network(SMALL | {"type_dropout": 1.0}, {"name": "relational"}, types)
    dropping.load_state_dict(network.state_dict())
    with torch.no_grad():
        assert torch.equal(dropping.eval()(data), network(data))
        assert torch.equal(dropping.train()(data), network(unknown))
        assert not torch.equal(network(data), network(unknown))
        assert torch.equal(network.train()(data), network.eval()(data)), "the default drops none"


def test_a_share_of_the_types_is_dropped_anew_in_each_step() -> None:
    types = list(range(1, 41))
    network: Any = GineNetwork({"name": "relational"}, types, **SMALL, type_dropout=0.3).train()
    x = torch.tensor([[0, 0, one, 0] for one in types])
    torch.manual_seed(0)
    without = network.nodes.states.weight[0]
    steps = [[torch.equal(row, without) for row in network.nodes(x)] for _ in range(50)]
    assert 0.2 < np.mean(steps) < 0.4
    assert len(set(map(tuple, steps))) > 40


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_an_untrained_network_adds_nothing(encoding: str) -> None:
    data = to_pyg(graphs_of(coin(), encoding))
    network = GineNetwork({"name": encoding}, types_of(coin()) if encoding == "relational" else ())
    with torch.no_grad():
        assert network(data).tolist() == [0] * data.num_graphs
        network.start_at(2.5)
        assert network(data).tolist() == [2.5] * data.num_graphs


def test_mean_and_maximum_of_each_type_and_zero_where_there_is_none() -> None:
    network: Any = GineNetwork({"name": "hash"}, width=2, layers=0)
    x = torch.tensor([[-1.0, 2], [-3, 4], [5, -6], [-7, -8]])
    data = SimpleNamespace(batch=torch.tensor([0, 0, 0, 1]), node_type=torch.tensor([3, 3, 0, 4]), num_graphs=2)
    data.x, none, pooled = x, [0.0] * 4, []
    network.nodes = nn.Identity()
    network.head.register_forward_pre_hook(lambda head, inputs: pooled.append(inputs[0]))
    network(data)
    assert pooled[0].tolist() == [
        [*(5, -6, 5, -6), *none, *none, *(-2, 3, -1, 4), *none],
        [*none, *none, *none, *none, *(-7, -8, -7, -8)],
    ]


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_a_network_pools_the_node_types_of_its_encoding(encoding: str) -> None:
    expected = KINDS if encoding == "relational" else len(NODE_TYPES)
    network: Any = GineNetwork({"name": encoding})
    assert network.node_types == make_encoding(encoding).node_types == expected
    assert network.head[0].in_features == 2 * expected * 16


def test_sizes_and_empty_batches() -> None:
    network: Any = GineNetwork({"name": "hash", "width": 20}, width=6, layers=4)
    assert (network.nodes[0].in_features, len(network.layers), network.last.in_features) == (20, 4, 6)
    typed: Any = GineNetwork({"name": "relational", "type_ids": 50}, [3, 50])
    assert typed.nodes.place.tolist() == [*(0, 0, 0, 1), *[0] * 46, 2]
    model: NetworkModel = random_model(SMALL, "relational")
    assert bind(NetworkScorer, model, StateSpace(coin())).score(np.empty(0, dtype=np.int32)).shape == (0,)


class Own(nn.Module):
    """A network of a user that takes what it has parameters for."""

    def __init__(self, types: tuple[int, ...], width: int = 3, size: int = 5) -> None:
        super().__init__()
        self.given = (types, width, size)


def test_another_class_gets_what_it_has_parameters_for() -> None:
    target = {"_target_": f"{__name__}.Own"}
    made: Any = make_network(target | {"width": 7, "layers": 2, "type_dropout": 0.5}, {"name": "hash"}, [4])
    assert made.given == ((4,), 7, 5)
    made = make_network(target | {"size": 1}, {"name": "hash"}, [])
    assert made.given == ((), 3, 1)
    with pytest.raises(UsageError, match="depth"):
        make_network(target | {"depth": 1}, {"name": "hash"}, [])
    for wrong in ("pathlib.Path", "os.mkdir", "torch.nn.functional.relu"):
        with pytest.raises(UsageError, match=rf"_target_={wrong}: .* derives from torch\.nn\.Module"):
            make_network({"_target_": wrong}, {"name": "hash"}, [])
