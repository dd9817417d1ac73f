"""How well greedy search does with a score: what models are chosen by."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from epigym.features.types import FeatureTypes
from epigym.space.space import StateSpace
from epigym.space.traversal import Found, best_first
from epigym.task.task import Task

_FAR = 2  # so many times more nodes are far more

Scores = Callable[[NDArray[np.int32]], NDArray[np.float64]]
Problems = Sequence[tuple[Task, FeatureTypes]]


@dataclass(frozen=True, slots=True)
class Searched:
    """How greedy search did on some problems.

    Attributes:
        solved: problems solved within the limit of nodes.
        expanded: nodes expanded over all of them, or built by a walk that defers; where a problem is not solved, the
            limit.
        unsolved: names of the others.
        stopped: whether it was stopped before its end.
    """

    solved: int
    expanded: int
    unsolved: tuple[str, ...]
    stopped: bool

    @property
    def merit(self) -> tuple[int, int]:
        """What is compared, the less the better: problems not solved, nodes expanded."""
        return len(self.unsolved), self.expanded


def searched(
    problems: Problems,
    nodes: int,
    scores: Callable[[StateSpace, FeatureTypes], Scores],
    most: tuple[int, int] | None = None,
) -> Searched:
    """Search greedily, one expansion at a time.

    Args:
        problems: the problems, with the types of their tasks.
        nodes: most expansions for each.
        scores: makes the score of a problem.
        most: a merit; search stops once it has missed more problems than this, or as many and expanded far more nodes.
    """
    return walked(
        problems, nodes, lambda space, types: best_first(space, scores(space, types), max_expanded=nodes), most
    )


def walked(
    problems: Problems,
    nodes: int,
    walk: Callable[[StateSpace, FeatureTypes], Found],
    most: tuple[int, int] | None = None,
) -> Searched:
    """Walk in any way through problems, with at most so many nodes for each; `most` as in `searched`."""
    missed, fewest = most or (len(problems), nodes * len(problems))
    solved, expanded, unsolved = 0, 0, list[str]()
    for task, types in problems:
        found = walk(StateSpace(task), types)
        expanded += found.expanded if found.solved else nodes
        solved += found.solved
        if not found.solved:
            unsolved.append(task.name)
        if len(unsolved) > missed or (len(unsolved) == missed and expanded > _FAR * fewest):
            break
    return Searched(solved, expanded, tuple(unsolved), solved + len(unsolved) < len(problems))
