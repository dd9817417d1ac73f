"""Exploring the state space of a training problem (paper, section 3.3).

`dfs` is the paper's depth-limited depth-first search with shuffled actions, random discards and a duplicate check;
`exhaustive` is breadth first. Both record every transition that they generate, for exact labels.

What `exhaustive` finds does not depend on the goal: it is kept in memory, and labelled for every goal by one backward
pass, which in Grapevine takes 1 µs of processor time for each e-state where exploring takes 16 µs. From a file, with
the ways to its e-states walked again, it would be there 2.5 to 5.5 times as fast as explored anew, but that is 0.1 to
1 s of a training on 30 drawn problems: no file is written.
"""

from __future__ import annotations

import atexit
import math
import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from epigym.errors import EpigymError
from epigym.names import unknown
from epigym.space.search_problem import SearchProblem, Source
from epigym.space.space import StateSpace, Transitions
from epigym.space.traversal import breadth_first
from epigym.task.task import Task
from learn.data.fingerprint import fingerprint_task
from learn.data.labels import UNREACHABLE, compute_goal_distances

EXPLORERS = ("auto", "dfs", "exhaustive")
_THREADS = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class NoGoalError(EpigymError):
    """No e-state that an explorer visited reaches a goal, so that there is nothing to label."""


OnVisit = Callable[[int], None]
"""Told now and then how many e-states have been visited."""


@dataclass(frozen=True, slots=True)
class ExplorerSettings:
    """How a state space is explored.

    Attributes:
        name: `dfs`, `exhaustive`, or `auto`: exhaustive when the whole space fits `max_visited`, else dfs.
        max_visited: at most so many e-states are visited (entered).
        max_kept: at most so many e-states with a finite label are kept, drawn at random when there are more.
        max_depth: `dfs` only: e-states at this depth are not expanded.
        discard_factor: `dfs` only: largest probability of discarding an e-state.
        seed: decides the order of actions, the discards and the draw.
        consistent_beliefs: whether e-states in which an agent believes everything are left out, see `StateSpace`.
    """

    name: str = "auto"
    max_visited: int = 100_000
    max_kept: int = 60_000
    max_depth: int = 25
    discard_factor: float = 0.4
    seed: int = 42
    consistent_beliefs: bool = False

    def __post_init__(self) -> None:
        """Check the values."""
        if self.name not in EXPLORERS:
            raise EpigymError(unknown("explorer", self.name, EXPLORERS))
        for name, least in (("max_visited", 1), ("max_kept", 1), ("max_depth", 1), ("seed", 0)):
            if getattr(self, name) < least:
                raise EpigymError(f"{name} must be at least {least}, got {getattr(self, name)}")
        if not 0 <= self.discard_factor <= 1:
            raise EpigymError(f"discard_factor is a probability, got {self.discard_factor}")


@dataclass(frozen=True, slots=True)
class Exploration:
    """The visited e-states, in the order in which they were entered, and every recorded transition.

    `dataclasses.replace` with a task that has another goal labels the same e-states for that.

    Attributes:
        task: the problem, with the goal of the labels.
        explorer: `dfs` or `exhaustive`.
        complete: whether these are all e-states that can be reached, with all their transitions.
        space: the state space, whose own goal is another or none; it may also hold successors that were generated but
            not visited.
        states: int32[v], ids of the visited e-states.
        depth: int32[v], number of actions from the initial e-state on the way taken.
        predecessor: int32[v], id of the e-state before, -1 for the initial one.
        action: int32[v], the action that led there, -1 for the initial one.
        source: int32[m], where each transition starts.
        target: int32[m], where each transition leads.
        distance: int32[v], transitions to the nearest goal in the recorded graph, `UNREACHABLE` if none.
    """

    task: Task
    explorer: str
    complete: bool
    space: StateSpace
    states: NDArray[np.int32]
    depth: NDArray[np.int32]
    predecessor: NDArray[np.int32]
    action: NDArray[np.int32]
    source: NDArray[np.int32]
    target: NDArray[np.int32]
    distance: NDArray[np.int32] = field(init=False)

    def __post_init__(self) -> None:
        """Label the states; successors that were generated but not visited count as part of the graph."""
        met = np.arange(len(self.space), dtype=np.int32)
        is_goal = self.space.query(self.task.goal)(met).all(axis=1)
        distances = compute_goal_distances(len(met), self.source, self.target, np.flatnonzero(is_goal))
        object.__setattr__(self, "distance", distances[self.states])

    @property
    def nbytes(self) -> int:
        """Memory held, in bytes."""
        arrays = (self.states, self.depth, self.predecessor, self.action, self.source, self.target, self.distance)
        return self.space.nbytes + sum(array.nbytes for array in arrays)


