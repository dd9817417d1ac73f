"""Relational features of e-states: colours of atoms and of the relations between them.

A feature is a *colour*, a 64-bit number, and its value how often it occurs in an e-state. Colours are made of the types
of fluents, beliefs and subformulas of a goal, never of names, so that they mean the same in every task. The features of
an e-state are

- level 0: the colours of all atoms: a fluent with where it is true, a belief of an agent about a fluent, whether a
  subformula of the goal holds; each by a fine and by a coarse type;
- level 1: besides, one round of colour refinement over objects, the atoms that are worth it, the subformulas of the
  goal and static facts, with edges to the objects that they speak of (Weisfeiler & Leman 1968, but with sets in place
  of multisets, as the sizes of problems shall not matter);
- level 2: besides, a second round;
- with worlds: besides, the colours of worlds: which types of fluents and of subformulas are true there, or false.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from epigym import _core
from epigym.space.signature import MASK, mix
from epigym.space.space import StateSpace, as_ids
from epigym.task.formula import Formula
from epigym.task.packing import pack_formulas

WHO = 0x57484F
"""The label of the edge from a belief to its agent."""

CHILD = 0x4348494C44
"""The label of the edge from a subformula to its child."""

_mix: Callable[[int], int] = cache(mix)


def join(one: int, other: int) -> int:
    """The colour of a pair."""
    return _mix(_mix(one + 0x9E3779B97F4A7C15 & MASK) ^ other)


def set_colour(colours: Iterable[int]) -> int:
    """The colour of a set, independent of order and repetition; 0 for the empty set."""
    return sum(map(_mix, set(colours))) & MASK


class Lists(NamedTuple):
    """A ragged table of numbers: where each row starts, int64[rows + 1], and the numbers."""

    ptr: NDArray[np.int64]
    member: NDArray[np.int32]


class Edges(NamedTuple):
    """A ragged table of edges to objects: where each row starts, int64[rows + 1], the objects and the labels."""

    ptr: NDArray[np.int64]
    object: NDArray[np.int32]
    label: NDArray[np.uint64]

    def row(self, number: int) -> list[tuple[int, int]]:
        """The labels and objects of a row."""
        here = slice(self.ptr[number], self.ptr[number + 1])
        return list(zip(self.label[here].tolist(), self.object[here].tolist(), strict=True))


@dataclass(frozen=True, slots=True, eq=False)
class FeatureTables:
    """The types of everything in a task under a goal: A agents, F fluents, G subformulas of the goal, O objects.

    Attributes:
        agent_object: int32[A], the object that each agent is.
        objects: uint64[O], the colour of each object.
        fluent_fine: uint64[F], the type of each fluent.
        fluent_coarse: uint64[F], a coarser one.
        belief_fine: uint64[A, F], the type of each belief of an agent about a fluent.
        belief_coarse: uint64[A, F], a coarser one.
        goal: the G subformulas of the goal, children before parents.
        goal_fine: uint64[G], the type of each subformula.
        goal_coarse: uint64[G], a coarser one.
        fact_fine: uint64[S], the type of each of S static facts.
        relevant_fluent: bool[F], whether the goal speaks of a fluent.
        relevant_belief: bool[A, F], whether it speaks of a belief.
        fluent_edges: the objects that each of F fluents speaks of.
        goal_edges: those of each of G subformulas.
        fact_edges: those of each of S facts.
        goal_children: the children of each of G subformulas, as their numbers.
    """

    agent_object: NDArray[np.int32]
    objects: NDArray[np.uint64]
    fluent_fine: NDArray[np.uint64]
    fluent_coarse: NDArray[np.uint64]
    belief_fine: NDArray[np.uint64]
    belief_coarse: NDArray[np.uint64]
    goal: tuple[Formula, ...]
    goal_fine: NDArray[np.uint64]
    goal_coarse: NDArray[np.uint64]
    fact_fine: NDArray[np.uint64]
    relevant_fluent: NDArray[np.bool_]
    relevant_belief: NDArray[np.bool_]
    fluent_edges: Edges
    goal_edges: Edges
    fact_edges: Edges
    goal_children: Lists

    def pack(self, space: StateSpace) -> _core.FeatureTables:
        """The same as the core takes it.

        Raises:
            TaskError: when the goal names a fluent or agent that the task of the space does not have.
            TypeError: when an array has a wrong type or number of axes.
            ValueError: when a table of beliefs is not one of its agents and fluents.
        """
        formulas, goal = pack_formulas(space.task, self.goal)
        return _core.FeatureTables(space.core, formulas, goal, self)


class FeatureRows(NamedTuple):
    """The features of k e-states, n in all.

    Attributes:
        ptr: int64[k + 1], where those of each e-state start.
        colour: uint64[n], ascending within an e-state, each once.
        value: float32[n], how often each occurs.
    """

    ptr: NDArray[np.int64]
    colour: NDArray[np.uint64]
    value: NDArray[np.float32]


class RelationalFeatures:
    """The features of a space's e-states under a goal.

    Args:
        space: where the e-states live.
        tables: the types of everything in its task.
        level: 0, 1 or 2.
        worlds: whether worlds have features too.

    Raises:
        ValueError: when the tables do not fit each other or the task, or there is no such level.
        TaskError: when the goal names a fluent or agent that the task does not have.
    """

    def __init__(self, space: StateSpace, tables: FeatureTables, level: int, worlds: bool) -> None:
        self._core = _core.Features(space.core, tables.pack(space), level, worlds)

    def __call__(self, ids: ArrayLike) -> FeatureRows:
        """The features of e-states, int32[k]."""
        return FeatureRows(*self._core.evaluate(as_ids(ids)))
