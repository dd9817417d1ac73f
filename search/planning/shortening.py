"""Shortens the plan of a search with a share of the work that the search took.

Redundant actions are removed first. Then all windows of the plan are planned again at once: a breadth-first search from
the e-states of the plan finds shorter ways to later ones, or to another goal.

Source: Nakhost, Müller, "Action Elimination and Plan Neighborhood Graph Search" (ICAPS 2010).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Sequence
from contextlib import suppress
from dataclasses import replace

from epigym.errors import EpigymError, TaskError
from epigym.space.space import StateSpace
from search.agents.interleaved import TURN, Work
from search.agents.limits import Limits, memory_bytes, peak_bytes
from search.agents.result import SearchResult, SearchStatus
from search.planning.action_elimination import Steps, execute_plan, name_actions, remove_redundant_steps
from search.planning.single_search import FinishedSearch

SHARE = 0.2
"""The share of the search's work that shortens its plan."""
MOST_SECONDS = 1.0
"""Shortening stops after so many seconds even if work is left, and after a fifth of the time left for the search."""
_MEMORY_SHARE = 0.9  # of the memory limit: a process that exceeds the limit is killed and its plan is lost
_EXECUTION = 10.0  # work of executing an action without its successor

Edges = dict[int, Steps]
"""For e-states the actions that lead on, each with its successor."""


class Allowance:
    """The work and the limits of shortening; work is counted as by `Work`, so plans do not depend on the machine.

    Args:
        space: the space after the search.
        expanded: e-states that the search has expanded.
        limits: the rest of the search's limits.
        share: the share of the search's work.
    """

    def __init__(self, space: StateSpace, expanded: int, limits: Limits, share: float = SHARE) -> None:
        self._work, self._budget = Work(space), limits.start()
        self._before = self._work.measure()
        self._expanded = self._executed = 0
        self.most = share * (self._before + TURN * expanded)
        self.limit: SearchStatus | None = None
        """The limit that ended shortening before its work was spent."""

    @property
    def spent(self) -> float:
        """The work until now."""
        return self._work.measure() - self._before + TURN * self._expanded + _EXECUTION * self._executed

    @property
    def seconds(self) -> float:
        """The time until now."""
        return self._budget.seconds

    def may_expand(self) -> bool:
        """Whether one more e-state may be expanded, which is counted."""
        self._expanded += (is_allowed := self._has_left())
        return is_allowed

    def may_execute(self) -> bool:
        """Whether one more action may be executed, which is counted."""
        self._executed += (is_allowed := self._has_left())
        return is_allowed

    def _has_left(self) -> bool:
        self.limit = self._budget.check(self._expanded)
        return self.limit is None and self.spent < self.most


def shorten_result(found: FinishedSearch, limits: Limits, seconds: float) -> SearchResult:
    """Shorten the plan of a search in the space that it explored.

    Args:
        found: a result with a plan, and the space.
        limits: of the search. Shortening takes place within the rest of them: at most `MOST_SECONDS`, at most a share
            of the time, so that validating the plan has the rest where it is limited, and less than the memory.
        seconds: since the start of the search.

    Returns:
        The result with the shorter plan and the costs of shortening; its history begins with the first plan. Without a
        shorter plan, and when the plan is not valid in `space`, the plan stays.
    """
    result, space, _ = found
    assert space is not None
    assert result.plan is not None
    allowance = Allowance(space, result.expanded, _limit_shortening(limits, result))
    plan = shorten_plan(space, result.plan, allowance)
    if len(plan) < len(result.plan):
        result = replace(result, plan=plan, history=((len(result.plan), seconds),))
    if allowance.limit in (SearchStatus.TIME_LIMIT, SearchStatus.MEMORY_LIMIT):  # depends on the machine
        note = f"shortening stopped after {allowance.seconds:.1f} s ({allowance.limit})"
        result = replace(result, message="; ".join(filter(None, (result.message, note))))
    return result.with_costs(shortening_seconds=allowance.seconds, peak_bytes=peak_bytes())


def _limit_shortening(limits: Limits, result: SearchResult) -> Limits:
    left = limits.after(result.costs.active_seconds).time_limit
    nodes, memory = limits.max_expanded, limits.memory_limit
    return Limits(
        max_expanded=None if nodes is None else max(nodes - result.expanded, 0),
        time_limit=MOST_SECONDS if left is None else min(SHARE * left, MOST_SECONDS),
        memory_limit=None if memory is None else int(_MEMORY_SHARE * memory_bytes(memory)),
    )


def shorten_plan(space: StateSpace, plan: Sequence[str], allowance: Allowance) -> tuple[str, ...]:
    """Shorten a plan until the allowance is spent; a plan that does not reach a goal in `space` stays as it is."""
    best: Steps | None = None
    with suppress(EpigymError, MemoryError):
        best = execute_plan(space, plan, allowance.may_execute)
        if best is not None:
            best = remove_redundant_steps(space, best, allowance.may_execute)
            best = replan_windows(space, best, allowance)
    return tuple(plan) if best is None else name_actions(space, best)


def replan_windows(space: StateSpace, steps: Steps, allowance: Allowance) -> Steps:
    """Expand the e-states around a plan breadth first; returns a shortest plan of this part of the space.

    The n-th round of expansions covers all windows of n + 1 actions.

    Args:
        space: the state space.
        steps: a plan.
        allowance: ends the expansions.

    Returns:
        A shorter plan, or else `steps`.
    """
    edges, state, expanded, is_over = Edges(), space.initial, set[int](), False
    for action, target in steps:
        edges.setdefault(state, []).append((action, target))
        state = target
    goals = {state}
    while True:
        best, depths = _find_shortest(edges, space.initial, goals)
        layer = [each for each, depth in depths.items() if each not in expanded and depth + 1 < len(best)]
        if is_over or not layer:
            return best if len(best) < len(steps) else steps
        for state in layer:
            if is_over := not allowance.may_expand():
                break
            expanded.add(state)
            with suppress(TaskError):  # designated worlds disagree about an observability type
                _, actions, targets, _ = space.expand([state], stop_at_goal=True)
                edges.setdefault(state, []).extend(zip(actions.tolist(), targets.tolist(), strict=True))
                if len(targets) and space.is_goal(targets[-1:])[0]:
                    goals.add(int(targets[-1]))


def _find_shortest(edges: Edges, root: int, goals: Collection[int]) -> tuple[Steps, dict[int, int]]:
    """A shortest path to a goal, and the depths of the e-states that are not deeper."""
    before, depths, queue = dict[int, tuple[int, int]](), {root: 0}, deque([root])
    while (state := queue.popleft()) not in goals:
        for action, target in edges.get(state, ()):
            if target not in depths:
                depths[target], before[target] = depths[state] + 1, (state, action)
                queue.append(target)
    steps = Steps()
    while state != root:
        parent, action = before[state]
        steps.append((action, state))
        state = parent
    return steps[::-1], depths
