"""What an agent is."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Generator

from epigym.errors import UsageError
from epigym.space.search_problem import SearchProblem, Source
from epigym.task.reachability import may_reach_goal
from search.agents.limits import Limits
from search.agents.result import Costs, SearchResult, SearchStatus, TaskSize
from search.agents.run import SearchRun, Tell
from search.heuristics.heuristic import Heuristic, HeuristicMaker, bind

Steps = Generator[None, int, SearchStatus]
"""A running search: it yields before it expands, receives how many e-states it may expand before it yields again, at
least one, and returns how it ended."""


class Agent(ABC):
    """A search strategy: it finds a plan for a search problem, within limits.

    A class of one's own defines `start`, see [Agents](../agents.md#a-search-agent-of-your-own).

    Attributes:
        name: in messages and, where nothing else is said, in tables.
        is_informed: whether the agent asks a heuristic.
        needs_preferences: whether it asks for preferred actions too.
        defers_evaluation: whether e-states are evaluated when they are expanded, not when they are generated.
    """

    name: str = "own"
    is_informed: bool = False
    needs_preferences: bool = False
    defers_evaluation: bool = False

    @abstractmethod
    def start(self, run: SearchRun, heuristic: Heuristic | None) -> Steps:
        """Start a search from the initial e-state, which is no goal: it ends at a goal, or when nothing is left.

        Args:
            run: expands and counts; `run.goal` is the goal once one was reached.
            heuristic: made for the same space; None for a blind agent.
        """

    def search(
        self,
        source: Source,
        heuristic: Heuristic | HeuristicMaker | None = None,
        limits: Limits | None = None,
        tell: Tell | None = None,
    ) -> SearchResult:
        """Search for a plan; where there is a short proof of none, not at all.

        Args:
            source: the problem, see `SearchProblem.of`. Its state space may have been explored before.
            heuristic: made for the state space that is searched, `SearchProblem.search_space`, or what makes one for
                it, such as its class; blind agents do not use it.
            limits: when to give up, looked at between expansions only, see `search.planning.planner.find_plan`; by
                default 600 s and 80 % of the free memory.
            tell: is told ten times a second how far the search came.

        Returns:
            The result, without the costs of building the space and of re-executing the plan.

        Raises:
            UsageError: when the source is none, or the heuristic is missing, none, or made for another space.
            TaskError: when an action cannot be applied because designated worlds disagree about an observer.
        """
        space = SearchProblem.of(source).search_space
        asked = bind(heuristic, space) if self.is_informed else None
        self.check(asked)
        run = SearchRun(space, (limits or Limits()).start(), tell)
        try:
            if run.goal is not None:
                run.is_shortest, status = True, SearchStatus.SOLVED
            elif not may_reach_goal(space.task):
                status = SearchStatus.UNSOLVABLE
            else:
                next(steps := self.start(run, asked))
                while (limit := run.budget.check(run.expanded)) is None:
                    steps.send(run.budget.batch_size(run.expanded))
                status = limit
        except StopIteration as end:
            status = SearchStatus(end.value)
        except MemoryError:
            status = SearchStatus.MEMORY_LIMIT
        return SearchResult(
            status=status,
            agent=self.name,
            problem=space.task.name,
            plan=run.plan() if status is SearchStatus.SOLVED else None,
            expanded=run.expanded,
            generated=run.generated,
            distinct=run.distinct,
            heuristic=asked.name if asked else None,
            checkpoint=asked.checkpoint if asked else "",
            consistent_beliefs=space.consistent_beliefs,
            message=run.message,
            optimal=run.is_shortest and status is SearchStatus.SOLVED,
            costs=Costs(search_seconds=run.budget.seconds),
            size=TaskSize.of(space.task),
        )

    def check(self, heuristic: Heuristic | None) -> None:
        """Refuse a heuristic that is missing, or prefers no actions though the agent needs that."""
        needed, example = (" that prefers actions", "h_add") if self.needs_preferences else ("", "goal_count")
        if self.is_informed and (heuristic is None or (self.needs_preferences and not heuristic.prefers)):
            raise UsageError(f"agent {self.name!r} needs a heuristic{needed}, for example heuristic={example}")
