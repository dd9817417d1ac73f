"""From a task to a result: search with a configuration, re-execute the plan."""

from __future__ import annotations

from dataclasses import replace
from time import perf_counter

from epigym.reference import validate
from epigym.task import Task
from search.agents.limits import Limits
from search.agents.result import SearchResult, SearchStatus
from search.planning.configuration import Configuration
from search.planning.portfolio import search_in_parallel
from search.planning.single import search_alone


def find_plan(task: Task, configuration: Configuration, limits: Limits | None = None) -> SearchResult:
    """Search for a plan of `task` and re-execute it independently before it is reported.

    Args:
        task: the planning task.
        configuration: agent and heuristic, or a portfolio of them.
        limits: when to give up; by default 600 s and 80 % of the free memory.

    Returns:
        The result; its status is `error` when the plan that was found is not valid.

    Raises:
        CheckpointError: when a learned heuristic cannot be loaded or does not fit the task.
        TaskError: when the task cannot be represented, or designated worlds disagree about an observer.
    """
    return re_executed(task, search(task, configuration, limits))


def re_executed(task: Task, result: SearchResult) -> SearchResult:
    """The result of a search of `task` after its plan has been re-executed; of status `error` when that fails."""
    if result.plan is None:
        return result
    start = perf_counter()
    validation = validate(task, result.plan)
    result = replace(result, validation_seconds=perf_counter() - start, collapsed_agents=validation.collapsed)
    if validation.valid:
        return result
    message = f"{result.label} returned a plan that is not valid: {validation.reason}"
    return replace(result, status=SearchStatus.ERROR, message=message)


def search(task: Task, configuration: Configuration, limits: Limits | None = None) -> SearchResult:
    """Search for a plan of `task`; as `find_plan`, but nobody has re-executed the plan."""
    result = (search_in_parallel if configuration.members else search_alone)(task, configuration, limits)
    return replace(
        result,
        actions=len(task.actions),
        fluents=len(task.fluents),
        initial_worlds=len(task.initial.valuations),
    )
