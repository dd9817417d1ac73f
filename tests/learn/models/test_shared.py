from __future__ import annotations

import numpy as np
import torch

from learn.data.dataset import DataSet
from learn.models.gine.batches import make_batch
from learn.models.gine.regressor import Regressor
from learn.training.loaders import RolloutData


def plain_outputs(regressor: Regressor, data: DataSet, indices: np.ndarray) -> torch.Tensor:
    batch = data.samples.encoded.graphs(indices)
    return regressor(
        torch.from_numpy(batch.nodes).float(),
        torch.from_numpy(batch.edge_index),
        torch.from_numpy(batch.edge_label)[:, None] / 255,
        torch.from_numpy(np.repeat(np.arange(len(indices)), np.diff(batch.node_ptr))),
        torch.empty(len(indices)),
    )


def test_shared_computation_is_the_plain_one_on_real_states(small_set: DataSet) -> None:
    torch.manual_seed(1)
    regressor = Regressor().eval()
    indices = np.arange(0, 225, 3)
    batch = make_batch([(small_set.samples.encoded, indices)], small_set.samples.distance[indices])
    expected = plain_outputs(regressor, small_set, indices)
    torch.testing.assert_close(regressor.forward_shared(batch), expected, rtol=0, atol=1e-6)


def test_classes_are_fewer_than_worlds(small_set: DataSet) -> None:
    encoded = small_set.samples.encoded
    batch = make_batch([(encoded, np.arange(225))], small_set.samples.distance)
    assert len(batch.states.layers[0].own.ptr) - 1 < len(encoded.rows.label)
    assert len(batch.goals.bits) == len(encoded.goal.bits), "the goal part is computed once for all e-states"
    assert len({tuple(bits) for bits in batch.identifiers.tolist()}) == len(batch.identifiers)


def test_problems_of_one_batch_do_not_touch(small_set: DataSet) -> None:
    torch.manual_seed(1)
    regressor = Regressor().eval()
    part = (small_set.samples.encoded, np.array([3, 50]))
    both = regressor.forward_shared(make_batch([part, part], np.zeros(4, dtype=np.int32)))
    alone = regressor.forward_shared(make_batch([part], np.zeros(2, dtype=np.int32)))
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
