"""`mix`: greedy best-first search that takes its next e-state from several queues in turn, each with its own order.

Source: Röger, Helmert, "The More, the Merrier: Combining Heuristic Estimators for Satisficing Planning" (ICAPS 2010)
for the turns; Lipovetzky, Geffner, "Best-First Width Search" (AAAI 2017) for novelty.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import cycle, islice
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray
from xxhash import xxh3_64_intdigest

from epigym.errors import UsageError
from epigym.features.relaxation import Relaxation, Relaxed
from epigym.space.space import StateSpace
from search.agents.agent import Agent
from search.agents.best_first import given, scored, thousandths
from search.agents.novelty import NovelParts
from search.agents.preferring import by_state, tried_for
from search.agents.result import SearchStatus
from search.agents.run import SearchRun
from search.heuristics.heuristic import Heuristic
from search.heuristics.open_goals import DividedGoals

QueueName = Literal["score", "h_add", "helpful", "novel"]

_RELAXING = {"h_add", "helpful"}

Rank = tuple[float, ...]


@dataclass(frozen=True)
class Mix(Agent):
    """Expands in turn the best e-state of each queue, one a round; a queue with nothing left to expand passes.

    The queues, by what comes first in them:

    - `score`: lowest score of the heuristic given;
    - `h_add`: lowest additive cost in the relaxation over belief literals;
    - `helpful`: lowest score, of what a helpful action of that relaxation reached;
    - `novel`: what is new among the e-states with as many open parts of the goal, then fewest of these, then lowest
      score.

    Every e-state is expanded once. All queues but `helpful` hold all e-states, and so does that one where it is alone,
    with what no helpful action reached behind the rest: the search is complete. Where the relaxation is blind for the
    problem, its two queues are left out, and if no other was asked for, there is one by the score of `divided_goals`.

    Attributes:
        queues: which, in the order of their turns.
        seed: what decides between e-states that a queue ranks alike: 0 the lowest id, any other number a pseudo-random
            number of it and the e-state.
    """

    name = "mix"
    is_informed = True

    queues: Sequence[QueueName] = get_args(QueueName)
    seed: int = 0

    def __post_init__(self) -> None:
        """Refuse what is no choice of queues."""
        if not self.queues:
            raise UsageError(f"agent {self.name!r}: queues is empty: name one of {', '.join(get_args(QueueName))}")
        for queue in self.queues:
            if self.queues.count(queue) > 1:
                raise UsageError(f"agent {self.name!r}: queues names {queue!r} twice")

    def _search(self, run: SearchRun, heuristic: Heuristic | None) -> SearchStatus:
        estimates = _Estimates(run, given(self.name, heuristic))
        queues = [_Queue(ranks) for ranks in self._orders(run.space, estimates)]
        turns = cycle(queues)
        expanded: set[int] = set()
        fresh = run.root
        while True:
            if len(fresh):
                met, ties = _Met(estimates, fresh), self._ties(fresh)
                for queue in queues:
                    queue.add(met, ties)
            state = _first(islice(turns, len(queues)), expanded)
            if state is None:
                return SearchStatus.UNSOLVABLE
            if limit := run.budget.exceeded(run.expanded):
                return limit
            expanded.add(state)
            fresh = run.expand(np.array([state], dtype=np.int32))
            if run.goal is not None:
                return SearchStatus.SOLVED

    def _orders(self, space: StateSpace, estimates: _Estimates) -> list[_Order]:
        """Those of the queues asked for, less what the relaxation is blind for."""
        names = list(self.queues)
        if not _RELAXING.isdisjoint(names) and estimates.relaxation.is_blind(space.initial):
            names = [name for name in names if name not in _RELAXING]
            if not names:
                names, estimates.heuristic = ["score"], DividedGoals(space)
        return [_order(name, space, is_alone=len(names) == 1) for name in names]

    def _ties(self, ids: NDArray[np.int32]) -> list[int]:
        """Of equals the lowest comes first, and then the lowest id."""
        return [xxh3_64_intdigest(b"%d %d" % (self.seed, state)) if self.seed else 0 for state in ids.tolist()]


class _Estimates:
    """What queues can ask for; what none does is never made.

    Args:
        run: the search.
        heuristic: the one given.
    """

    def __init__(self, run: SearchRun, heuristic: Heuristic) -> None:
        self.run = run
        self.heuristic = heuristic

    @cached_property
    def relaxation(self) -> Relaxation:
        """That of the space."""
        return Relaxation(self.run.space)


class _Met:
    """The e-states that one expansion met first, each estimate of which is computed once, when a queue first asks.

    Args:
        estimates: what can be asked for.
        ids: int32[k], the e-states, reached from the same one; or the initial one.
    """

    def __init__(self, estimates: _Estimates, ids: NDArray[np.int32]) -> None:
        self.ids = ids
        self.parents, self.actions = estimates.run.ways(ids)
        self._estimates = estimates

    @cached_property
    def scores(self) -> NDArray[np.float64]:
        """float64[k]: by the heuristic given, in thousandths."""
        return scored(self._estimates.heuristic, self.ids, self.parents, self.actions)

    @cached_property
    def relaxed(self) -> Relaxed:
        """Their relaxations."""
        return self._estimates.relaxation(self.ids)


_Order = Callable[[_Met], Iterable[Rank | None]]
"""The ranks of e-states in a queue, lowest first; None for what it does not hold."""


class _Queue:
    """E-states by rank, tie-breaker and id, lowest first.

    Args:
        order: what ranks them.
    """

    def __init__(self, order: _Order) -> None:
        self._order = order
        self._heap: list[tuple[Rank, int, int]] = []

    def add(self, met: _Met, ties: list[int]) -> None:
        """Put in what the queue holds of e-states, with tie-breakers."""
        for rank, tie, state in zip(self._order(met), ties, met.ids.tolist(), strict=True):
            if rank is not None:
                heapq.heappush(self._heap, (rank, tie, state))

    def pop(self, expanded: Collection[int]) -> int | None:
        """Take out the first e-state that is not expanded; None where there is none."""
        while self._heap:
            _, _, state = heapq.heappop(self._heap)
            if state not in expanded:
                return state
        return None


def _first(queues: Iterator[_Queue], expanded: Collection[int]) -> int | None:
    """What the first queue has that does not pass, the others left untouched; None where all do."""
    return next((state for queue in queues if (state := queue.pop(expanded)) is not None), None)


def _order(name: QueueName, space: StateSpace, is_alone: bool) -> _Order:
    if name == "score":
        return lambda met: zip(met.scores.tolist(), strict=True)
    if name == "h_add":
        return lambda met: zip(thousandths(name, met.ids, met.relaxed.h_add).tolist(), strict=True)
    if name == "helpful":
        return _Helpful(space, is_alone)
    novel_parts = NovelParts(space)
    return lambda met: zip(novel_parts(met.ids).tolist(), met.scores.tolist(), strict=True)


class _Helpful:
    """Ranks by score what a helpful action reached.

    Args:
        space: where the e-states live.
        with_rest: whether to rank, behind that, what none reached.
    """

    def __init__(self, space: StateSpace, with_rest: bool) -> None:
        self._space = space
        self._with_rest = with_rest
        self._helpful: dict[int, list[int]] = {}

    def __call__(self, met: _Met) -> Iterator[Rank | None]:
        self._helpful.update(by_state(met.ids, met.relaxed.helpful_ptr, met.relaxed.helpful))
        parent = int(met.parents[0])
        liked = tried_for(self._space, parent, self._helpful.pop(parent, []))
        for action, score in zip(met.actions.tolist(), met.scores.tolist(), strict=True):
            is_rest = action not in liked
            yield None if is_rest and not self._with_rest else (is_rest, score)
