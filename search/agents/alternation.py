"""`alternation`: greedy best-first search with several open lists that take turns.

Source: Röger, Helmert, "The More, the Merrier: Combining Heuristic Estimators for Satisficing Planning" (ICAPS 2010)
for the alternation; Lipovetzky, Geffner, "Best-First Width Search" (AAAI 2017) for novelty; Wissow, Asai,
"Scale-Adaptive Balancing of Exploration and Exploitation in Classical Planning" (2023) for the tree search GUCT.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import cycle, islice
from math import inf, log, sqrt
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray
from xxhash import xxh3_64_intdigest

from epigym.errors import UsageError
from epigym.features.relaxation import Relaxation, Relaxed
from epigym.space.space import StateSpace
from search.agents.agent import Agent, Steps
from search.agents.best_first import round_to_thousandths, score_in_thousandths
from search.agents.novelty import NoveltyByGoalCount
from search.agents.preferred import map_to_representatives, split_by_state
from search.agents.result import SearchStatus
from search.agents.run import SearchRun
from search.heuristics.goal_count import SplitGoalCount
from search.heuristics.heuristic import Heuristic

OpenListName = Literal["value", "h_add", "preferred", "preferred_h_add", "novelty", "novelty_h_add", "explore"]
_ALL: tuple[OpenListName, ...] = get_args(OpenListName)
_BONUS = 0.5  # of children with few visits, as a share of the spread of their siblings' values

_RELAXING = {"h_add", "preferred", "preferred_h_add", "novelty_h_add"}

Rank = tuple[float, ...]
Tie = tuple[int, int]


@dataclass(frozen=True)
class Alternation(Agent):
    """Expands the best e-state of each open list in turn; an empty list passes.

    The open lists and their orders:

    - `value`: lowest value of the heuristic;
    - `h_add`: lowest additive cost in the relaxation over belief literals;
    - `preferred`, `preferred_h_add`: the same two orders, for e-states reached by a preferred action of that
      relaxation;
    - `novelty`, `novelty_h_add`: novelty among the e-states with the same goal count over split subgoals, then the
      lowest count, then the same two orders;
    - `explore`: a Monte-Carlo tree search for lowest values, see `_Tree`.

    Every e-state is expanded once. Lists of preferred actions hold no other e-states, unless all lists are of this
    kind: then the other e-states follow behind, so that the search is complete. Where the relaxation is infinite at
    the initial e-state, the lists that use it are omitted; if none remains, one list by the goal count over split
    subgoals replaces them.

    Attributes:
        lists: the open lists in the order of their turns.
        seed: breaks ties: 0 by the order of discovery, any other number by a pseudo-random number of the seed and the
            position in that order.
    """

    name = "alternation"
    is_informed = True

    lists: Sequence[OpenListName] = _ALL
    seed: int = 0

    def __post_init__(self) -> None:
        """Refuse an empty list of open lists, and one that names a list twice."""
        if not self.lists:
            raise UsageError(f"agent {self.name!r}: lists is empty: name one of {', '.join(_ALL)}")
        for name in self.lists:
            if self.lists.count(name) > 1:
                raise UsageError(f"agent {self.name!r}: lists names {name!r} twice")

    def search(self, run: SearchRun) -> Steps:
        """Search with the open lists."""
        estimators = _Estimators(run, run.heuristic)
        lists = self._make_open_lists(run.space, estimators)
        turns = cycle(lists)
        expanded: set[int] = set()
        ids = run.root
        while True:
            if len(ids):
                new, ties = _NewStates(estimators, ids), [self._break_tie(number) for number in run.number(ids)]
                for open_list in lists:
                    open_list.add(new, ties)
            popped = (each.pop(expanded) for each in islice(turns, len(lists)))
            state = next((state for state in popped if state is not None), None)
            if state is None:
                return SearchStatus.UNSOLVABLE
            yield
            expanded.add(state)
            ids = run.expand(np.array([state], dtype=np.int32))
            if run.goal is not None:
                return SearchStatus.SOLVED

    def _make_open_lists(self, space: StateSpace, estimators: _Estimators) -> list[_OpenList | _Tree]:
        """Make the open lists, without those that need the relaxation where it is infinite."""
        names = list(self.lists)
        if not _RELAXING.isdisjoint(names) and estimators.relaxation.is_uninformative(space.initial):
            names = [name for name in names if name not in _RELAXING]
            if not names:
                names, estimators.heuristic = ["value"], SplitGoalCount(space)
        with_rest = all(name.startswith("preferred") for name in names)
        return [_Tree() if name == "explore" else _OpenList(_choose_order(name, with_rest)) for name in names]

    def _break_tie(self, number: int) -> Tie:
        """The tie-breaker, lowest first, of the e-state at a position in the order of discovery."""
        return (xxh3_64_intdigest(b"%d %d" % (self.seed, number)) if self.seed else 0, number)


class _Estimators:
    """The estimators of one search; each is made at its first use."""

    def __init__(self, run: SearchRun, heuristic: Heuristic) -> None:
        self.run = run
        self.heuristic = heuristic
        self.preferred: dict[int, list[int]] = {}  # of e-states that are not expanded yet

    @cached_property
    def relaxation(self) -> Relaxation:
        """The relaxation of the space."""
        return Relaxation(self.run.space)

    @cached_property
    def novelty(self) -> NoveltyByGoalCount:
        """The ranks by novelty and goal count."""
        return NoveltyByGoalCount(self.run.space)


class _NewStates:
    """The new e-states of one expansion; each estimate of them is computed at its first use.

    Args:
        estimators: those of the search.
        ids: int32[k], the e-states, all with the same parent; or the initial one.
    """

    def __init__(self, estimators: _Estimators, ids: NDArray[np.int32]) -> None:
        self.ids = ids
        self.parents, self.actions = estimators.run.parent_pointers(ids)
        self._estimators = estimators

    @cached_property
    def values(self) -> list[float]:
        """Their values by the agent's heuristic, in thousandths."""
        heuristic = self._estimators.heuristic
        values: list[float] = score_in_thousandths(heuristic, self.ids, self.parents, self.actions).tolist()
        return values

    @cached_property
    def relaxed(self) -> Relaxed:
        """Their relaxations."""
        return self._estimators.relaxation(self.ids)

    @cached_property
    def h_add(self) -> list[float]:
        """Their additive costs, in thousandths."""
        costs: list[float] = round_to_thousandths("h_add", self.ids, self.relaxed.h_add).tolist()
        return costs

    @cached_property
    def is_preferred(self) -> list[bool]:
        """Whether each was reached by a preferred action of its parent."""
        preferred = self._estimators.preferred
        preferred.update(split_by_state(self.ids, self.relaxed.preferred_ptr, self.relaxed.preferred))
        parent = int(self.parents[0])
        tried = frozenset(map_to_representatives(self._estimators.run.space, parent, preferred.pop(parent, [])))
        return [action in tried for action in self.actions.tolist()]

    @cached_property
    def novelty(self) -> list[float]:
        """Their ranks by novelty and goal count."""
        ranks: list[float] = self._estimators.novelty(self.ids).tolist()
        return ranks


