"""`Goals`: what environments that share a state space are after, tested and drawn together."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from epigym.encoding import Encoder, ManyGoals
from epigym.formula import Formula, and_
from epigym.rows import GraphBatch
from epigym.space import Query

Goal = tuple[Formula, ...]
_KEPT = 1024  # goals that stay bound to the space after no environment has them


@dataclass(frozen=True, slots=True, eq=False)
class Bound:
    """A goal, bound to a space.

    Attributes:
        goal: the subgoals.
        encoder: graphs of e-states under the goal.
        holds: whether it holds, bool[k, 1].
    """

    goal: Goal
    encoder: Encoder
    holds: Query


class Goals:
    """One goal for each of n environments; what they have in common is computed in one go.

    Args:
        encoder: an encoding of the space, under any goal.
        goals: of the environments.
    """

    def __init__(self, encoder: Encoder, goals: Iterable[Goal]) -> None:
        self._encoder = encoder
        self._bind = lru_cache(_KEPT)(self._bound)
        self._of = [self._bind(goal) for goal in goals]
        self._group()

    def __getitem__(self, index: int) -> Bound:
        """The goal of an environment."""
        return self._of[index]

    def change(self, members: Iterable[int], goals: Iterable[Goal]) -> None:
        """Give some environments other goals."""
        before = list(self._of)
        for index, goal in zip(members, goals, strict=True):
            if goal != self._of[index].goal:
                self._of[index] = self._bind(goal)
        if before != self._of:
            self._group()

    def holds(self, ids: NDArray[np.int32]) -> NDArray[np.bool_]:
        """bool[n]: whether the goal of each environment holds in its e-state, int32[n]."""
        if len(self._groups) == 1:
            return self._of[0].holds(ids)[:, 0]
        result = np.empty(len(ids), np.bool_)
        for bound, members in self._groups:
            result[members] = bound.holds(ids[members])[:, 0]
        return result

    def graphs(self, ids: NDArray[np.int32]) -> GraphBatch:
        """The graphs of the environments' e-states, int32[n], each under its goal."""
        return self._graphs(ids, self._group_of)

    def _bound(self, goal: Goal) -> Bound:
        return Bound(goal, self._encoder.under(goal), self._encoder.space.query([and_(*goal)]))

    def _group(self) -> None:
        """Find the environments of each goal."""
        members: dict[Bound, list[int]] = {}
        for index, bound in enumerate(self._of):
            members.setdefault(bound, []).append(index)
        self._groups = [(bound, np.array(indices)) for bound, indices in members.items()]
        self._group_of = np.empty(len(self._of), np.int64)
        for number, (_, indices) in enumerate(self._groups):
            self._group_of[indices] = number
        self._graphs = ManyGoals([bound.encoder for bound, _ in self._groups]).graphs
