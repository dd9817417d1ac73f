"""`Goals`: the goals of environments that share a state space, tested and encoded together."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from epigym.encoding.encoder import AnyEncoder, Encoder
from epigym.space.rows import GraphBatch, goal_parts, join, unroll_under
from epigym.space.space import BoundQuery, hold_each
from epigym.task.formula import Formula

Goal = tuple[Formula, ...]
_KEPT = 1024  # goals that stay bound to the space after no environment has them


@dataclass(frozen=True, slots=True, eq=False)
class Bound:
    """A goal, bound to a space.

    Attributes:
        goal: the subgoals.
        encoder: graphs of e-states under the goal.
        query: its subgoals.
    """

    goal: Goal
    encoder: AnyEncoder
    query: BoundQuery


class Goals:
    """One goal for each of n environments; equal goals are evaluated together.

    Args:
        encoder: an encoding of the space, under any goal.
        goals: of the environments.
    """

    def __init__(self, encoder: AnyEncoder, goals: Iterable[Goal]) -> None:
        self._encoder = encoder
        self._bind = lru_cache(_KEPT)(self._make_bound)
        self._of = [self._bind(goal) for goal in goals]
        self._group()

    def __getitem__(self, index: int) -> Bound:
        """The goal of an environment."""
        return self._of[index]

    def change(self, members: Iterable[int], goals: Iterable[Goal]) -> None:
        """Give some environments other goals."""
        after = list(self._of)
        for index, goal in zip(members, goals, strict=True):
            if goal != after[index].goal:
                after[index] = self._bind(goal)
        if after != self._of:
            self._of = after
            self._group()

    def holds(self, ids: NDArray[np.int32]) -> NDArray[np.bool_]:
        """bool[n]: whether the goal of each environment holds in its e-state, int32[n]."""
        return hold_each(self._queries, self._number, ids)

    def graphs(self, ids: NDArray[np.int32]) -> GraphBatch:
        """The graphs of the environments' e-states, int32[n], each under its goal."""
        first = self._encoders[0]
        if self._parts is not None and isinstance(first, Encoder):
            return unroll_under(first.rows(ids), first.identifiers, self._parts, self._number)
        groups = [np.flatnonzero(self._number == index) for index in range(len(self._encoders))]
        batches = [encoder.graphs(ids[group]) for encoder, group in zip(self._encoders, groups, strict=True)]
        return join(batches).take(np.argsort(np.concatenate(groups)))

    def _make_bound(self, goal: Goal) -> Bound:
        return Bound(goal, self._encoder.under(goal), self._encoder.space.bind(goal))

    def _group(self) -> None:
        """Number the different goals, and collect their queries, encoders and goal parts."""
        numbers: dict[Bound, int] = {}
        self._number = np.array([numbers.setdefault(bound, len(numbers)) for bound in self._of])
        self._queries = [bound.query for bound in numbers]
        self._encoders = [bound.encoder for bound in numbers]
        # Other graphs differ in more than the goal part.
        together = [one for one in self._encoders if isinstance(one, Encoder) and not one.encoding.by_rank]
        self._parts = goal_parts([one.goal for one in together]) if together else None