_Order = Callable[[_NewStates], Iterable[Rank | None]]
"""The ranks of e-states in an open list, lowest first; None for an e-state that the list does not hold."""


class _OpenList:
    """E-states by rank and tie-breaker, lowest first."""

    def __init__(self, order: _Order) -> None:
        self._order = order
        self._heap: list[tuple[Rank, Tie, int]] = []

    def add(self, new: _NewStates, ties: list[Tie]) -> None:
        """Add e-states with their tie-breakers, except those without a rank."""
        for rank, tie, state in zip(self._order(new), ties, new.ids.tolist(), strict=True):
            if rank is not None:
                heapq.heappush(self._heap, (rank, tie, state))

    def pop(self, expanded: Collection[int]) -> int | None:
        """Remove the first e-state that is not expanded; None when there is none."""
        while self._heap:
            _, _, state = heapq.heappop(self._heap)
            if state not in expanded:
                return state
        return None


@dataclass(slots=True, eq=False)
class _TreeNode:
    """An e-state in the tree of parent pointers.

    Attributes:
        value: the lowest value below the node; before it is expanded, its own.
        visits: one more than the number of expansions at or below the node that have reached new e-states.
        children: the children below which some e-state is not expanded.
    """

    state: int
    parent: _TreeNode | None
    value: float
    visits: int = 1
    children: list[_TreeNode] = field(default_factory=list)


class _Tree:
    """Descends from the root to an e-state that is not expanded, at each node to the child that UCB1 selects.

    UCB1 minimizes the value of a child, relative to the spread of its siblings' values, minus a bonus for few visits.
    The expansions of all open lists are backed up if they reach new e-states.
    """

    def __init__(self) -> None:
        self._nodes: dict[int, _TreeNode] = {}  # not expanded, or with children
        self._root: _TreeNode | None = None

    def add(self, new: _NewStates, ties: list[Tie]) -> None:
        """Add e-states below their parent."""
        parent = self._nodes.get(int(new.parents[0]))
        for state, value in zip(new.ids.tolist(), new.values, strict=True):
            node = self._nodes[state] = _TreeNode(state, parent, value)
            if parent is not None:
                parent.children.append(node)
            else:
                self._root = node
        if parent is not None:
            self._back_up(parent)

    def pop(self, expanded: Collection[int]) -> int | None:
        """The e-state at the end of a descent; None when all are expanded."""
        while (node := self._root) is not None:
            while node.state in expanded and node.children:
                node = _select_child(node)
            if node.state not in expanded:
                return node.state
            self._remove(node)
        return None

    def _remove(self, node: _TreeNode) -> None:
        """Remove a node whose subtree is expanded, and each ancestor without further children."""
        while (parent := node.parent) is not None:
            del self._nodes[node.state]
            parent.children.remove(node)
            if parent.children:
                self._back_up(parent, 0)
                return
            node = parent
        del self._nodes[node.state]
        self._root = None

    @staticmethod
    def _back_up(node: _TreeNode | None, visits: int = 1) -> None:
        is_changed = True  # the value of a child
        while node is not None:
            node.visits += visits
            if is_changed:
                before, node.value = node.value, min([child.value for child in node.children])
                is_changed = node.value != before
            node = node.parent


def _select_child(node: _TreeNode) -> _TreeNode:
    finite = [child.value for child in node.children if child.value < inf]
    least = min(finite, default=0.0)
    spread = max(finite, default=0.0) - least or 1.0

    def rank(child: _TreeNode) -> float:
        return min((child.value - least) / spread, 1.0) - _BONUS * sqrt(log(node.visits) / child.visits)

    return min(node.children, key=rank)


def _choose_order(name: str, with_rest: bool) -> _Order:
    """The order of an open list; a list of preferred actions omits the other e-states, or ranks them behind."""

    def costs(new: _NewStates) -> list[float]:
        return new.h_add if name.endswith("h_add") else new.values

    def rank_preferred(new: _NewStates) -> Iterator[Rank | None]:
        for is_preferred, cost in zip(new.is_preferred, costs(new), strict=True):
            yield (not is_preferred, cost) if is_preferred or with_rest else None

    if name.startswith("preferred"):
        return rank_preferred
    if name.startswith("novelty"):
        return lambda new: zip(new.novelty, costs(new), strict=True)
    return lambda new: zip(costs(new), strict=True)
