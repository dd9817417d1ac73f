from pathlib import Path

import pytest
import torch
from torch_geometric.loader import DataLoader

from epigym.encoding.encoder import ENCODINGS, make_encoder, make_encoding
from epigym.encoding.pyg import to_pyg
from epigym.problem import load_problem
from learn.data.dataset import load_or_make
from learn.data.explorers import ExplorerSettings, explore
from learn.data.pyg import PygDataSet
from tests.helpers.runs import PROBLEM
from tests.helpers.trained import SMALL, random_trained


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_graphs_work_with_the_loader_and_the_network(encoding: str, tmp_path: Path) -> None:
    explorer = ExplorerSettings("exhaustive")
    data = load_or_make(load_problem(PROBLEM), explorer, {"name": encoding}, tmp_path)
    graphs = PygDataSet(data.folder)
    assert len(graphs) == 225
    batch = next(iter(DataLoader(graphs[:40], batch_size=40)))
    assert batch.y.tolist() == data.samples.distance[:40].tolist()
    exploration = explore(load_problem(PROBLEM), explorer)
    encoder = make_encoder(exploration.space, make_encoding(encoding), exploration.task.goal)
    expected = to_pyg(encoder.graphs(data.samples.state[:40]))
    network = random_trained(SMALL, encoding).network
    torch.testing.assert_close(network(batch), network(expected))
    assert len(set(network(batch).tolist())) > 1
