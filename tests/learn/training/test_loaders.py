from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from epigym.space import ragged
from learn.training.loaders import MIN_STRATUM, balance, split

labels = st.lists(st.integers(0, 6), min_size=1, max_size=80).map(lambda values: np.array(values, dtype=np.int32))
seeds = st.integers(0, 2**31)


@given(labels, seeds, st.floats(0.1, 1.0))
def test_balance_caps_classes_at_a_share_of_the_original_count(
    distance: NDArray[np.int32], seed: int, share: float
) -> None:
    kept = balance(distance, share, np.random.default_rng(seed))
    assert np.all(np.diff(kept) > 0)
    counts, original = np.bincount(distance[kept], minlength=7), np.bincount(distance, minlength=7)
    if np.count_nonzero(original) == 1:
        assert len(kept) == len(distance)
    else:
        limit = max(1, int(share * len(distance)))
        assert counts.tolist() == np.minimum(original, limit).tolist()


def test_balance_by_hand() -> None:
    distance = np.array([0] * 8 + [1] * 2)
    kept = balance(distance, 0.5, np.random.default_rng(0))
    assert np.bincount(distance[kept]).tolist() == [5, 2]


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


@pytest.mark.parametrize("share", [0.0, 1.0])
def test_balance_keeps_at_least_one_of_every_class(share: float) -> None:
    distance = np.array([0, 0, 0, 1, 2])
    assert set(distance[balance(distance, share, np.random.default_rng(0))]) == {0, 1, 2}
