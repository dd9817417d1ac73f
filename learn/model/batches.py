"""Training batches: the part of the shared computation that some e-states need, as tensors."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from learn.data import ragged
from learn.model.quotient import LABELS, Layer, Quotient


class Sums(NamedTuple):
    """Which rows of one matrix are added up to the rows of another.

    Attributes:
        ptr: int64[r + 1], where the terms of each sum start.
        terms: int64[t], rows of the matrix that is summed.
        back_ptr: int64[n + 1], where the sums that each of its n rows goes into start.
        back: int64[t], sums.
    """

    ptr: Tensor
    terms: Tensor
    back_ptr: Tensor
    back: Tensor


class LayerBatch(NamedTuple):
    """One layer, from c node classes to d.

    Attributes:
        messages: rows of (embeddings of the c classes, then of all edge labels) summed to messages.
        groups: messages summed to groups.
        nodes: rows of (groups, then embeddings of the c classes) summed to the inputs of the d classes.
    """

    messages: Sums
    groups: Sums
    nodes: Sums


class Batch(NamedTuple):
    """k e-states, maybe of several problems.

    Attributes:
        identifiers: uint8[u, width], distinct identifiers as 0/1 bits: the node classes before the first layer.
        layers: the layers.
        graphs: node classes after the last layer summed to e-states.
        sizes: float32[k], number of nodes of each graph.
        distance: float32[k], steps to the nearest goal.
    """

    identifiers: Tensor
    layers: tuple[LayerBatch, ...]
    graphs: Sums
    sizes: Tensor
    distance: Tensor


def make_batch(states: Quotient, distance: NDArray[np.integer]) -> Batch:
    """The tensors of k e-states with their distances, int[k]."""
    classes = len(states.identifiers)
    layers = []
    for layer in states.layers:
        layers.append(_layer(layer, classes))
        classes = len(layer.own)
    return Batch(
        identifiers=torch.from_numpy(states.identifiers),
        layers=tuple(layers),
        graphs=_sums(states.graph_ptr, states.nodes, classes),
        sizes=torch.from_numpy(ragged.lengths(states.graph_ptr).astype(np.float32)),
        distance=torch.from_numpy(distance.astype(np.float32)),
    )


def _layer(layer: Layer, classes: int) -> LayerBatch:
    senders, labels = np.divmod(layer.messages, LABELS)
    group_count = len(layer.group_ptr) - 1
    inbox_counts = ragged.lengths(layer.inbox_ptr)
    return LayerBatch(
        messages=_sums(
            2 * np.arange(len(layer.messages) + 1),
            np.stack([senders, labels + classes], axis=1).ravel(),
            classes + LABELS,
        ),
        groups=_sums(layer.group_ptr, layer.groups, len(layer.messages)),
        nodes=_sums(
            ragged.pointers(inbox_counts + 1),
            ragged.interleave(layer.own + group_count, layer.inboxes, inbox_counts),
            group_count + classes,
        ),
    )


def _sums(ptr: NDArray[np.int64], terms: NDArray[np.int64], rows: int) -> Sums:
    """The sums with their transposition; `rows` is the number of rows of the matrix that is summed."""
    keys = terms.astype(np.uint16) if rows <= 1 << 16 else terms  # numpy sorts 16 bits in linear time
    back = np.repeat(np.arange(len(ptr) - 1), ragged.lengths(ptr))[np.argsort(keys, kind="stable")]
    back_ptr = ragged.pointers(np.bincount(terms, minlength=rows))
    return Sums(*(torch.from_numpy(array) for array in (ptr, terms, back_ptr, back)))
