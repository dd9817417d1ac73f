"""Checks the result that a task has no plan with the reference, which shares no code with the core.

The reference explores the space breadth first and compares every e-state with that of the core: all of them, or until
a number of successors is generated, or the check has taken as long as the search.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from math import inf
from time import perf_counter

from epigym.errors import EpigymError
from epigym.reference.semantics import (
    CanonicalForm,
    applicable_actions,
    apply,
    canonical,
    find_inconsistent_beliefs,
    subgoals,
)
from epigym.space.space import StateSpace
from epigym.task.task import Action, EState, Task
from search.agents.limits import Limits
from search.agents.result import SearchResult
from search.agents.run import REPORT_SECONDS

SPARE = 1_000
"""Successors that a bounded check may generate beyond those that the search generated."""
MOST = 10_000
"""Successors that a bounded check may generate in all."""
LEAST_SECONDS = 1.0
"""A bounded check may take as long as the search, and at least so many seconds."""
SLOW_SECONDS = 1.0
"""A bounded check stops at a successor that takes longer."""
_PAIRS = 500  # pairs of an edge in the e-state and one in the event model that count as a successor: about 1 ms
_ACTIONS = 16  # actions whose applicability counts as a successor
_LARGEST = int(1_000 * SLOW_SECONDS)  # a successor that counts more than so often is not generated


class RefutedError(EpigymError):
    """Raised when the reference contradicts the result that a task has no plan."""


@dataclass(frozen=True, slots=True)
class Confirmation:
    """The extent of a check.

    Attributes:
        checked: the number of e-states in which the goal does not hold and whose successors are those of the core.
        known: the number of e-states of the explored space.
        stop: where the check stopped before the end, such as `after 1.0 s`; empty when it did not, or still runs.
    """

    checked: int
    known: int
    stop: str = ""

    def __str__(self) -> str:
        """`confirmed: all n e-states`, or such as `checked m of n e-states, stopped after 1.0 s`."""
        if self.checked == self.known:
            return f"confirmed: all {self.known} e-states"
        checked = f"checked {self.checked} of {self.known} e-states"
        return f"{checked}, stopped {self.stop}" if self.stop else checked


def confirm_unsolvable(
    task: Task,
    result: SearchResult,
    limits: Limits | None = None,
    on_progress: Callable[[Confirmation], None] | None = None,
) -> Confirmation:
    """Check the result that a task has no plan.

    Args:
        task: the planning task.
        result: of the search. The e-states that it reached are a lower bound of the size of the space.
        limits: of a bounded check, which generates at most `SPARE` successors more than the search and `MOST` in all,
            where a successor of a large e-state counts more than once, and takes at most as long as the search or
            `LEAST_SECONDS`, within the time limit. None for a check of the whole space.
        on_progress: receives the extent of the check at most ten times a second.

    Raises:
        RefutedError: when the goal holds in an e-state, or the reference sees other successors than the core.
    """
    budget = _Budget(inf, inf, inf, inf)
    if limits is not None:
        seconds = max(result.costs.search_seconds, LEAST_SECONDS)
        seconds = seconds if limits.time_limit is None else min(seconds, limits.time_limit)
        budget = _Budget(min(result.generated + SPARE, MOST), seconds, _LARGEST, SLOW_SECONDS)
    space = StateSpace(task, consistent_beliefs=result.consistent_beliefs)
    checked, next_report = 0, perf_counter() + REPORT_SECONDS
    try:
        for _ in _explore(space, budget):
            checked += 1
            if on_progress is not None and perf_counter() >= next_report:
                on_progress(Confirmation(checked, max(result.distinct, len(space))))
                next_report = perf_counter() + REPORT_SECONDS
    except _SpentError as spent:
        return Confirmation(checked, max(result.distinct, len(space)), str(spent))
    return Confirmation(checked, checked)


class _SpentError(Exception):
    """Raised when the budget is spent; says where the check stops."""


class _Budget:
    """The remaining successors and time, and the largest and slowest successor."""

    def __init__(self, successors: float, seconds: float, largest: float, slow_seconds: float) -> None:
        self._successors, self._seconds = successors, seconds
        self._largest, self._slow_seconds = largest, slow_seconds
        self._left, self._end = successors, perf_counter() + seconds

    def take(self, successors: int) -> None:
        """Count work as so many successors; raises `_SpentError` when it exceeds the budget."""
        self._left -= successors
        if successors > self._largest:
            raise self._too_slow()
        if self._left < 0:
            raise _SpentError(f"after {self._successors} successors")
        if perf_counter() >= self._end:
            raise _SpentError(f"after {self._seconds:.1f} s")

    @contextmanager
    def successor(self, cost: int) -> Iterator[None]:
        """The same for a successor that a block generates; a slow block ends the check, too."""
        self.take(cost)
        start = perf_counter()
        yield
        if perf_counter() - start > self._slow_seconds:
            raise self._too_slow()

    def _too_slow(self) -> _SpentError:
        return _SpentError(f"at a successor of more than {self._slow_seconds:g} s")


def _explore(space: StateSpace, budget: _Budget) -> Iterator[int]:
    """Check e-states breadth first; yields each."""
    task = space.task
    budget.take(_edges(task.initial) // _PAIRS)
    numbers = {canonical(task.initial, task.fluents): space.initial}  # in the core, by canonical form
    reached = {space.initial}
    queue = deque([(space.initial, task.initial)])
    while queue:
        number, state = queue.popleft()
        for found, target, form in _successors(space, number, state, budget):
            if form not in numbers and found not in reached:
                numbers[form] = found
                reached.add(found)
                queue.append((found, target))
            elif numbers.get(form) != found:
                raise _contradiction(number)
        yield number


def _successors(
    space: StateSpace, number: int, state: EState, budget: _Budget
) -> Iterator[tuple[int, EState, CanonicalForm]]:
    """The successors of an e-state: number in the core, e-state and canonical form by the reference."""
    task = space.task
    budget.take(len(task.actions) // _ACTIONS)
    if all(subgoals(task, state)) or space.is_goal([number])[0]:
        raise RefutedError(f"the goal holds in e-state {number}")
    _, actions, targets, _ = space.expand([number])
    found = dict(zip(actions.tolist(), targets.tolist(), strict=True))
    edges = _edges(state)
    for place, is_allowed in enumerate(applicable_actions(task, state)):
        if is_allowed:
            action = task.actions[place]
            with budget.successor(1 + edges * _event_edges(action) // _PAIRS):
                target = apply(task, state, action)
                form = canonical(target, task.fluents)
            is_allowed = not (space.consistent_beliefs and any(find_inconsistent_beliefs(target)))
        if is_allowed != (place in found):
            raise _contradiction(number)
        if is_allowed:
            yield found[place], target, form


def _contradiction(number: int) -> RefutedError:
    return RefutedError(f"the reference sees other successors of e-state {number} than the core")


def _edges(state: EState) -> int:
    """The number of worlds and edges of an e-state; worlds with equal successors share edges."""
    return len(state.valuations) + sum(len(row) for rows in state.successors for row in set(rows))


def _event_edges(action: Action) -> int:
    """The number of events, and of edges of the observability type with the most edges."""
    return len(action.events) + max(sum(map(len, rows)) for rows in action.relations.values())
