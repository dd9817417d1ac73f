from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from learn.data.bundles import bundle, unbundle

Edge = tuple[int, int, int]


def test_an_equivalence_class_is_one_bundle() -> None:
    edges = np.array([[0, 0, 0, 1, 1, 1, 2, 2, 2], [0, 1, 2] * 3])
    found = bundle(edges, np.full(9, 3))
    assert found.labels.tolist() == [3]
    assert found.sources.tolist() == found.targets.tolist() == [0, 1, 2]


def test_labels_and_different_targets_keep_bundles_apart() -> None:
    edges, labels = np.array([[0, 1, 0, 1], [0, 0, 0, 1]]), np.array([3, 3, 4, 4])
    found = bundle(edges, labels)
    assert found.labels.tolist() == [3, 4, 4]
    assert np.split(found.sources, found.source_ptr[1:-1])[0].tolist() == [0, 1]


@given(st.sets(st.tuples(st.integers(3, 5), st.integers(0, 6), st.integers(0, 6)), min_size=1))
def test_bundles_hold_exactly_the_edges(found: set[Edge]) -> None:
    label, source, target = np.array(sorted(found)).T
    bundles = bundle(np.stack([source, target]), label)
    edges, labels = unbundle(bundles)
    assert sorted(zip(labels.tolist(), *edges.tolist(), strict=True)) == sorted(found)
    rows = {(row[0], row[1]): {edge[2] for edge in found if edge[:2] == row[:2]} for row in found}
    distinct_rows = {(row[0], frozenset(targets)) for row, targets in rows.items()}
    assert len(bundles.labels) == len(distinct_rows)
