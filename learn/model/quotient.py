"""The shared computation of a data set: everything that has to be computed once only.

Two nodes with equal identifiers have the same embedding before the first layer; two nodes with the same embedding
and the same multiset of incoming messages have the same embedding after a layer. So nodes fall into classes, layer by
layer, and one computation per class serves all graphs (the colour refinement of Weisfeiler and Leman, run for
as many rounds as the network has layers). This also computes the goal part once for all e-states of a problem. The
result is that of the plain network; only the order of summation differs.

Classes are told apart by 64-bit hashes of multisets.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from learn.data import ragged
from learn.data.bundles import bundle, distinct, mix, sums
from learn.data.graphs import Graphs

LABELS = 256
"""Edge labels are below this."""


@dataclass(frozen=True, slots=True)
class Layer:
    """The distinct computations of one layer, for nodes that fall into c classes before and d classes after it.

    Attributes:
        messages: int64[m], the distinct messages, as class of the sending node × 256 + edge label.
        group_ptr: int64[g + 1], where the messages of each distinct group (the sum over a bundle) start.
        groups: int64[t], messages.
        own: int64[d], class before the layer of the nodes in each class after it.
        inbox_ptr: int64[d + 1], where the groups that the nodes of each class receive start.
        inboxes: int64[s], groups.
    """

    messages: NDArray[np.int64]
    group_ptr: NDArray[np.int64]
    groups: NDArray[np.int64]
    own: NDArray[np.int64]
    inbox_ptr: NDArray[np.int64]
    inboxes: NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Quotient:
    """The graphs of k e-states as multisets of classes.

    Attributes:
        identifiers: uint8[u, width], the identifiers; their rows are the classes before the first layer.
        layers: one per layer of the network.
        graph_ptr: int64[k + 1], where the nodes of each e-state start in `nodes`.
        nodes: int64[N], class after the last layer of each node, those of the goal part included.
    """

    identifiers: NDArray[np.uint8]
    layers: tuple[Layer, ...]
    graph_ptr: NDArray[np.int64]
    nodes: NDArray[np.int64]

    def restrict(self, rows: NDArray[np.integer]) -> Quotient:
        """The part that the e-states in `rows` (int[r]) need, with all classes numbered anew."""
        graph_ptr, nodes = ragged.take(self.graph_ptr, self.nodes, rows)
        layers: list[Layer] = []
        wanted, nodes = _renumber(nodes, len(self.layers[-1].own))
        for index in reversed(range(len(self.layers))):
            before = len(self.layers[index - 1].own) if index else len(self.identifiers)
            layer, wanted = _restrict(self.layers[index], wanted, before)
            layers.insert(0, layer)
        return Quotient(self.identifiers[wanted], tuple(layers), graph_ptr, nodes)


def join(parts: Sequence[Quotient]) -> Quotient:
    """The e-states of several problems side by side."""
    layers = []
    sizes = [len(part.identifiers) for part in parts]
    for steps in zip(*(part.layers for part in parts), strict=True):
        layers.append(
            Layer(
                messages=_stack([step.messages for step in steps], [size * LABELS for size in sizes]),
                group_ptr=_stack_pointers([step.group_ptr for step in steps]),
                groups=_stack([step.groups for step in steps], [len(step.messages) for step in steps]),
                own=_stack([step.own for step in steps], sizes),
                inbox_ptr=_stack_pointers([step.inbox_ptr for step in steps]),
                inboxes=_stack([step.inboxes for step in steps], [len(step.group_ptr) - 1 for step in steps]),
            )
        )
        sizes = [len(step.own) for step in steps]
    return Quotient(
        identifiers=np.concatenate([part.identifiers for part in parts]),
        layers=tuple(layers),
        graph_ptr=_stack_pointers([part.graph_ptr for part in parts]),
        nodes=_stack([part.nodes for part in parts], sizes),
    )


def quotient(graphs: Graphs, layers: int = 2) -> Quotient:
    """The shared computation of some graphs under a network with so many layers."""
    goal_size = len(graphs.goal_bits)
    colours = np.concatenate([np.arange(goal_size), graphs.nodes.astype(np.int64) + goal_size])
    network = _Network.of(graphs)
    steps = []
    for _ in range(layers):
        layer, colours = _refine(colours, network)
        steps.append(layer)
    counts = ragged.lengths(graphs.node_ptr)
    return Quotient(
        identifiers=np.concatenate([graphs.goal_bits, graphs.identifiers]),
        layers=tuple(steps),
        graph_ptr=ragged.pointers(counts + goal_size),
        nodes=ragged.interleave(np.tile(colours[:goal_size], len(graphs)), colours[goal_size:], counts),
    )


@dataclass(frozen=True, slots=True)
class _Network:
    """All bundles of some graphs over one numbering of nodes: the goal part, then the worlds of every e-state.

    Attributes:
        labels: uint8[b], edge labels of the bundles.
        source_ptr: int64[b + 1], where the sources of each bundle start.
        sources: int64[s], nodes.
        inbox_ptr: int64[n + 1], where the bundles that lead to each node start.
        inboxes: int64[t], bundles.
    """

    labels: NDArray[np.uint8]
    source_ptr: NDArray[np.int64]
    sources: NDArray[np.int64]
    inbox_ptr: NDArray[np.int64]
    inboxes: NDArray[np.int64]

    @classmethod
    def of(cls, graphs: Graphs) -> _Network:
        goal_size = len(graphs.goal_bits)
        goal = bundle(graphs.goal_edges, graphs.goal_labels)
        source_counts = ragged.lengths(graphs.source_ptr)
        target_counts = ragged.lengths(graphs.target_ptr)
        first_world = np.repeat(graphs.node_ptr[:-1], ragged.lengths(graphs.bundle_ptr))

        def everywhere(nodes: NDArray[np.integer], counts: NDArray[np.int64]) -> NDArray[np.int64]:
            local = nodes.astype(np.int64)
            return local + np.where(local >= goal_size, np.repeat(first_world, counts), 0)

        targets = np.concatenate([goal.targets, everywhere(graphs.targets, target_counts)])
        target_counts = np.concatenate([ragged.lengths(goal.target_ptr), target_counts])
        bundles = np.repeat(np.arange(len(target_counts)), target_counts)
        return cls(
            labels=np.concatenate([goal.labels, graphs.labels]),
            source_ptr=ragged.pointers(np.concatenate([ragged.lengths(goal.source_ptr), source_counts])),
            sources=np.concatenate([goal.sources, everywhere(graphs.sources, source_counts)]),
            inbox_ptr=ragged.pointers(np.bincount(targets, minlength=goal_size + len(graphs.nodes))),
            inboxes=bundles[np.argsort(targets, kind="stable")],
        )


def _refine(colours: NDArray[np.int64], network: _Network) -> tuple[Layer, NDArray[np.int64]]:
    """One layer, and the classes of the nodes after it."""
    labels = np.repeat(network.labels, ragged.lengths(network.source_ptr))
    messages, message = np.unique(colours[network.sources] * LABELS + labels, return_inverse=True)
    first_bundle, group = distinct(sums(mix(message), network.source_ptr))
    members, member_counts = ragged.positions(network.source_ptr, first_bundle)
    inboxes = mix(sums(mix(group[network.inboxes]), network.inbox_ptr))
    first_node, refined = distinct(inboxes + mix(colours))
    received, received_counts = ragged.positions(network.inbox_ptr, first_node)
    layer = Layer(
        messages=messages,
        group_ptr=ragged.pointers(member_counts),
        groups=message[members],
        own=colours[first_node],
        inbox_ptr=ragged.pointers(received_counts),
        inboxes=group[network.inboxes[received]],
    )
    return layer, refined


def _restrict(layer: Layer, wanted: NDArray[np.int64], before: int) -> tuple[Layer, NDArray[np.int64]]:
    """The part of a layer that some classes after it need, and the classes before it that they need."""
    inbox_ptr, inboxes = ragged.take(layer.inbox_ptr, layer.inboxes, wanted)
    used_groups, inboxes = _renumber(inboxes, len(layer.group_ptr) - 1)
    group_ptr, groups = ragged.take(layer.group_ptr, layer.groups, used_groups)
    used_messages, groups = _renumber(groups, len(layer.messages))
    senders, labels = np.divmod(layer.messages[used_messages], LABELS)
    classes, numbers = _renumber(np.concatenate([senders, layer.own[wanted]]), before)
    senders, own = np.split(numbers, [len(senders)])
    return Layer(senders * LABELS + labels, group_ptr, groups, own, inbox_ptr, inboxes), classes


def _renumber(items: NDArray[np.int64], count: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Which of 0 … count - 1 occur, ascending, and the items with those numbered from 0."""
    occurs = np.zeros(count, dtype=np.bool_)
    occurs[items] = True
    used = np.flatnonzero(occurs)
    numbers = np.empty(count, dtype=np.int64)
    numbers[used] = np.arange(len(used))
    return used, numbers[items]


def _stack(arrays: Sequence[NDArray[np.int64]], sizes: Sequence[int]) -> NDArray[np.int64]:
    """The arrays end to end, each shifted by the sizes of those before."""
    offsets = np.cumsum([0, *sizes[:-1]])
    return np.concatenate([array + offset for array, offset in zip(arrays, offsets, strict=True)])


def _stack_pointers(ptrs: Sequence[NDArray[np.int64]]) -> NDArray[np.int64]:
    return ragged.pointers(np.concatenate([ragged.lengths(ptr) for ptr in ptrs]))
