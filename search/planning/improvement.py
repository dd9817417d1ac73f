"""Improves a plan: shorter plans until there is none or a limit is reached."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import asdict, replace

from epigym.errors import EpigymError
from search.agents.anytime import ShorterPlans
from search.agents.limits import peak_bytes
from search.agents.result import SearchResult, SearchStatus
from search.agents.run import Counts
from search.heuristics.belief_relaxation import RelaxedPlan
from search.planning.action_elimination import eliminate_actions
from search.planning.options import SearchOptions
from search.planning.single_search import FinishedSearch
from search.processes.channel import NO_CHANNEL, ProgressChannel

WEIGHTS = (5.0, 3.0, 2.0, 1.0)
"""The weights of the first, second, … search for a shorter plan; the last one is used for all further searches."""


def improve_plan(
    found: FinishedSearch,
    options: SearchOptions,
    verify: Callable[[SearchResult], SearchResult],
    channel: ProgressChannel = NO_CHANNEL,
) -> SearchResult:
    """Search for shorter plans with weighted A* in the same state space, and remove their redundant actions.

    Args:
        found: the first search: a result with a plan, the explored space, and the heuristic; without one `h_ff`.
        options: the limits hold for both searches together; validating plans does not count.
        verify: validates the plan of a result; called with ever shorter plans.
        channel: receives the time limit, and the counts of both searches.

    Returns:
        The result with the best plan and the costs of both searches; its status is `error` when a plan is not valid.
    """
    first, space, heuristic = found
    assert space is not None
    limits = options.active_limits
    nodes, spent = limits.max_expanded, first.costs.active_seconds
    left = None if nodes is None else max(nodes - first.expanded, 0)
    budget = replace(limits.after(spent), max_expanded=left).start()
    channel.set_time_limit(budget.left)

    def add_first(counts: Counts) -> Counts:
        return Counts(
            first.expanded + counts.expanded,
            first.generated + counts.generated,
            max(first.distinct, counts.distinct),
        )

    search = ShorterPlans(
        space, heuristic or RelaxedPlan(space), budget, lambda counts: channel.send(add_first(counts))
    )
    best, end = first, SearchStatus.SOLVED
    try:
        for weight in itertools.chain(WEIGHTS, itertools.repeat(WEIGHTS[-1])):
            end = search.next(weight, len(_plan(best.plan)))
            if end is not SearchStatus.SOLVED:
                break
            plan = eliminate_actions(space, _plan(search.run.plan()), lambda: budget.check(0) is None)
            with budget.pause():
                channel.set_time_limit(None)
                best = verify(replace(best, plan=plan))
            if best.status is not SearchStatus.SOLVED:
                break
            channel.set_time_limit(budget.left)
    except MemoryError:
        end = SearchStatus.MEMORY_LIMIT
    except EpigymError as error:
        end, best = SearchStatus.ERROR, replace(best, message=f"no search for shorter plans beyond this: {error}")
    best = replace(
        best,
        optimal=end is SearchStatus.UNSOLVABLE,
        **asdict(add_first(search.run.counts)),
    )
    return best.with_costs(search_seconds=first.costs.search_seconds + budget.seconds, peak_bytes=peak_bytes())


def _plan(found: tuple[str, ...] | None) -> tuple[str, ...]:
    assert found is not None
    return found
