from __future__ import annotations

import numpy as np
import torch

from learn.data.dataset import DataSet
from learn.model.batches import make_batch
from learn.model.quotient import join, quotient
from learn.model.regressor import Regressor
from learn.training.loaders import RolloutData


def plain_outputs(regressor: Regressor, data: DataSet, rows: np.ndarray) -> torch.Tensor:
    batch = data.samples.graphs.batch(rows)
    return regressor(
        torch.from_numpy(batch.node_bits).float(),
        torch.from_numpy(batch.edge_index),
        torch.from_numpy(batch.edge_label)[:, None] / 255,
        torch.from_numpy(np.repeat(np.arange(len(rows)), np.diff(batch.node_ptr))),
        torch.empty(len(rows)),
    )


def test_shared_computation_is_the_plain_one_on_real_states(small_set: DataSet) -> None:
    torch.manual_seed(1)
    regressor = Regressor().eval()
    rows = np.arange(0, 225, 3)
    whole = quotient(small_set.samples.graphs)
    shared = regressor.forward_shared(make_batch(whole.restrict(rows), small_set.samples.distance[rows]))
    torch.testing.assert_close(shared, plain_outputs(regressor, small_set, rows), rtol=0, atol=1e-6)


def test_classes_are_fewer_than_nodes(small_set: DataSet) -> None:
    whole = quotient(small_set.samples.graphs)
    assert len(whole.layers[0].own) < len(whole.nodes) / 2
    distinct = {tuple(row) for row in whole.identifiers.tolist()}
    assert len(distinct) == len(whole.identifiers)


def test_restricting_twice_is_restricting_once(small_set: DataSet) -> None:
    whole = quotient(small_set.samples.graphs)
    once = whole.restrict(np.array([30, 4, 99]))
    twice = whole.restrict(np.array([4, 200, 99, 30])).restrict(np.array([3, 0, 2]))
    assert np.array_equal(once.graph_ptr, twice.graph_ptr)
    torch.manual_seed(1)
    regressor = Regressor().eval()
    outputs = [regressor.forward_shared(make_batch(part, np.zeros(3))) for part in (once, twice)]
    torch.testing.assert_close(*outputs, rtol=0, atol=1e-6)


def test_joined_problems_do_not_touch(small_set: DataSet) -> None:
    torch.manual_seed(1)
    regressor = Regressor().eval()
    part = quotient(small_set.samples.graphs).restrict(np.array([3, 50]))
    both = regressor.forward_shared(make_batch(join([part, part]), np.zeros(4)))
    alone = regressor.forward_shared(make_batch(part, np.zeros(2)))
    torch.testing.assert_close(both, torch.cat([alone, alone]), rtol=0, atol=1e-6)


def test_loaders_cover_every_sample_once(small_set: DataSet) -> None:
    data = RolloutData([small_set], batch_size=16, max_class_share=1.0)
    distances = [batch.distance for loader in (data.train_dataloader(), data.val_dataloader()) for batch in loader]
    assert sorted(torch.cat(distances).tolist()) == sorted(small_set.samples.distance.tolist())
    assert max(map(len, distances)) == 16


def test_a_last_batch_of_one_sample_is_dropped(small_set: DataSet) -> None:
    data = RolloutData([small_set])
    count = len(data.train)
    for batch_size, sizes in ((count - 1, [count - 1]), (count - 2, [count - 2, 2])):
        data.batch_size = batch_size
        assert [len(batch.distance) for batch in data.train_dataloader()] == sizes
