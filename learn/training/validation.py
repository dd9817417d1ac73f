"""Validation by search: how well greedy best-first search does with a score, by which models are chosen."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from epigym.errors import EpigymError
from epigym.features.types import FeatureTypes
from epigym.space.space import StateSpace
from epigym.task.task import Task
from learn.models.calibration import Calibration, fit_calibration
from search.agents.best_first import hfs
from search.agents.limits import Limits
from search.agents.result import SearchResult, SearchStatus
from search.heuristics.heuristic import Heuristic

_FAR = 2  # so many times more nodes are far more

Scores = Callable[[NDArray[np.int32]], NDArray[np.float64]]
Problems = Sequence[tuple[Task, FeatureTypes]]


@dataclass(frozen=True, slots=True)
class ValidationResult:
    """How greedy search did on the validation problems.

    Attributes:
        solved: problems solved within the limit of nodes.
        expanded: nodes expanded over all of them; where a problem is not solved, the limit.
        unsolved: names of the others.
        stopped: whether validation was stopped before its end.
    """

    solved: int
    expanded: int
    unsolved: tuple[str, ...]
    stopped: bool

    @property
    def score(self) -> tuple[int, int]:
        """What is compared, the less the better: problems not solved, nodes expanded."""
        return len(self.unsolved), self.expanded


def validate_by_search(
    problems: Problems,
    nodes: int,
    scores: Callable[[StateSpace, FeatureTypes], Scores],
    bound: tuple[int, int] | None = None,
    on_solved: Callable[[StateSpace, Scores, SearchResult], None] = lambda space, score, result: None,
) -> ValidationResult:
    """Search greedily on each problem, one expansion at a time.

    Args:
        problems: the problems, with the types of their tasks.
        nodes: most expansions for each.
        scores: makes the score of a problem.
        bound: a validation score; stop once more problems are unsolved than this allows, or as many with far more nodes
            expanded.
        on_solved: called with the space, the score and the result of each search that finds a plan.

    Raises:
        EpigymError: when a score is not a number, or a search runs out of memory.
    """
    missed, fewest = bound or (len(problems), nodes * len(problems))
    solved, expanded, unsolved = 0, 0, list[str]()
    for task, types in problems:
        space = StateSpace(task)
        score = scores(space, types)
        found = search_greedily(space, score, nodes)
        is_solved = found.status is SearchStatus.SOLVED
        if is_solved:
            on_solved(space, score, found)
        expanded += found.expanded if is_solved else nodes
        solved += is_solved
        if not is_solved:
            unsolved.append(task.name)
        if len(unsolved) > missed or (len(unsolved) == missed and expanded > _FAR * fewest):
            break
    return ValidationResult(solved, expanded, tuple(unsolved), solved + len(unsolved) < len(problems))


def search_greedily(space: StateSpace, score: Scores, nodes: int) -> SearchResult:
    """The result of the agent `hfs` with a score, which no limit but the number of expansions ends.

    Args:
        space: where to search.
        score: of e-states, int32[k] to float64[k].
        nodes: most expansions.

    Raises:
        EpigymError: when a score is not a number, or the search runs out of memory.
    """
    limits = Limits(max_expanded=nodes, time_limit=None, memory_limit=sys.maxsize)
    found = hfs().search(space, _Scored(space, score), limits)
    if found.status is SearchStatus.MEMORY_LIMIT:
        raise EpigymError(f"greedy search on {space.task.name} runs out of memory: give it fewer nodes")
    return found


class _Scored(Heuristic):
    """A score as a heuristic."""

    name = "score"

    def __init__(self, space: StateSpace, score: Scores) -> None:
        self._score = score

    def score(self, ids: NDArray[np.int32]) -> NDArray[np.float64]:
        return self._score(ids)


class PlanValues:
    """The values of the e-states on plans that a validation finds, with the actions that are left there."""

    def __init__(self) -> None:
        self._values, self._steps = [np.empty(0)], [np.empty(0)]

    def collect(self, space: StateSpace, score: Scores, result: SearchResult) -> None:
        """Add the e-states of a plan; `on_solved` of `validate_by_search`."""
        states = np.array(states_along(space, result.plan or ()), dtype=np.int32)
        self._values.append(score(states))
        self._steps.append(np.arange(len(states) - 1, -1, -1, dtype=np.float64))

    def calibrate(self) -> Calibration:
        """The monotone map from values to actions left that fits best."""
        return fit_calibration(np.concatenate(self._values), np.concatenate(self._steps))


def states_along(space: StateSpace, plan: Sequence[str]) -> list[int]:
    """The e-states that a plan, names of actions, leads through from the initial one on."""
    number = {action.name: place for place, action in enumerate(space.task.actions)}
    return list(accumulate(map(number.__getitem__, plan), space.successor, initial=space.initial))
