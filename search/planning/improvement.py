"""From a plan to shorter ones, until there is none or a limit is reached."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import replace

from epigym.errors import EpigymError
from epigym.space.space import StateSpace
from search.agents.anytime import ShorterPlans
from search.agents.limits import Limits, peak_bytes
from search.agents.result import SearchResult, SearchStatus
from search.heuristics.belief_relaxation import RelaxedPlan
from search.heuristics.heuristic import Heuristic
from search.planning.action_elimination import eliminate_actions
from search.processes.channel import NO_CHANNEL, ProgressChannel

WEIGHTS = (5.0, 3.0, 2.0, 1.0)
"""Of the searches for the next plan, the one after it, …; the last one stays."""


def improve_plan(
    space: StateSpace,
    heuristic: Heuristic | None,
    limits: Limits,
    first: SearchResult,
    verified: Callable[[SearchResult], SearchResult],
    channel: ProgressChannel = NO_CHANNEL,
) -> SearchResult:
    """Leave redundant actions out of a plan, then search for shorter ones with weighted A* in the same state space.

    Args:
        space: explored by the first search.
        heuristic: guides the search; `h_ff` where there is none.
        limits: for the first search and this one together; as there, re-executing plans takes nothing of them.
        first: the result with the first plan, and with the question that it answers.
        verified: re-executes the plan of a result; called with ever shorter plans.
        channel: sees to it that the time limit holds.

    Returns:
        The result with the best plan and what it took in all; its status is `error` when a plan is not valid.
    """
    nodes, spent = limits.max_expanded, first.costs.build_seconds + first.costs.search_seconds
    left = None if nodes is None else max(nodes - first.expanded, 0)
    budget = replace(limits.after(spent), max_expanded=left).start()
    channel.set_time_limit(budget.left)
    search = ShorterPlans(space, heuristic or RelaxedPlan(space), budget)
    best, end = first, SearchStatus.SOLVED
    try:
        plan = eliminate_actions(space, _plan(first.plan), budget)
        for weight in itertools.chain(WEIGHTS, itertools.repeat(WEIGHTS[-1])):
            if len(plan) < len(_plan(best.plan)):
                with budget.pause():
                    channel.set_time_limit(None)
                    best = verified(replace(best, plan=plan))
                channel.set_time_limit(budget.left)
            end = search.next(weight, len(plan)) if best.status is SearchStatus.SOLVED else best.status
            if end is not SearchStatus.SOLVED:
                break
            plan = eliminate_actions(space, _plan(search.run.plan()), budget)
    except MemoryError:
        end = SearchStatus.MEMORY_LIMIT
    except EpigymError as error:
        end, best = SearchStatus.ERROR, replace(best, message=f"no search for shorter plans beyond this: {error}")
    best = replace(
        best,
        optimal=end is SearchStatus.UNSOLVABLE,
        expanded=first.expanded + search.run.expanded,
        generated=first.generated + search.run.generated,
        distinct=max(first.distinct, search.run.distinct),
    )
    return best.spending(search_seconds=first.costs.search_seconds + budget.seconds, peak_bytes=peak_bytes())


def _plan(found: tuple[str, ...] | None) -> tuple[str, ...]:
    assert found is not None
    return found
