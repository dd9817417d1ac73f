"""Training batches: some e-states of some problems, as tensors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from learn.data.rows import Encoded, join
from learn.models.gine.shared import Goals, States, make_goals, make_states


class Batch(NamedTuple):
    """k e-states, maybe of several problems.

    Attributes:
        identifiers: uint8[u, width], distinct identifiers as 0/1 bits: the classes of worlds before the first layer.
        agents: most agents of a problem.
        goals: the goal parts of the problems.
        states: the e-states.
        distance: float32[k], steps to the nearest goal.
    """

    identifiers: Tensor
    agents: int
    goals: Goals
    states: States
    distance: Tensor


def make_batch(
    parts: Sequence[tuple[Encoded, NDArray[np.integer]]],
    distance: NDArray[np.integer],
    *,
    layers: int = 2,
    gradients: bool = True,
) -> Batch:
    """The tensors of some e-states with their distances.

    Args:
        parts: encoded problems, each with the indices of its e-states, int[r].
        distance: int[k], of all e-states, problem by problem.
        layers: of the network.
        gradients: whether gradients are to flow back.
    """
    taken = [encoded.take(indices) for encoded, indices in parts]
    identifiers, classes, known = [], [], 0
    for (encoded, _), rows in zip(parts, taken, strict=True):
        used, numbers = _renumber(rows.label, len(encoded.identifiers))
        identifiers.append(encoded.identifiers[used])
        classes.append(numbers + known)
        known += len(used)
    goal = np.repeat(np.arange(len(parts)), [len(indices) for _, indices in parts])
    rows = join(taken)
    return Batch(
        identifiers=torch.from_numpy(np.concatenate(identifiers)),
        agents=rows.row_of.shape[1],
        goals=make_goals([encoded.goal for encoded, _ in parts]),
        states=make_states(rows, np.concatenate(classes), goal, layers=layers, gradients=gradients),
        distance=torch.from_numpy(distance.astype(np.float32)),
    )


def _renumber(items: NDArray[np.integer], count: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Which of 0 … count - 1 occur, ascending, and the items with those numbered from 0."""
    occurs = np.zeros(count, dtype=np.bool_)
    occurs[items] = True
    used = np.flatnonzero(occurs)
    numbers = np.empty(count, dtype=np.int64)
    numbers[used] = np.arange(len(used))
    return used, numbers[items]
