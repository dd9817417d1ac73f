"""What an agent is."""

from __future__ import annotations

from abc import ABC, abstractmethod

from epigym.space import StateSpace
from search.agents.limits import Limits
from search.agents.result import SearchResult
from search.heuristics.heuristic import Heuristic


class Agent(ABC):
    """A search strategy: it finds a plan in a state space, within limits.

    Attributes:
        name: in messages and, where nothing else is said, in tables.
        is_informed: whether the agent asks a heuristic.
    """

    name: str = "own"
    is_informed: bool = False

    @abstractmethod
    def search(
        self, space: StateSpace, heuristic: Heuristic | None = None, limits: Limits | None = None
    ) -> SearchResult:
        """Search for a plan from the space's initial e-state.

        Args:
            space: the e-states of one task, possibly explored before.
            heuristic: bound to the same space; blind agents do not use it.
            limits: when to give up; by default 600 s and 80 % of the free memory.

        Returns:
            The result, without the costs of building the space and of re-executing the plan.

        Raises:
            TaskError: when an action cannot be applied because designated worlds disagree about an observer.
        """
