"""The base class of search agents, and `run_agent`, which runs one on a problem."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Generator, Mapping
from contextlib import closing
from typing import Any

from epigym.errors import UsageError
from epigym.space.search_problem import SearchProblem, Source
from epigym.task.reachability import may_reach_goal
from search.agents.limits import Limits
from search.agents.result import Costs, SearchResult, SearchStatus, TaskSize
from search.agents.run import ProgressCallback, SearchRun
from search.heuristics.heuristic import Heuristic, HeuristicMaker, bind_heuristic, name_method

Steps = Generator[None, int, SearchStatus]
"""A running search: it yields before it expands e-states, receives how many it may expand before it yields again (at
least one; the number depends on the speed of the machine), and returns its status."""


class Agent(ABC):
    """A search strategy with its settings; a subclass defines `search`.

    See [An agent of your own](../tutorials/own_agent.md).

    Attributes:
        name: the agent's name in messages and, without a label, in tables.
        is_informed: whether the agent uses a heuristic.
        needs_preferences: whether that heuristic has to prefer actions.
        defers_evaluation: whether e-states are evaluated when they are expanded, not when they are generated.
    """

    name: str = "own"
    is_informed: bool = False
    needs_preferences: bool = False
    defers_evaluation: bool = False

    @property
    def component_choices(self) -> list[Mapping[str, Any]]:
        """The settings of the agents and heuristics that it runs, if it runs others."""
        return []

    @abstractmethod
    def search(self, run: SearchRun) -> Steps:
        """Search from the initial e-state, which is no goal, until a goal is reached or no e-state is left to expand.

        Args:
            run: expands e-states, counts them, and evaluates them with the heuristic; `run.goal` is the goal once one
                is reached.

        Returns:
            The running search; its status is `solved`, `unsolvable`, or a limit where an incomplete search gives up.
        """


def run_agent(
    agent: Agent,
    source: Source,
    heuristic: Heuristic | HeuristicMaker | None = None,
    limits: Limits | None = None,
    on_progress: ProgressCallback | None = None,
) -> SearchResult:
    """Search for a plan in this process, unless a short proof shows that there is none; does not validate the plan.

    Args:
        agent: the search strategy.
        source: the problem, see `SearchProblem.of`. Its state space may have been explored before.
        heuristic: made for the state space that is searched, `SearchProblem.search_space`, or a function from that
            space to a heuristic, such as a class; uninformed agents ignore it.
        limits: checked between expansions; by default 600 s and 80 % of the free memory. `find_plan` of
            `search.planning.planner` also enforces them from outside.
        on_progress: receives the counts ten times a second.

    Returns:
        The result, without the costs of building the space and of validating the plan.

    Raises:
        UsageError: when `source` is no problem, or the heuristic is missing, no heuristic, or made for another space.
        TaskError: when an action cannot be applied because designated worlds disagree about an observability type.
        TypeError: when `search` of the agent is no generator, or the heuristic returns no scores.
        ValueError: when the search ends without a status, or as solved without a goal.
    """
    space = SearchProblem.of(source).search_space
    bound = bind_heuristic(heuristic, space) if agent.is_informed else None
    require_heuristic(agent, bound)
    run = SearchRun(space, (limits or Limits()).start(), bound, on_progress)
    try:
        if run.goal is not None:
            run.is_shortest, status = True, SearchStatus.SOLVED
        elif not may_reach_goal(space.task):
            status = SearchStatus.UNSOLVABLE
        else:
            with closing(start_search(agent, run)) as steps:  # before the counts are read
                next(steps)
                while (limit := run.budget.check(run.expanded)) is None:
                    steps.send(run.budget.batch_size(run.expanded))
            status = limit
    except StopIteration as end:
        status = read_end(agent, run, end.value)
    except MemoryError:
        status = SearchStatus.MEMORY_LIMIT
    return SearchResult(
        status=status,
        agent=agent.name,
        problem=space.task.name,
        plan=run.plan() if status is SearchStatus.SOLVED else None,
        expanded=run.expanded,
        generated=run.generated,
        distinct=run.distinct,
        heuristic=bound.name if bound else None,
        model=bound.model if bound else "",
        consistent_beliefs=space.consistent_beliefs,
        message="; ".join(filter(None, (run.message, bound.note if bound else ""))),
        optimal=run.is_shortest and status is SearchStatus.SOLVED,
        costs=Costs(search_seconds=run.budget.seconds),
        size=TaskSize.of(space.task),
    )


def start_search(agent: Agent, run: SearchRun) -> Steps:
    """The running search of an agent.

    Raises:
        TypeError: when it is none.
    """
    steps = agent.search(run)
    if not isinstance(steps, Generator):
        raise TypeError(f"{name_method(agent, 'search')} is no generator: yield before e-states are expanded")
    return steps


def read_end(agent: Agent, run: SearchRun, end: object) -> SearchStatus:
    """The status that a search returned at its end.

    Raises:
        ValueError: when it is neither decided nor a limit, or solved without a goal.
    """
    status = SearchStatus(end) if isinstance(end, str) and end in tuple(SearchStatus) else SearchStatus.ERROR
    if status is SearchStatus.ERROR:
        expected = "SearchStatus.SOLVED, UNSOLVABLE or a limit"
        raise ValueError(f"{name_method(agent, 'search')} returned {end!r}: expected {expected}")
    if status is SearchStatus.SOLVED and run.plan() is None:
        raise ValueError(f"{name_method(agent, 'search')} returned 'solved' without a goal: set run.goal")
    return status


def require_heuristic(agent: Agent, heuristic: Heuristic | None) -> None:
    """Raise a UsageError when an informed agent has no heuristic, or one without the preferences that it needs."""
    needed, example = (" that prefers actions", "h_add") if agent.needs_preferences else ("", "goal_count")
    if agent.is_informed and (heuristic is None or (agent.needs_preferences and not heuristic.prefers)):
        raise UsageError(f"agent {agent.name!r} needs a heuristic{needed}, for example heuristic={example}")