V = TypeVar("V")


class Newest(Generic[V]):
    """The values asked for or put in last, as many as fit.

    They are let go before the interpreter ends, as objects of the core have to be.

    Args:
        most: bytes that the values may take together.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._kept: dict[str, tuple[V, int]] = {}  # the newest last
        atexit.register(self.forget)

    def get(self, key: str) -> V | None:
        """The value of a key, if it is kept."""
        if key not in self._kept:
            return None
        self._kept[key] = self._kept.pop(key)
        return self._kept[key][0]

    def put(self, key: str, value: V, nbytes: int) -> None:
        """Keep a value that takes `nbytes`, if there is room for it when the oldest have given way."""
        self._kept.pop(key, None)
        if nbytes > self._most:
            return
        self._kept[key] = value, nbytes
        total = sum(size for _, size in self._kept.values())
        while total > self._most:
            total -= self._kept.pop(next(iter(self._kept)))[1]

    def forget(self) -> None:
        """Keep nothing any more."""
        self._kept.clear()


_explored: Newest[Exploration] = Newest(1 << 29)
"""What breadth-first search found, by what the tasks are without a goal; of parts of a space also by their size."""


def resolve(source: Source, settings: ExplorerSettings) -> tuple[Task, ExplorerSettings]:
    """The task of a source, and the settings, with consistent beliefs where the source has them.

    Raises:
        UsageError: when it is no source, see `SearchProblem.of`.
    """
    problem = SearchProblem.of(source)
    return problem.task, replace(
        settings, consistent_beliefs=settings.consistent_beliefs or problem.space.consistent_beliefs
    )


def explore(source: Source, settings: ExplorerSettings, on_visit: OnVisit = lambda visited: None) -> Exploration:
    """Explore the e-states that can be reached from a start, and label the visited ones with their distances.

    Args:
        source: the start and the goal, see `SearchProblem.of`; it is explored in a state space of its own, with all
            transitions, so the symmetries of a space are not used.
        settings: how to explore; `consistent_beliefs` also applies where the source's space sets it.
        on_visit: told how many e-states have been visited.

    Raises:
        UsageError: when it is no source.
    """
    task, settings = resolve(source, settings)
    if settings.name == "dfs":
        return _explore_depth_first(task, settings, on_visit)
    exploration = _explore_exhaustively(task, settings, on_visit)
    if settings.name == "exhaustive" or exploration.complete:
        return exploration
    return _explore_depth_first(task, settings, on_visit)


def keep(exploration: Exploration, settings: ExplorerSettings) -> NDArray[np.int64]:
    """int64[k]: positions of the visited e-states with a finite label, at most `max_kept`, ascending."""
    labelled = np.flatnonzero(exploration.distance != UNREACHABLE)
    if len(labelled) <= settings.max_kept:
        return labelled
    generator = np.random.default_rng(settings.seed)
    return np.sort(generator.choice(labelled, settings.max_kept, replace=False))


def require_goal(exploration: Exploration, kept: NDArray[np.integer]) -> None:
    """See that an explorer has found something to label.

    Raises:
        NoGoalError: when none of the e-states that it visited is kept.
    """
    if not len(kept):
        raise NoGoalError(
            f"no goal of {exploration.task.name!r} is among the {len(exploration.states)} e-states visited by the "
            f"explorer {exploration.explorer!r}: raise max_visited or max_depth, or leave the problem out"
        )


def is_sparse(action_count: int, max_depth: int, max_visited: int) -> bool:
    """Whether `dfs` discards e-states: a full tree of that depth has more than 3 `max_visited` nodes."""
    if action_count < 2:
        return False
    return (max_depth + 1) * math.log(action_count) - math.log(action_count - 1) > math.log(3 * max_visited)


def compute_discard_probability(
    settings: ExplorerSettings, *, depth: int, visited: int, expanded: int, goal_found: bool
) -> float:
    """The probability that a sparse `dfs` discards an e-state instead of expanding it.

    Args:
        settings: of the explorer.
        depth: of the e-state.
        visited: number of e-states visited so far.
        expanded: number of expansions since the last discard.
        goal_found: whether a goal was entered since the last discard.
    """
    return min(
        settings.discard_factor,
        0.2 * (depth / settings.max_depth) ** 2
        + 0.2 * visited / settings.max_visited
        + min(0.1, 0.01 * (expanded / (3 * settings.max_depth)) ** 2)
        + 0.2 * goal_found,
    )


def _explore_exhaustively(task: Task, settings: ExplorerSettings, on_visit: OnVisit) -> Exploration:
    """What breadth-first search finds, or found under another goal."""
    without_goal = replace(task, goal=())
    key = f"{fingerprint_task(without_goal)} {settings.consistent_beliefs}"
    key_of_part = f"{key} {settings.max_visited}"
    known = _explored.get(key)
    if known is None or len(known.states) > settings.max_visited:
        known = _explored.get(key_of_part)
    if known is not None:
        on_visit(len(known.states))
        return replace(known, task=task)
    exploration = _explore_breadth_first(
        task, StateSpace(without_goal, consistent_beliefs=settings.consistent_beliefs), settings.max_visited, on_visit
    )
    if exploration.complete or settings.name == "exhaustive":
        _explored.put(key if exploration.complete else key_of_part, exploration, exploration.nbytes)
    return exploration


def _explore_breadth_first(task: Task, space: StateSpace, max_visited: int, on_visit: OnVisit) -> Exploration:
    """In a fresh space ids count up in the order of discovery."""
    recorded: list[Transitions] = []
    depths = [np.zeros(1, dtype=np.int32)]
    expanded = 0
    for wave in breadth_first(space, threads=_THREADS):
        recorded.append(wave.transitions)
        depths.append(np.full(len(wave.fresh), wave.depth + 1, dtype=np.int32))
        expanded += wave.expanded
        on_visit(min(len(space), max_visited))
        if len(space) > max_visited:
            break
    count = min(len(space), max_visited)
    source = _join(transitions.source for transitions in recorded)
    is_new = np.concatenate([np.empty(0, dtype=np.bool_), *(transitions.is_new for transitions in recorded)])
    action = _join(transitions.action for transitions in recorded)
    root = np.array([-1], dtype=np.int32)
    return Exploration(
        task=task,
        explorer="exhaustive",
        complete=expanded == len(space),
        space=space,
        states=np.arange(count, dtype=np.int32),
        depth=np.concatenate(depths)[:count],
        predecessor=np.append(root, source[is_new])[:count],
        action=np.append(root, action[is_new])[:count],
        source=source,
        target=_join(transitions.target for transitions in recorded),
    )


def _explore_depth_first(task: Task, settings: ExplorerSettings, on_visit: OnVisit) -> Exploration:
    space = StateSpace(task, consistent_beliefs=settings.consistent_beliefs)
    generator = np.random.default_rng(settings.seed)
    sparse = is_sparse(len(task.actions), settings.max_depth, settings.max_visited)
    complete, goal_found, expanded = True, False, 0
    stack = [(space.initial, 0, -1, -1)]
    entered: dict[int, tuple[int, int, int]] = {}
    recorded: list[Transitions] = []
    while stack and len(entered) < settings.max_visited:
        state, depth, predecessor, action = stack.pop()
        if state in entered:
            continue
        entered[state] = (depth, predecessor, action)
        on_visit(len(entered))
        goal_found |= bool(space.is_goal([state])[0])
        if depth == settings.max_depth:
            complete = False
            continue
        if sparse and generator.random() < compute_discard_probability(
            settings, depth=depth, visited=len(entered), expanded=expanded, goal_found=goal_found
        ):
            complete, goal_found, expanded = False, False, 0
            continue
        found = space.expand([state])
        expanded += 1
        recorded.append(found)
        order = generator.permutation(len(found.target))
        steps = zip(found.target[order].tolist(), found.action[order].tolist(), strict=True)
        stack.extend((target, depth + 1, state, step) for target, step in steps if target not in entered)
    depths, predecessors, actions = np.array(list(entered.values()), dtype=np.int32).T
    return Exploration(
        task=task,
        explorer="dfs",
        complete=complete and not any(state not in entered for state, *_ in stack),
        space=space,
        states=np.array(list(entered), dtype=np.int32),
        depth=depths,
        predecessor=predecessors,
        action=actions,
        source=_join(transitions.source for transitions in recorded),
        target=_join(transitions.target for transitions in recorded),
    )


def _join(columns: Iterable[NDArray[np.int32]]) -> NDArray[np.int32]:
    return np.concatenate([np.empty(0, dtype=np.int32), *columns])
