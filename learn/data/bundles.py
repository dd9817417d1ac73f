"""Bundles: edges with one label that lead from each of some nodes to each of some nodes.

The relations of e-states are full of nodes that share their successors: an equivalence class of n worlds has n²
edges and is one bundle of n sources and n targets. Messages are summed once per bundle, not once per edge.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from learn.data import ragged


class Bundles(NamedTuple):
    """b bundles; an edge leads from every source to every target of its bundle, and no edge is in two bundles.

    Attributes:
        labels: uint8[b], edge labels.
        source_ptr: int64[b + 1], where the sources of each bundle start.
        sources: int[s], nodes.
        target_ptr: int64[b + 1], where the targets of each bundle start.
        targets: int[t], nodes.
    """

    labels: NDArray[np.uint8]
    source_ptr: NDArray[np.int64]
    sources: NDArray[np.integer]
    target_ptr: NDArray[np.int64]
    targets: NDArray[np.integer]


def bundle(edges: NDArray[np.integer], labels: NDArray[np.integer]) -> Bundles:
    """Bundle the edges of a graph, or of many graphs without common nodes.

    Args:
        edges: int[2, e], source and target; the edges of one source and label must stand together, as they do in
            the graphs of a state space.
        labels: int[e], edge labels.

    Returns:
        The bundles in the order of their first edges, sources in the order of the edges.
    """
    source, target = edges
    starts = np.flatnonzero(np.diff(source, prepend=-1) | np.diff(labels, prepend=-1))
    row_ptr = np.append(starts, len(labels))
    hashes = mix(sums(mix(target), row_ptr)) + labels[starts].astype(np.uint64)
    first, bundle_of_row = distinct(hashes)
    order = np.argsort(bundle_of_row, kind="stable")
    positions, counts = ragged.positions(row_ptr, first)
    return Bundles(
        labels=labels[starts[first]].astype(np.uint8),
        source_ptr=ragged.pointers(np.bincount(bundle_of_row, minlength=len(first))),
        sources=source[starts[order]].astype(np.int64),
        target_ptr=ragged.pointers(counts),
        targets=target[positions].astype(np.int64),
    )


def unbundle(bundles: Bundles) -> tuple[NDArray[np.int64], NDArray[np.uint8]]:
    """int64[2, e] and uint8[e]: the edges and their labels, bundle by bundle."""
    source_counts, target_counts = ragged.lengths(bundles.source_ptr), ragged.lengths(bundles.target_ptr)
    bundle_of_source = np.repeat(np.arange(len(bundles.labels)), source_counts)
    positions, counts = ragged.positions(bundles.target_ptr, bundle_of_source)
    edges = np.stack([np.repeat(bundles.sources, counts), bundles.targets[positions]])
    return edges, np.repeat(bundles.labels, source_counts * target_counts)


def mix(numbers: NDArray[np.integer]) -> NDArray[np.uint64]:
    """uint64[n]: the numbers, scattered over 64 bits (the finaliser of splitmix64)."""
    x = numbers.astype(np.uint64) + np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


def sums(numbers: NDArray[np.uint64], ptr: NDArray[np.int64]) -> NDArray[np.uint64]:
    """uint64[r]: the sum of every row of a flat ragged array, modulo 2^64."""
    total = np.zeros(len(numbers) + 1, dtype=np.uint64)
    np.cumsum(numbers, out=total[1:])
    return total[ptr[1:]] - total[ptr[:-1]]


def distinct(hashes: NDArray[np.uint64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Number equal hashes alike, in the order of their first occurrence.

    Returns:
        int64[d], where each distinct hash occurs first, ascending; int64[n], the number of every hash.
    """
    _, first, inverse = np.unique(hashes, return_index=True, return_inverse=True)
    order = np.argsort(first)
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    return first[order], rank[inverse]
