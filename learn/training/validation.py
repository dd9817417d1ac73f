"""Validation of heuristics by greedy best-first search on a set of problems."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from epigym.errors import EpigymError
from epigym.features.types import FeatureTypes
from epigym.io.progress import track
from epigym.space.space import StateSpace
from epigym.task.task import Task
from learn.models.calibration import Calibration, fit_calibration
from search.agents import run_agent
from search.agents.best_first import GreedyBestFirst
from search.agents.limits import Limits
from search.agents.result import SearchResult, SearchStatus
from search.heuristics.heuristic import Heuristic

_FAR = 2  # ratio of expansions beyond which validation stops

Scores = Callable[[NDArray[np.int32]], NDArray[np.float64]]
Problems = Sequence[tuple[Task, FeatureTypes]]


@dataclass(frozen=True, slots=True)
class ValidationResult:
    """Result of greedy search on the validation problems.

    Attributes:
        solved: number of problems solved within the limit; an upper bound if `stopped`.
        expanded: expansions on all problems, an unsolved problem counts with the limit; a lower bound if `stopped`.
        unsolved: names of the problems that are known to be unsolved.
        stopped: whether validation was cut short, see `bound` of `validate_by_search`.
        values: float64[k], values of the e-states on the plans found.
        steps: float64[k], number of actions left in the plan at each of these e-states.
    """

    solved: int
    expanded: int
    unsolved: tuple[str, ...]
    stopped: bool
    values: NDArray[np.float64] = field(default_factory=lambda: np.empty(0), compare=False, repr=False)
    steps: NDArray[np.float64] = field(default_factory=lambda: np.empty(0), compare=False, repr=False)

    @property
    def score(self) -> tuple[int, int]:
        """Number of unsolved problems, then of expansions; the smaller, the better. A lower bound if `stopped`."""
        return len(self.unsolved), self.expanded

    def calibrate(self) -> Calibration:
        """The monotone map from values to steps with the least squared error on the plans found."""
        return fit_calibration(self.values, self.steps)


def validate_by_search(
    problems: Problems,
    nodes: int,
    scores: Callable[[StateSpace, FeatureTypes], Scores],
    bound: tuple[int, int] | None = None,
    *,
    consistent_beliefs: bool = False,
) -> ValidationResult:
    """Run greedy search on each problem, one expansion at a time.

    Args:
        problems: the problems, with the types of their tasks.
        nodes: most expansions for each.
        scores: returns the heuristic of a problem.
        bound: a validation score. Validation is cut short when more problems are unsolved, or as many with more than
            twice the expansions.
        consistent_beliefs: whether e-states with inconsistent beliefs are excluded, see `StateSpace`.

    Raises:
        EpigymError: when a score is not a number, or a search runs out of memory.
    """
    missed, fewest = bound or (len(problems), nodes * len(problems))
    expanded, unsolved, is_stopped = 0, list[str](), False
    values, steps = [np.empty(0)], [np.empty(0)]
    for place, (task, types) in enumerate(track(problems, "validating"), 1):
        space = StateSpace(task, consistent_beliefs=consistent_beliefs, threads="auto")
        score = scores(space, types)
        found = search_greedily(space, score, nodes)
        is_solved = found.status is SearchStatus.SOLVED
        if is_solved:
            states = np.array(find_states_along(space, found.plan or ()), dtype=np.int32)
            values.append(score(states))
            steps.append(np.arange(len(states) - 1, -1, -1, dtype=np.float64))
        expanded += found.expanded if is_solved else nodes
        if not is_solved:
            unsolved.append(task.name)
        if len(unsolved) > missed or (len(unsolved) == missed and expanded > _FAR * fewest):
            is_stopped = place < len(problems)
            break
    return ValidationResult(
        solved=len(problems) - len(unsolved),
        expanded=expanded,
        unsolved=tuple(unsolved),
        stopped=is_stopped,
        values=np.concatenate(values),
        steps=np.concatenate(steps),
    )


def search_greedily(space: StateSpace, score: Scores, nodes: int) -> SearchResult:
    """Search with the agent `hfs` and a heuristic; only the number of expansions is limited.

    Args:
        space: state space of the problem.
        score: the heuristic, from e-states int32[k] to values float64[k].
        nodes: maximum number of expansions.

    Raises:
        EpigymError: when a score is not a number, or the search runs out of memory.
    """
    limits = Limits(max_expanded=nodes, time_limit=None, memory_limit=sys.maxsize)
    found = run_agent(GreedyBestFirst(), space, _Scored(space, score), limits)
    if found.status is SearchStatus.MEMORY_LIMIT:
        raise EpigymError(f"greedy search on {space.task.name} runs out of memory: give it fewer expansions")
    return found


class _Scored(Heuristic):
    """A function of e-states as a heuristic."""

    name = "score"

    def __init__(self, space: StateSpace, score: Scores) -> None:
        self._score = score

    def score(self, ids: NDArray[np.int32]) -> NDArray[np.float64]:
        return self._score(ids)


def find_states_along(space: StateSpace, plan: Sequence[str], start: int | None = None) -> list[int]:
    """The e-states that a plan (names of actions) visits, from a start, by default the initial e-state, to the last."""
    number = {action.name: place for place, action in enumerate(space.task.actions)}
    return list(
        accumulate(map(number.__getitem__, plan), space.successor, initial=space.initial if start is None else start)
    )
