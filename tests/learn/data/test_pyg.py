from __future__ import annotations

import numpy as np
import torch
from torch_geometric.loader import DataLoader

from learn.data.dataset import DataSet
from learn.data.pyg import PygDataSet
from learn.models.gine.batches import make_batch
from tests.helpers.trained import random_regressor


def test_graphs_work_with_the_loader_and_the_plain_network(small_set: DataSet) -> None:
    graphs = PygDataSet(small_set.folder)
    assert len(graphs) == 225
    batch = next(iter(DataLoader(graphs[:40], batch_size=40)))
    assert batch.y.tolist() == small_set.samples.distance[:40].tolist()
    regressor = random_regressor().regressor
    plain = regressor(batch.x, batch.edge_index, batch.edge_attr, batch.batch, torch.empty(40))
    parts = [(small_set.samples.encoded, np.arange(40))]
    shared = regressor.forward_shared(make_batch(parts, small_set.samples.distance[:40]))
    torch.testing.assert_close(plain, shared, rtol=0, atol=1e-6)
