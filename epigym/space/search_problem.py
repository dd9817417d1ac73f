"""`SearchProblem`: the problem that agents search and explorers explore, made of any source."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Protocol

import numpy as np

from epigym.errors import UsageError
from epigym.problem import load_problem
from epigym.space.space import StateSpace
from epigym.task.formula import Formula
from epigym.task.task import Task


class Environment(Protocol):
    """An environment of epigym, wrapped or not."""

    @property
    def unwrapped(self) -> Any:
        """The environment below all wrappers."""


@dataclass(frozen=True)
class SearchProblem:
    """An e-state to start from and a goal to reach.

    Attributes:
        space: the state space that the start belongs to.
        start: the id of an e-state in `space`.
        goal: the subgoals; an e-state is a goal iff all of them hold.

    Raises:
        UsageError: when an attribute is of another type, or the space has no such e-state.
    """

    space: StateSpace
    start: int
    goal: tuple[Formula, ...]

    def __post_init__(self) -> None:
        """Check the types, and that the start exists."""
        if not isinstance(self.space, StateSpace):
            raise UsageError(f"space={self.space!r}: expected a StateSpace; SearchProblem.of takes other sources")
        is_whole = isinstance(self.start, int | np.integer) and not isinstance(self.start, bool)
        if not is_whole or not 0 <= self.start < len(self.space):
            raise UsageError(f"start={self.start!r}: expected the id of an e-state, 0 to {len(self.space) - 1}")
        object.__setattr__(self, "start", int(self.start))
        if not isinstance(self.goal, tuple) or not all(isinstance(subgoal, Formula) for subgoal in self.goal):
            raise UsageError(f"goal={self.goal!r}: expected a tuple of formulas, the subgoals")

    @classmethod
    def of(cls, source: Source) -> SearchProblem:
        """The search problem of a source.

        Args:
            source: a search problem; a `StateSpace` or a `Task`, from the initial e-state to the goal of the task; the
                name or path of a problem, as `load_problem` takes it; or an environment of epigym, wrapped or not, from
                its current e-state to its current goal.

        Raises:
            UsageError: when it is something else, a vector environment for example.
            ParseError, MissingError: as `load_problem`.
        """
        if isinstance(source, SearchProblem):
            return source
        if isinstance(source, str | os.PathLike):
            source = load_problem(os.fspath(source))
        if isinstance(source, Task):
            source = StateSpace(source)
        if isinstance(source, StateSpace):
            return cls(source, source.initial, source.task.goal)
        environment: Any = getattr(source, "unwrapped", None)
        if hasattr(environment, "num_envs"):
            choice = "envs[i]" if hasattr(environment, "envs") else "search_problem(i)"
            raise UsageError(f"a vector environment has a search problem for each i: choose env.unwrapped.{choice}")
        if hasattr(environment, "search_problem"):
            found: SearchProblem = environment.search_problem()
            return found
        raise UsageError(
            "expected a SearchProblem, a StateSpace, a Task, the name or path of a problem, or an environment of "
            f"epigym, got an object of type {type(source).__name__}"
        )

    @cached_property
    def task(self) -> Task:
        """The task whose initial e-state is the start and whose goal is the goal; that of `space` where it is so."""
        task = self.space.task
        if self.start != self.space.initial:
            task = replace(task, initial=self.space.model(self.start).state)
        return task if task.goal == self.goal else replace(task, goal=self.goal)

    @cached_property
    def search_space(self) -> StateSpace:
        """The state space of `task`, explored like `space`, and `space` itself where that is its own task.

        Agents search it, so heuristics for this problem are made for it.
        """
        space = self.space
        if self.task is space.task:
            return space
        return StateSpace(
            self.task, consistent_beliefs=space.consistent_beliefs, symmetry=space.symmetry, threads=space.threads
        )


Source = SearchProblem | StateSpace | Task | str | os.PathLike[str] | Environment
"""The sources of a `SearchProblem`."""
