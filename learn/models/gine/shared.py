"""Shared computation for many e-states: a network evaluates equal worlds once.

Worlds with equal identifiers have the same embedding before the first layer. Worlds with the same embedding, both or
neither designated, and the same multiset of incoming messages have the same embedding after a layer. So worlds fall
into classes, layer by layer, and one computation per class serves all e-states (Weisfeiler–Leman colour refinement with
one iteration per layer). No edge leads from a world to the goal part, so the goal part is computed once per goal. The
result equals that of the plain network up to the order of summation.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from epigym.encoding.encoder import Encoder
from epigym.space import ragged
from epigym.space.rows import GoalPart, Rows, goal_parts, join_rows, refine


class Sums(NamedTuple):
    """Sums of rows of a matrix, as sparse indices, with their transposition for gradients.

    Attributes:
        ptr: int64[r + 1], start of the terms of each of r sums.
        terms: int64[t], rows of the matrix.
        back_ptr: int64[n + 1], start of the sums that contain each of the matrix's n rows; empty without gradients.
        back: int64[t], these sums; empty without gradients.
    """

    ptr: Tensor
    terms: Tensor
    back_ptr: Tensor
    back: Tensor


class Layer(NamedTuple):
    """One layer, from c classes of worlds to d.

    Attributes:
        sent: sums of messages, numbered class × agents + agent, over the worlds of each kind of successor class.
        received: sums of these over the messages that each of the d classes receives.
        own: the previous class of each of the d classes, as sums with one term.
        designated: int64[e], the classes of designated worlds.
        goal: int64[e], the goal part of each of them.
    """

    sent: Sums
    received: Sums
    own: Sums
    designated: Tensor
    goal: Tensor


class States(NamedTuple):
    """k e-states as sums over classes of worlds.

    Attributes:
        layers: one for each layer of the network.
        pooled: sums of classes after the last layer over the worlds of each e-state.
        worlds: float32[k], number of worlds of each e-state.
        goal: int64[k], the goal part of each e-state.
    """

    layers: tuple[Layer, ...]
    pooled: Sums
    worlds: Tensor
    goal: Tensor


class GoalTensors(NamedTuple):
    """The concatenated goal parts of p problems.

    Attributes:
        bits: float32[n, width], identifiers of the nodes.
        edges: int64[2, q], source and target of every edge.
        labels: int64[q], their labels.
        ptr: int64[p + 1], start of the nodes of each goal part; the first node is epsilon.
    """

    bits: Tensor
    edges: Tensor
    labels: Tensor
    ptr: Tensor


class SharedGraphs(NamedTuple):
    """The graphs of k e-states of one or several problems, as one computation.

    Attributes:
        identifiers: uint8[u, width], distinct identifiers as 0/1 bits: the classes of worlds before the first layer.
        agents: maximum number of agents of a problem.
        goals: the goal parts of the problems.
        states: the e-states.
    """

    identifiers: Tensor
    agents: int
    goals: GoalTensors
    states: States

    @property
    def num_graphs(self) -> int:
        """The number k of e-states."""
        return len(self.states.goal)


def share(
    parts: Sequence[tuple[Encoder, NDArray[np.integer]]], *, layers: int = 2, gradients: bool = True
) -> SharedGraphs:
    """Make the shared computation of the graphs of some e-states.

    Args:
        parts: encoders, each with the ids of its e-states, int[r].
        layers: number of layers of the network.
        gradients: whether to prepare gradients.
    """
    taken = [encoder.rows(ids) for encoder, ids in parts]
    identifiers, classes, known = [], [], 0
    for (encoder, _), rows in zip(parts, taken, strict=True):
        used, numbers = _renumber(rows.label, len(encoder.identifiers))
        identifiers.append(encoder.identifiers[used])
        classes.append(numbers + known)
        known += len(used)
    goal = np.repeat(np.arange(len(parts)), [len(ids) for _, ids in parts])
    rows = join_rows(taken)
    return SharedGraphs(
        identifiers=torch.from_numpy(np.concatenate(identifiers)),
        agents=rows.row_of.shape[1],
        goals=make_goals([encoder.goal for encoder, _ in parts]),
        states=make_states(rows, np.concatenate(classes), goal, layers=layers, gradients=gradients),
    )


def _renumber(items: NDArray[np.integer], count: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The numbers from 0 to count - 1 that occur in items, ascending, and the items renumbered by their position."""
    occurs = np.zeros(count, dtype=np.bool_)
    occurs[items] = True
    used = np.flatnonzero(occurs)
    numbers = np.empty(count, dtype=np.int64)
    numbers[used] = np.arange(len(used))
    return used, numbers[items]


def make_goals(parts: Sequence[GoalPart]) -> GoalTensors:
    """Concatenate goal parts into tensors."""
    bits, edges, labels, ptr, _ = map(torch.from_numpy, goal_parts(parts))
    return GoalTensors(bits.float(), edges, labels, ptr)


def make_states(
    rows: Rows, classes: NDArray[np.int64], goal: NDArray[np.int64], *, layers: int, gradients: bool
) -> States:
    """Make the shared computation of k e-states with n worlds.

    Args:
        rows: the e-states.
        classes: int64[n], numbered without gaps; two worlds have equal classes iff their identifiers and the goal parts
            of their e-states are equal.
        goal: int64[k], the goal part of each e-state.
        layers: number of layers of the network.
        gradients: whether to compute the transposition of every sum, for gradients.
    """
    counts = ragged.lengths(rows.world_ptr)
    agents = rows.row_of.shape[1]
    goal_of = np.empty(int(classes.max(initial=-1)) + 1, dtype=np.int64)
    goal_of[classes] = np.repeat(goal, counts)
    steps = []
    for _ in range(layers):
        found = refine(rows, classes)
        before, goal_of = len(goal_of), goal_of[found.own]
        steps.append(
            Layer(
                sent=_sums(found.sent_ptr, found.sent, before * agents, gradients),
                received=_sums(found.received_ptr, found.received, len(found.sent_ptr) - 1, gradients),
                own=_sums(np.arange(len(found.own) + 1), found.own, before, gradients),
                designated=torch.from_numpy(found.designated),
                goal=torch.from_numpy(goal_of[found.designated]),
            )
        )
        classes = found.colours
    return States(
        layers=tuple(steps),
        pooled=_sums(rows.world_ptr, classes, len(goal_of), gradients),
        worlds=torch.from_numpy(counts.astype(np.float32)),
        goal=torch.from_numpy(goal),
    )


_NOTHING = torch.empty(0, dtype=torch.int64)


def _sums(ptr: NDArray[np.int64], terms: NDArray[np.int64], rows: int, gradients: bool) -> Sums:
    """Make sums over a matrix with `rows` rows, with their transposition if `gradients`."""
    if not gradients:
        return Sums(torch.from_numpy(ptr), torch.from_numpy(terms), _NOTHING, _NOTHING)
    keys = terms.astype(np.uint16) if rows <= 1 << 16 else terms  # numpy sorts 16 bits in linear time
    back = np.repeat(np.arange(len(ptr) - 1), ragged.lengths(ptr))[np.argsort(keys, kind="stable")]
    back_ptr = ragged.pointers(np.bincount(terms, minlength=rows))
    return Sums(*(torch.from_numpy(array) for array in (ptr, terms, back_ptr, back)))
