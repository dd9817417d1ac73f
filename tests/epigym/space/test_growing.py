from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from epigym.space.growing import GrowingTable


@given(st.lists(st.integers(0, 9), max_size=8))
def test_rows_stay_in_the_order_in_which_they_came(sizes: list[int]) -> None:
    table = GrowingTable(3, np.int32)
    parts = [np.arange(3 * size, dtype=np.int32).reshape(size, 3) + number for number, size in enumerate(sizes)]
    for part in parts:
        table.append(part)
    assert np.array_equal(table.rows, np.concatenate([np.empty((0, 3), np.int32), *parts]))
    assert table.rows.dtype == np.int32
    assert len(table) == sum(sizes)


def test_appending_copies_every_row_a_few_times_at_most() -> None:
    table = GrowingTable(1, np.int32)
    buffers = set()
    for _ in range(1000):
        table.append(np.zeros((1, 1), np.int32))
        buffers.add(table.rows.base.shape if table.rows.base is not None else None)
    assert len(buffers) <= 10
