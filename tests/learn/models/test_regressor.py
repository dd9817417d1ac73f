from __future__ import annotations

import numpy as np
import torch
from torch import Tensor
from torch_geometric.nn import GINEConv

from epigym.space import ragged
from epigym.space.rows import GoalPart, Rows
from learn.data.rows import Encoded
from learn.models.gine.batches import make_batch
from learn.models.gine.regressor import Regressor

WIDTH = 12


def random_states(seed: int, states: int, agents: int = 2) -> Encoded:
    """E-states with a goal part of 4 nodes; rows may be empty, and worlds may be in no row."""
    generator = np.random.default_rng(seed)
    worlds, rows = generator.integers(1, 6, states), generator.integers(1, 5, states)
    shapes = zip(worlds, rows, strict=True)
    sizes = [[int(generator.integers(0, count + 1)) for _ in range(number)] for count, number in shapes]
    return Encoded(
        GoalPart(
            bits=generator.integers(0, 2, (4, WIDTH), dtype=np.uint8),
            edges=np.array([[0, 1, 2, 2, 3], [1, 2, 2, 3, 2]]),
            labels=np.array([1, 7, 8, 7, 7]),
        ),
        identifiers=generator.integers(0, 2, (5, WIDTH), dtype=np.uint8),
        rows=Rows(
            world_ptr=ragged.pointers(worlds),
            label=generator.integers(0, 5, worlds.sum()),
            designated=np.concatenate([np.arange(count) < 1 + count // 3 for count in worlds]).astype(np.uint8),
            row_of=np.concatenate([generator.integers(0, n, (c, agents)) for c, n in zip(worlds, rows, strict=True)]),
            row_ptr=ragged.pointers(rows),
            successor_ptr=ragged.pointers(np.concatenate(sizes)),
            successor=np.concatenate(
                [
                    np.sort(generator.choice(count, size, replace=False))
                    for count, row_sizes in zip(worlds, sizes, strict=True)
                    for size in row_sizes
                ]
            ),
        ),
    )


def plain_inputs(states: Encoded, indices: np.ndarray) -> tuple[Tensor, ...]:
    batch = states.graphs(indices)
    graph = np.repeat(np.arange(len(indices)), np.diff(batch.node_ptr))
    return (
        torch.from_numpy(batch.nodes).float(),
        torch.from_numpy(batch.edge_index),
        torch.from_numpy(batch.edge_label)[:, None] / 255,
        torch.from_numpy(graph),
        torch.empty(len(indices)),
    )


def make_regressor() -> Regressor:
    torch.manual_seed(0)
    regressor = Regressor(WIDTH)
    for block in regressor.head[2:-1]:
        for layer in (block.inner[1], block.inner[5]):  # statistics as after training
            torch.nn.init.normal_(layer.running_mean, std=0.3)
            torch.nn.init.uniform_(layer.running_var, 0.5, 2)
    return regressor


def test_layers_are_those_of_the_paper() -> None:
    shapes = {name: tuple(value.shape) for name, value in Regressor().state_dict().items() if name.endswith("weight")}
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
    regressor = make_regressor().eval()
    graphs = random_states(1, 1)
    x, edge_index, edge_attr, graph, mask = plain_inputs(graphs, np.array([0]))
    nodes, edges = regressor.node_mlp(x), regressor.edge_mlp(edge_attr)
    for conv in regressor.convs:
        transformed = conv.lin(edges)
        rows = []
        for node in range(len(nodes)):
            total = nodes[node].clone()
            for edge in range(edge_index.shape[1]):
                if edge_index[1, edge] == node:
                    total += torch.relu(nodes[edge_index[0, edge]] + transformed[edge])
            rows.append(conv.nn(total))
        nodes = torch.relu(torch.stack(rows))
    expected = torch.sigmoid(regressor.head(nodes.mean(0, keepdim=True))).squeeze(-1).clamp(1e-3, 1 - 1e-3)
    torch.testing.assert_close(regressor(x, edge_index, edge_attr, graph, mask), expected)


def test_output_is_clamped() -> None:
    regressor = make_regressor().eval()
    inputs = plain_inputs(random_states(1, 1), np.array([0]))
    for bias, expected in ((-50.0, 1e-3), (50.0, 1 - 1e-3)):
        torch.nn.init.constant_(regressor.head[-1].bias, bias)
        torch.testing.assert_close(regressor(*inputs), torch.tensor([expected]))


def test_outputs_beyond_the_clamp_have_a_gradient_in_training() -> None:
    regressor = make_regressor().train()
    inputs = plain_inputs(random_states(1, 8), np.arange(8))
    torch.nn.init.constant_(regressor.head[-1].bias, -12.0)
    output = regressor(*inputs)
    assert output.max() < 1e-3
    output.sum().backward()
    assert regressor.head[-1].bias.grad.item() > 0


def test_outputs_start_at_a_given_value() -> None:
    regressor = make_regressor().eval()
    regressor.start_at(0.05)
    output = regressor(*plain_inputs(random_states(1, 8), np.arange(8)))
    torch.testing.assert_close(output, torch.full((8,), 0.05))


def test_index_add_aggregation_is_the_stock_sum() -> None:
    regressor = make_regressor().eval()
    x, edge_index, edge_attr, *_ = plain_inputs(random_states(2, 5), np.arange(5))
    nodes, edges = regressor.node_mlp(x), regressor.edge_mlp(edge_attr)
    conv = regressor.convs[0]
    stock = GINEConv(conv.nn, edge_dim=32)
    stock.load_state_dict(conv.state_dict())
    torch.testing.assert_close(conv(nodes, edge_index, edges), stock(nodes, edge_index, edges))


def test_shared_computation_gives_the_outputs_of_separate_graphs() -> None:
    regressor = make_regressor().eval()
    first, second = random_states(3, 20, agents=3), random_states(4, 10)
    rows, other = np.array([5, 0, 19, 7]), np.array([2, 9])
    batch = make_batch([(first, rows), (second, other)], np.concatenate([rows, other]), gradients=False)
    separate = [regressor(*plain_inputs(first, np.array([row]))) for row in rows]
    separate += [regressor(*plain_inputs(second, np.array([row]))) for row in other]
    torch.testing.assert_close(regressor.forward_shared(batch), torch.cat(separate), rtol=0, atol=1e-6)
    assert batch.distance.tolist() == [5, 0, 19, 7, 2, 9]


def test_shared_computation_gives_the_gradients_of_separate_graphs() -> None:
    regressor = make_regressor().eval()
    graphs, rows = random_states(5, 30), np.arange(30)
    shared = make_batch([(graphs, rows)], rows)
    gradients = []
    for output in (regressor.forward_shared(shared), regressor(*plain_inputs(graphs, rows))):
        regressor.zero_grad()
        output.square().sum().backward()
        gradients.append([parameter.grad.clone() for parameter in regressor.parameters()])
    for shared_gradient, plain_gradient in zip(*gradients, strict=True):
        torch.testing.assert_close(shared_gradient, plain_gradient, rtol=1e-3, atol=1e-6)
