"""Checks the result that a task has no plan with the reference, which shares no code with the core.

The reference explores the space breadth first and compares every e-state with that of the core, until all are checked
or a budget of successors is used up. The budget is counted, so that the result does not depend on the machine.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
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
from search.agents.limits import Budget, Limits
from search.agents.result import SearchResult

SPARE = 1_000
"""Successors that the reference may generate beyond those that the search generated."""
MOST = 10_000
"""Successors that the reference may generate in all."""
SLOW_SECONDS = 1.0
"""The reference stops at a successor that takes longer."""
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
        is_cut: whether the check stopped at a successor that takes more than `SLOW_SECONDS`.
    """

    checked: int
    known: int
    is_cut: bool = False

    def __str__(self) -> str:
        """`confirmed: all n e-states` or `checked m of n e-states`."""
        if self.checked == self.known:
            return f"confirmed: all {self.known} e-states"
        return f"checked {self.checked} of {self.known} e-states"


def confirm_unsolvable(task: Task, result: SearchResult, limits: Limits) -> Confirmation:
    """Check the result that a task has no plan.

    Args:
        task: the planning task.
        result: of the search. The reference generates at most `SPARE` successors more than the search, and `MOST` in
            all; a successor of a large e-state counts more than once. The e-states that the search reached are a lower
            bound of the size of the space.
        limits: their time limit is tested between two successors.

    Raises:
        RefutedError: when the goal holds in an e-state, or the reference sees other successors than the core.
    """
    budget = _SuccessorBudget(min(result.generated + SPARE, MOST), limits.start())
    space = StateSpace(task, consistent_beliefs=result.consistent_beliefs)
    checked = 0
    try:
        for _ in _explore(space, budget):
            checked += 1
    except _SpentError:
        return Confirmation(checked, max(result.distinct, len(space)), budget.is_cut)
    return Confirmation(checked, checked)


class _SpentError(Exception):
    """Raised when the budget is spent."""


class _SuccessorBudget:
    """The remaining successors and time; `is_cut` says whether a single successor exceeded the budget."""

    def __init__(self, successors: int, time: Budget) -> None:
        self.is_cut = False
        self._left, self._time = successors, time

    def take(self, successors: int) -> None:
        """Count work as so many successors; raises `_SpentError` when it exceeds the budget or `_LARGEST`."""
        self._left -= successors
        self.is_cut = successors > _LARGEST
        if self.is_cut or self._left < 0 or not self._time.left:
            raise _SpentError

    @contextmanager
    def successor(self, cost: int) -> Iterator[None]:
        """The same for a successor that a block generates; a slow block ends the check, too."""
        self.take(cost)
        start = perf_counter()
        yield
        if perf_counter() - start > SLOW_SECONDS:
            self.is_cut = True
            raise _SpentError


def _explore(space: StateSpace, budget: _SuccessorBudget) -> Iterator[int]:
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
    space: StateSpace, number: int, state: EState, budget: _SuccessorBudget
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
