"""Labelled e-states of a problem in memory, and on the paths that lead to them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from epigym.errors import DamagedError
from epigym.space.space import StateSpace
from epigym.task.formula import Formula
from epigym.task.task import Task

Use = Literal["samples", "pairs"]


@dataclass(frozen=True, slots=True)
class Rollout:
    """Labelled e-states of one problem, and pairs of them.

    Attributes:
        space: state space of these e-states and of those on the paths to them; its task has the goal.
        ids: int32[k], the e-states.
        distance: int32[k], see `learn.data.labels.Label`.
        label: uint8[k], what the distances mean.
        better: int64[p], position in `ids` of the preferred e-state of each pair.
        worse: int64[p], position in `ids` of the other e-state.
        weight: float64[p], with sum 1; the pairs of each expansion have the same total weight.
    """

    space: StateSpace
    ids: NDArray[np.int32]
    distance: NDArray[np.int32]
    label: NDArray[np.uint8]
    better: NDArray[np.int64]
    worse: NDArray[np.int64]
    weight: NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class LabelledGoal:
    """A goal, and what is known about each of the k e-states of a tree under it.

    Attributes:
        name: name of the problem with this goal.
        instance: its name in the domain.
        goal: the subgoals.
        distance: int32[k], see `learn.data.labels.Label`.
        label: uint8[k], what the distances mean.
        sample: bool[k], the e-states to learn distances from.
        better: int64[p], the preferred e-state of each pair.
        worse: int64[p], the other e-state of each pair.
        weight: float64[p], with sum 1; the pairs of each expansion have the same total weight.
        counts: sizes of the exploration and of the samples.
        seconds: duration of exploration and labelling.
    """

    name: str
    instance: str
    goal: tuple[Formula, ...]
    distance: NDArray[np.int32]
    label: NDArray[np.uint8]
    sample: NDArray[np.bool_]
    better: NDArray[np.int64]
    worse: NDArray[np.int64]
    weight: NDArray[np.float64]
    counts: Mapping[str, Any]
    seconds: float


@dataclass(frozen=True, slots=True)
class Tree:
    """k e-states of a task as paths from the initial one, labelled for one or several goals.

    Attributes:
        task: the task.
        consistent_beliefs: whether the state space excludes e-states with inconsistent beliefs.
        predecessor: int32[k], the previous e-state, which comes earlier; -1 for the first, the initial e-state.
        action: int32[k], the action that leads from there; -1 for the first.
        goals: the goals, with labels.
    """

    task: Task
    consistent_beliefs: bool
    predecessor: NDArray[np.int32]
    action: NDArray[np.int32]
    goals: tuple[LabelledGoal, ...]

    def walk(self, task: Task, rows: NDArray[np.integer]) -> tuple[StateSpace, NDArray[np.int32]]:
        """Build a state space that holds some e-states and those on the paths to them.

        Args:
            task: the task with one of the goals.
            rows: int[r], the e-states.

        Returns:
            The space, and int32[r], their ids.
        """
        space = StateSpace(task, consistent_beliefs=self.consistent_beliefs)
        ids = np.zeros(len(self.predecessor), np.int32)
        for row in np.flatnonzero(find_passed(self.predecessor, rows))[1:].tolist():
            ids[row] = space.successor(int(ids[self.predecessor[row]]), int(self.action[row]))
        return space, ids[rows]


def find_passed(predecessor: NDArray[np.integer], rows: NDArray[np.integer]) -> NDArray[np.bool_]:
    """bool[k]: the e-states `rows`, int[r], those on the paths to them, and the initial one; see `Tree`."""
    passed = np.zeros(len(predecessor), np.bool_)
    passed[0] = True
    ends = np.unique(rows)
    while len(ends):
        passed[ends] = True
        ends = np.unique(predecessor[ends])
        ends = ends[(ends >= 0) & ~passed[ends]]
    return passed


def require_tree(tree: Tree) -> None:
    """Check that the arrays of a tree fit each other.

    Raises:
        DamagedError: when they do not.
    """
    count, actions = len(tree.predecessor), len(tree.task.actions)
    earlier = np.arange(count)
    fits = count > 0 and len(tree.action) == count and tree.predecessor[0] == -1
    fits = fits and bool(((tree.predecessor[1:] >= 0) & (tree.predecessor[1:] < earlier[1:])).all())
    fits = fits and bool(((tree.action[1:] >= 0) & (tree.action[1:] < actions)).all())
    for goal in tree.goals:
        rows, pairs = (goal.distance, goal.label, goal.sample), (goal.better, goal.worse, goal.weight)
        fits = fits and {len(each) for each in rows} == {count} and len({len(each) for each in pairs}) == 1
        fits = fits and all(((each >= 0) & (each < count)).all() for each in (goal.better, goal.worse))
    if not fits:
        raise DamagedError("its arrays do not fit each other")
