"""What is trained on: balanced and split samples, batches of them, and of pairs."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from domains import assembly_line
from epigym import EpigymError, load_problem
from epigym.encoding.encoder import make_encoding
from epigym.language import parse_mastar
from epigym.space import ragged
from learn.data.explorers import ExplorerSettings
from learn.data.making import make_rollout
from learn.data.rollout import Rollout
from learn.models.base import BaseHeuristic
from learn.train import Train
from learn.training.batches import (
    MIN_STRATUM,
    Batch,
    LabelledStates,
    PairRuns,
    StateSamples,
    balance,
    split,
    split_samples,
)
from learn.training.data_module import RolloutData
from tests.helpers.commands import compose
from tests.helpers.runs import PROBLEM

labels = st.lists(st.integers(0, 6), min_size=1, max_size=80).map(lambda values: np.array(values, dtype=np.int32))
seeds = st.integers(0, 2**31)


@given(labels, seeds, st.floats(0, 1))
def test_balance_caps_classes_at_a_share_of_the_count(distance: NDArray[np.int32], seed: int, share: float) -> None:
    kept = balance(distance, share, np.random.default_rng(seed))
    assert np.all(np.diff(kept) > 0)
    counts, original = np.bincount(distance[kept], minlength=7), np.bincount(distance, minlength=7)
    if np.count_nonzero(original) == 1:
        assert len(kept) == len(distance)
    else:
        limit = max(1, int(share * len(distance)))
        assert counts.tolist() == np.minimum(original, limit).tolist()


@given(labels, seeds)
def test_split_is_a_stratified_partition(distance: NDArray[np.int32], seed: int) -> None:
    train, validation = split(distance, 0.2, np.random.default_rng(seed))
    assert sorted([*train, *validation]) == list(range(len(distance)))
    for value, count in enumerate(np.bincount(distance)):
        held_out = np.count_nonzero(distance[validation] == value)
        assert held_out == (round(0.2 * count) if count >= MIN_STRATUM else 0)


def test_split_depends_on_the_seed_alone() -> None:
    distance = np.arange(100) % 3
    first, again, other = (split(distance, 0.2, np.random.default_rng(seed))[1].tolist() for seed in (1, 1, 2))
    assert first == again != other


@given(st.lists(st.integers(0, 5), min_size=1, max_size=10), st.data())
def test_ragged_positions_are_those_of_slices(lengths: list[int], data: st.DataObject) -> None:
    ptr = ragged.pointers(np.array(lengths))
    flat = np.arange(ptr[-1])
    rows = np.array(data.draw(st.lists(st.integers(0, len(lengths) - 1), max_size=6)), dtype=np.int64)
    found, counts = ragged.positions(ptr, rows)
    expected = [flat[ptr[row] : ptr[row + 1]].tolist() for row in rows]
    assert flat[found].tolist() == [value for part in expected for value in part]
    assert counts.tolist() == [len(part) for part in expected]


@pytest.fixture(scope="module")
def rollouts() -> list[Rollout]:
    """Two problems with all their e-states."""
    names = (PROBLEM, "collaboration_communication/2_2_3_pl_4")
    found = [make_rollout(load_problem(name), ExplorerSettings("exhaustive"), 1, "samples") for name in names]
    return [one for one in found if one is not None]


@pytest.fixture(scope="module")
def problems_with_pairs() -> list[Rollout]:
    """Two problems with pairs, more than in one run."""
    names = (PROBLEM, "collaboration_communication/2_2_3_pl_4")
    found = [
        make_rollout(load_problem(name), ExplorerSettings("exhaustive", max_kept=None, seed=1), 20) for name in names
    ]
    return [one for one in found if one is not None]


def states_of(problems: list[Rollout], *, shared: bool = False) -> LabelledStates:
    return LabelledStates(problems, make_encoding("hash"), "h_ff", shared=shared)


def data_of(train: PairRuns | StateSamples, validation: StateSamples | None, batch_size: int, seed: int) -> RolloutData:
    """The data of a training that has been opened."""
    settings = compose(Train, "train", f"batch_size={batch_size}", f"seed={seed}")
    data = RolloutData(settings, settings.source)
    data.train, data.validation = train, validation
    return data


def batches_of(data: RolloutData) -> list[Batch]:
    return list(data.train_dataloader())


@pytest.mark.parametrize("shared", [False, True])
def test_every_sample_is_in_one_batch_with_its_distance_and_base(rollouts: list[Rollout], shared: bool) -> None:
    train, validation = split_samples(states_of(rollouts, shared=shared), 1.0, 0.2, 3)
    data = data_of(train, validation, 16, 3)
    count = sum(len(one.ids) for one in rollouts)
    assert len(train) + len(validation) == count
    batches = [*batches_of(data), *data.val_dataloader()]
    distance = torch.cat([batch.distance for batch in batches])
    base = torch.cat([batch.base for batch in batches])
    assert all(batch.graphs.num_graphs == len(batch.base) <= 16 for batch in batches)
    expected = [
        (float(length), float(cost))
        for one in rollouts
        for length, cost in zip(one.distance, BaseHeuristic(one.space, "h_ff")(one.ids), strict=True)
    ]
    assert sorted(zip(distance.tolist(), base.tolist(), strict=True)) == sorted(expected)


def test_pairs_name_the_e_states_of_their_batch(problems_with_pairs: list[Rollout]) -> None:
    """Each pair is in one batch; what is better is nearer, and the weights of a batch are 1 together."""
    data = data_of(PairRuns(states_of(problems_with_pairs)), None, 128, 3)
    batches = batches_of(data)
    assert len(batches) > 1
    for batch in batches:
        assert len(batch.better) == len(batch.worse) == len(batch.weight) <= 128
        assert float(batch.weight.sum()) == pytest.approx(1)
        assert (batch.distance[batch.better] < batch.distance[batch.worse]).all()
        assert sorted({*batch.better.tolist(), *batch.worse.tolist()}) == list(range(batch.graphs.num_graphs))
    pairs = torch.cat([torch.stack([one.distance[one.better], one.distance[one.worse]]).T for one in batches])
    expected = np.concatenate([
        np.stack([known[one.better], known[one.worse]]).T
        for one, known in zip(problems_with_pairs, states_of(problems_with_pairs).distance, strict=True)
    ])  # fmt: skip
    assert sorted(map(tuple, pairs.tolist())) == sorted(map(tuple, expected.tolist()))


def test_runs_of_large_graphs_are_short() -> None:
    explorer = ExplorerSettings("exhaustive", max_visited=2000, max_kept=None, seed=0)
    pairs = make_rollout(parse_mastar(assembly_line.problem(parts=3)), explorer, 20)
    assert pairs is not None
    large, small = (
        PairRuns(LabelledStates([pairs], make_encoding(name), "none", shared=False)) for name in ("hash", "relational")
    )
    batches = [large[index] for index in range(len(large))]
    assert sum(len(batch.better) for batch in batches) == len(pairs.better)
    assert max(batch.graphs.num_edges for batch in batches) < 1_200_000 < sum(one.graphs.num_edges for one in batches)
    assert len(small) == -(-len(pairs.better) // 64)


def test_single_samples(rollouts: list[Rollout]) -> None:
    samples = StateSamples(states_of(rollouts), [np.arange(17), np.arange(0)], gradients=True)
    assert [len(batch.base) for batch in batches_of(data_of(samples, samples, 16, 0))] == [16]
    assert [len(batch.base) for batch in batches_of(data_of(samples, samples, 15, 0))] == [15, 2]
    one = replace(rollouts[0], ids=rollouts[0].ids[:1], distance=rollouts[0].distance[:1])
    with pytest.raises(EpigymError, match=r"^1 training samples are too few: at least 2 are needed$"):
        split_samples(states_of([one]), 1.0, 0.2, 0)


def test_the_order_depends_on_the_seed_alone(problems_with_pairs: list[Rollout]) -> None:
    def order(seed: int) -> list[float]:
        data = data_of(PairRuns(states_of(problems_with_pairs)), None, 64, seed)
        return [float(value) for batch in batches_of(data) for value in batch.weight]

    assert order(1) == order(1) != order(2)


@pytest.mark.parametrize("share_graphs", [False, True])
def test_a_batch_is_the_same_whichever_was_fetched_before(rollouts: list[Rollout], share_graphs: bool) -> None:
    """Bit by bit: the graphs of a training that is gone on with are made in another order."""
    late, early = (states_of(rollouts, shared=share_graphs) for _ in range(2))
    late.batch([(0, np.arange(200, 225))])
    late.batch([(1, np.arange(20))])
    parts = [(0, np.arange(30, 60)), (1, np.arange(10, 20))]
    first, second = late.batch(parts)["graphs"], early.batch(parts)["graphs"]
    if share_graphs:
        assert torch.equal(first.identifiers, second.identifiers)
        for one, other in zip(first.states.layers, second.states.layers, strict=True):
            assert torch.equal(one.sent.terms, other.sent.terms)
            assert torch.equal(one.received.terms, other.received.terms)
    else:
        assert torch.equal(first.x, second.x)
        assert torch.equal(first.edge_index, second.edge_index)


def test_problems_to_search_are_one_batch_of_numbers(problems_with_pairs: list[Rollout]) -> None:
    problems: Any = [object(), object(), object()]
    data = data_of(PairRuns(states_of(problems_with_pairs)), None, 64, 0)
    data.problems = problems
    (numbers,) = data.val_dataloader()
    assert numbers.tolist() == [0, 1, 2]


def test_few_samples_validate_on_those_to_train_on(rollouts: list[Rollout], caplog: pytest.LogCaptureFixture) -> None:
    few = replace(rollouts[0], ids=rollouts[0].ids[:4], distance=np.arange(4, dtype=np.int32))
    train, validation = split_samples(states_of([few]), 1.0, 0.2, 0)
    assert train.row.tolist() == validation.row.tolist() == [0, 1, 2, 3]
    assert "all distance classes have under 5 samples" in caplog.text
