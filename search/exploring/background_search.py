"""A search in its own process that ends when the caller closes it."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import closing
from functools import partial

from epigym.task.task import Task
from search.agents.limits import Limits
from search.agents.result import SearchResult, SearchStatus
from search.planning.configuration import Configuration
from search.planning.options import SearchOptions
from search.planning.planner import find_plan_here, watch_search
from search.planning.single_search import complete_result, make_blank_result
from search.processes.supervisor import JobResult


def search_in_background(
    task: Task, configuration: Configuration, options: SearchOptions
) -> Generator[SearchResult | None, None, None]:
    """Search for a plan as `find_plan` does; yields None at least ten times a second, at last the result.

    Closing the iterator kills the search.
    """
    blank = make_blank_result(configuration, task.name, options)
    with closing(watch_search(partial(find_plan_here, task, configuration), options)) as received:
        for each in received:
            yield complete_result(each, blank) if isinstance(each, JobResult) else None


def describe(result: SearchResult, limits: Limits) -> str:
    """One line about how a search ended."""
    match result.status:
        case SearchStatus.SOLVED if not result.plan:
            return "the goal is reached here"
        case SearchStatus.SOLVED:
            length = "1 action" if result.plan_length == 1 else f"{result.plan_length} actions"
            return f"a plan of {length}, found by {result.label} in {result.costs.search_seconds:.2g} s"
        case SearchStatus.UNSOLVABLE:
            return f"{result.verdict}: no plan leads from here to the goal, says {result.label}"
        case SearchStatus.TIME_LIMIT:
            return f"no plan found within {limits.time_limit:g} s: start with a longer time_limit or another agent"
        case SearchStatus.MEMORY_LIMIT:
            return "no plan found within the memory limit: start with a larger memory_limit or another agent"
        case SearchStatus.EXPANSION_LIMIT:
            return f"no plan found within {limits.max_expanded} nodes: start with a larger max_expanded"
        case SearchStatus.ERROR:
            return f"the search failed: {result.message}"
