"""The paper's network: its layers, its values in steps, and the shared computation of many e-states."""

from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest
import torch

from epigym import StateSpace, load_problem, to_pyg
from epigym.encoding.encoder import Encoder, list_identifiers
from epigym.errors import UsageError
from epigym.space import ragged
from epigym.space.rows import GoalPart, Rows, join_rows, unroll
from epigym.space.traversal import breadth_first
from learn.models.gine.paper import PaperNetwork
from learn.models.gine.shared import SharedGraphs, share
from tests.helpers.trained import PAPER, random_model

WIDTH = 12
ENCODING = {"name": "hash", "width": WIDTH}
MOST, MARGIN = 50, 1e-3
SLOPE = (1 - 2 * MARGIN) / MOST  # of the sigmoid's output over steps


class RandomStates:
    """What an encoder says of e-states with a goal part of 4 nodes; rows may be empty, and worlds in no row."""

    def __init__(self, seed: int, states: int, agents: int = 2) -> None:
        generator = np.random.default_rng(seed)
        self.goal = GoalPart(
            bits=generator.integers(0, 2, (4, WIDTH), dtype=np.uint8),
            edges=np.array([[0, 1, 2, 2, 3], [1, 2, 2, 3, 2]]),
            labels=np.array([1, 7, 8, 7, 7]),
        )
        self.identifiers = generator.integers(0, 2, (5, WIDTH), dtype=np.uint8)
        self._states = [self._state(generator, agents) for _ in range(states)]

    def _state(self, generator: np.random.Generator, agents: int) -> Rows:
        worlds, rows = generator.integers(1, 6), generator.integers(1, 5)
        sizes = generator.integers(0, worlds + 1, rows)
        return Rows(
            world_ptr=np.array([0, worlds]),
            label=generator.integers(0, 5, worlds).astype(np.int32),
            designated=(np.arange(worlds) < 1 + worlds // 3).astype(np.uint8),
            row_of=generator.integers(0, rows, (worlds, agents)).astype(np.int32),
            row_ptr=np.array([0, rows]),
            successor_ptr=ragged.pointers(sizes),
            successor=np.concatenate([np.sort(generator.choice(worlds, size, replace=False)) for size in sizes]).astype(
                np.int32
            ),
        )

    def rows(self, ids: Any) -> Rows:
        return join_rows([self._states[state] for state in ids])

    def data(self, ids: Any) -> Any:
        return to_pyg(unroll(self.rows(ids), self.identifiers, self.goal))


def share_parts(*parts: tuple[RandomStates, Any], gradients: bool = False) -> SharedGraphs:
    return share(cast(Any, parts), gradients=gradients)


def make_paper_network() -> Any:
    """In training mode, with batch statistics as after training."""
    torch.manual_seed(0)
    network: Any = PaperNetwork(ENCODING)
    for block in network.head[2:-1]:
        for layer in (block.inner[1], block.inner[5]):
            torch.nn.init.normal_(layer.running_mean, std=0.3)
            torch.nn.init.uniform_(layer.running_var, 0.5, 2)
    return network


def steps_of(output: torch.Tensor) -> torch.Tensor:
    return (output - MARGIN) / SLOPE


def test_layers_are_those_of_the_paper() -> None:
    shapes = {
        name: tuple(value.shape)
        for name, value in PaperNetwork({"name": "hash"}).state_dict().items()
        if name.endswith("weight")
    }
    expected = {
        "node_mlp.0.weight": (64, 64),
        "node_mlp.2.weight": (64, 64),
        "edge_mlp.0.weight": (32, 1),
        "edge_mlp.2.weight": (32, 32),
        "convs.0.nn.0.weight": (128, 64),
        "convs.0.nn.2.weight": (128, 128),
        "convs.0.lin.weight": (64, 32),
        "convs.1.nn.0.weight": (128, 128),
        "convs.1.nn.2.weight": (128, 128),
        "convs.1.lin.weight": (128, 32),
        "head.0.weight": (128, 128),
        "head.5.weight": (1, 128),
    }
    for block in (2, 3, 4):
        for layer, shape in ((0, (128, 128)), (1, (128,)), (4, (128, 128)), (5, (128,))):
            expected[f"head.{block}.inner.{layer}.weight"] = shape
    assert shapes == expected


def test_forward_is_algorithm_2_written_out() -> None:
    network = make_paper_network().eval()
    data = RandomStates(1, 1).data([0])
    nodes, edges = network.node_mlp(data.x), network.edge_mlp(data.edge_attr)
    for conv in network.convs:
        transformed = conv.lin(edges)
        rows = []
        for node in range(len(nodes)):
            total = nodes[node].clone()
            for edge in range(data.edge_index.shape[1]):
                if data.edge_index[1, edge] == node:
                    total += torch.relu(nodes[data.edge_index[0, edge]] + transformed[edge])
            rows.append(conv.nn(total))
        nodes = torch.relu(torch.stack(rows))
    expected = torch.sigmoid(network.head(nodes.mean(0, keepdim=True))).squeeze(-1).clamp(MARGIN, 1 - MARGIN)
    torch.testing.assert_close(network(data), steps_of(expected))


def test_values_are_steps() -> None:
    network = make_paper_network().eval()
    pooled = torch.randn(20, 128)
    expected = steps_of(torch.sigmoid(network.head(pooled)).squeeze(-1).clamp(MARGIN, 1 - MARGIN))
    torch.testing.assert_close(network.regress(pooled), expected)
    other: Any = PaperNetwork(ENCODING, max_distance=8, margin=0.1)
    assert (other.slope, other.margin) == (0.1, 0.1)
    for bias, steps in ((-50.0, 0.0), (50.0, 8.0), (0.0, 4.0)):
        other.eval().start_at(0)
        torch.nn.init.constant_(other.head[-1].bias, bias)
        torch.testing.assert_close(other.regress(torch.zeros(2, 128)), torch.tensor([steps] * 2))


def test_values_are_clamped_in_evaluation_only() -> None:
    data = RandomStates(1, 8).data(range(8))
    network = make_paper_network()
    torch.nn.init.constant_(network.head[-1].bias, -12.0)
    found = network.train()(data)
    assert found.max() < 0
    found.sum().backward()
    assert network.head[-1].bias.grad.item() > 0
    assert network.eval()(data).tolist() == [0] * 8
    torch.nn.init.constant_(network.head[-1].bias, 12.0)
    assert network.train()(data).min() > MOST
    torch.testing.assert_close(network.eval()(data), torch.full((8,), float(MOST)))


@pytest.mark.parametrize("steps", [0.5, 7.25, 49.0])
def test_values_start_at_a_given_number_of_steps(steps: float) -> None:
    network = make_paper_network().eval()
    network.start_at(steps)
    found = network(RandomStates(1, 8).data(range(8)))
    torch.testing.assert_close(found, torch.full((8,), steps), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"max_distance": 0}, "max_distance=0: expected at least 1"),
        ({"margin": 0.5}, "margin=0.5: expected less than 0.5"),
        ({"margin": -0.1}, "margin=-0.1: expected at least 0"),
        ({"margin": float("nan")}, "margin=nan: expected at least 0"),
    ],
)
def test_settings_that_make_no_map_are_refused(wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        PaperNetwork(ENCODING, **wrong)


def test_shared_computation_gives_the_values_of_separate_graphs() -> None:
    network = make_paper_network().eval()
    first, second = RandomStates(3, 20, agents=3), RandomStates(4, 10)
    rows, other = [5, 0, 19, 7], [2, 9]
    separate = [network(first.data([row])) for row in rows] + [network(second.data([row])) for row in other]
    graphs = share_parts((first, rows), (second, other))
    assert graphs.num_graphs == 6
    torch.testing.assert_close(network(graphs), torch.cat(separate), rtol=0, atol=1e-4)


def test_shared_computation_gives_the_gradients_of_separate_graphs() -> None:
    network = make_paper_network().eval()
    states = RandomStates(5, 30)
    gradients = []
    for data in (share_parts((states, range(30)), gradients=True), states.data(range(30))):
        network.zero_grad()
        (network(data) / MOST).square().sum().backward()
        gradients.append([parameter.grad.clone() for parameter in network.parameters()])
    assert any(gradient.abs().max() > 1e-3 for gradient in gradients[0])
    for shared_gradient, plain_gradient in zip(*gradients, strict=True):
        torch.testing.assert_close(shared_gradient, plain_gradient, rtol=1e-3, atol=1e-6)


def test_the_forward_pass_reads_what_an_export_has() -> None:
    network = make_paper_network().eval()
    data = RandomStates(6, 4).data(range(4))
    names = ("x", "edge_index", "edge_attr", "batch", "num_graphs")
    assert torch.equal(network(SimpleNamespace(**{name: getattr(data, name) for name in names})), network(data))


@pytest.fixture(scope="module")
def space() -> StateSpace:
    """All 225 e-states of a small problem."""
    space = StateSpace(load_problem("collaboration_communication/2_2_3_pl_6"))
    for _ in breadth_first(space):
        pass
    return space


@pytest.mark.parametrize("encoding", list_identifiers())
def test_shared_computation_is_the_plain_one_on_real_states(space: StateSpace, encoding: str) -> None:
    network = random_model(PAPER, encoding).network
    encoder, ids = Encoder(space, encoding), np.arange(0, 225, 3)
    found = network(share([(encoder, ids)], gradients=False))
    torch.testing.assert_close(found, network(to_pyg(encoder.graphs(ids))), rtol=0, atol=1e-4)
    assert found.std() > 1e-2


def test_shared_computation_on_real_states(space: StateSpace) -> None:
    encoder, ids = Encoder(space), np.arange(225)
    graphs = share([(encoder, ids)])
    assert len(graphs.states.layers[0].own.ptr) - 1 < space.world_counts(ids).sum()
    assert len(graphs.goals.bits) == len(encoder.goal.bits), "the goal part is computed once for all e-states"
    assert len({tuple(bits) for bits in graphs.identifiers.tolist()}) == len(graphs.identifiers)
    network = random_model(PAPER).network
    part = (Encoder(space), np.array([3, 50]))
    both, alone = network(share([part, part])), network(share([part]))
    torch.testing.assert_close(both, torch.cat([alone, alone]), rtol=0, atol=1e-4)
