"""Exploration of the state space of a training problem (paper, section 3.3).

`dfs` is the paper's depth-limited depth-first search with shuffled actions, random discards and a duplicate check;
`exhaustive` is breadth-first search. Both record every transition that they generate, for exact labels.

The result of `exhaustive` does not depend on the goal. It is cached in memory and labelled for each goal by one
backward pass; in Grapevine the pass takes 1 µs of processor time per e-state, exploration 16 µs. Loading explorations
from files would be 2.5 to 5.5 times as fast as exploring again, but would save only 0.1 to 1 s of a training on 30
sampled problems, so none are written.
"""

from __future__ import annotations

import atexit
import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Generic, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from epigym.config.values import Count, Natural, Share
from epigym.errors import EpigymError
from epigym.space import ragged
from epigym.space.search_problem import SearchProblem, Source
from epigym.space.space import StateSpace, Transitions
from epigym.space.traversal import CHUNK, breadth_first
from epigym.task.task import Task
from learn.data.fingerprint import fingerprint_task
from learn.data.labels import UNREACHABLE, Label, compute_goal_distances


class NoGoalError(EpigymError):
    """Raised when no visited e-state reaches a goal, so there is nothing to label."""


OnVisit = Callable[[int], None]
"""Called from time to time with the number of e-states visited."""


@dataclass(frozen=True, slots=True)
class ExplorerSettings:
    """Settings of an exploration.

    Attributes:
        name: `dfs`, `exhaustive`, or `auto`: exhaustive if the space has at most `max_visited` e-states, else dfs.
        max_visited: maximum number of visited e-states.
        max_worlds: exploration stops when the targets of all transitions have more worlds in all; None for no limit.
        max_kept: maximum number of e-states to learn distances from; more are sampled at random. None: the e-states
            of the pairs.
        max_depth: `dfs` only: e-states at this depth are not expanded.
        discard_factor: `dfs` only: largest probability of discarding an e-state.
        seed: of the order of actions, the discards and the sampling.
        consistent_beliefs: whether e-states with inconsistent beliefs are excluded, see `StateSpace`.
    """

    name: Literal["auto", "dfs", "exhaustive"] = "auto"
    max_visited: Count = 100_000
    max_worlds: Count | None = None
    max_kept: Count | None = 60_000
    max_depth: Count = 25
    discard_factor: Share = 0.4
    seed: Natural = 42
    consistent_beliefs: bool = False


@dataclass(frozen=True, slots=True)
class ExploredGraph:
    """The visited e-states in the order of their visit, and every recorded transition.

    `dataclasses.replace` with a task that has another goal labels the same e-states for that goal.

    Attributes:
        task: the problem, with the goal of the labels.
        explorer: `dfs` or `exhaustive`.
        complete: whether these are all reachable e-states with all their transitions.
        space: the state space, with another goal or none; it may also hold successors that were generated but not
            visited.
        states: int32[v], ids of the visited e-states.
        depth: int32[v], number of actions from the initial e-state on the explored path.
        predecessor: int32[v], id of the previous e-state on this path, -1 for the initial one.
        action: int32[v], the last action of this path, -1 for the initial e-state.
        source: int32[m], source of each transition.
        target: int32[m], target of each transition.
        distance: int32[v], transitions to the nearest goal in the recorded graph, `UNREACHABLE` if none; after an
            incomplete `exhaustive` a lower bound where a nearer goal may lie beyond the last layer.
        label: uint8[v], what the distances mean, see `learn.data.labels.Label`.
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
    label: NDArray[np.uint8] = field(init=False)

    def __post_init__(self) -> None:
        """Label the e-states; the graph includes successors that were generated but not visited."""
        met = np.arange(len(self.space), dtype=np.int32)
        is_goal = self.space.query(self.task.goal)(met).all(axis=1)
        distance = compute_goal_distances(len(met), self.source, self.target, np.flatnonzero(is_goal))[self.states]
        reaches = distance != UNREACHABLE
        if self.complete:
            label = np.where(reaches, Label.EXACT, Label.DEAD_END)
        elif self.explorer == "exhaustive":
            # All e-states before the last layer are explored, with all paths to them.
            least = self.depth[-1] - self.depth
            is_exact = reaches & ((distance < least) | (distance == 0))
            distance = np.where(is_exact, distance, least)
            label = np.where(is_exact, Label.EXACT, Label.LOWER_BOUND)
        else:
            label = np.where(reaches, Label.ALONG_PLAN, Label.UNKNOWN)
        object.__setattr__(self, "distance", distance)
        object.__setattr__(self, "label", label.astype(np.uint8))

    @property
    def places(self) -> NDArray[np.int64]:
        """int64[n + 1]: the position of each e-state of the space, -1 if it was not visited; the last is that of -1."""
        places = np.full(len(self.space) + 1, -1)
        places[self.states] = np.arange(len(self.states))
        return places

    def list_successors(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The recorded transitions between visited e-states, by position.

        Returns:
            int64[v + 1], start of the successors of each e-state; int64[m], the successors.
        """
        places = self.places
        source, target = places[self.source], places[self.target]
        order = np.argsort(source, kind="stable")
        order = order[(source[order] >= 0) & (target[order] >= 0)]
        return ragged.pointers(np.bincount(source[order], minlength=len(self.states))), target[order]

    @property
    def nbytes(self) -> int:
        """Memory held, in bytes."""
        arrays = (self.states, self.depth, self.predecessor, self.action, self.source, self.target, self.distance)
        return self.space.nbytes + sum(array.nbytes for array in arrays)


V = TypeVar("V")


class Newest(Generic[V]):
    """A cache of the most recently used values.

    It is emptied before the interpreter exits, as objects of the core must be released by then.

    Args:
        most: maximum total size of the values, in bytes.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._kept: dict[str, tuple[V, int]] = {}  # the newest last
        atexit.register(self._kept.clear)

    def get(self, key: str) -> V | None:
        """The value of a key, or None."""
        if key not in self._kept:
            return None
        self._kept[key] = self._kept.pop(key)
        return self._kept[key][0]

    def put(self, key: str, value: V, nbytes: int) -> None:
        """Store a value of size `nbytes`, unless it exceeds the cache, and evict the least recently used ones."""
        self._kept.pop(key, None)
        if nbytes > self._most:
            return
        self._kept[key] = value, nbytes
        total = sum(size for _, size in self._kept.values())
        while total > self._most:
            total -= self._kept.pop(next(iter(self._kept)))[1]


_explored: Newest[ExploredGraph] = Newest(1 << 29)
"""Breadth-first explorations by the fingerprint of the task without its goal; incomplete ones also by their size."""


def resolve(source: Source, settings: ExplorerSettings) -> tuple[Task, ExplorerSettings]:
    """The task of a source, and the settings, with `consistent_beliefs` if the source's space has it.

    Raises:
        UsageError: when `source` is not a source, see `SearchProblem.of`.
    """
    problem = SearchProblem.of(source)
    return problem.task, replace(
        settings, consistent_beliefs=settings.consistent_beliefs or problem.space.consistent_beliefs
    )


def explore(source: Source, settings: ExplorerSettings, on_visit: OnVisit = lambda visited: None) -> ExploredGraph:
    """Explore the reachable e-states and label the visited ones with their distances.

    Args:
        source: the start and the goal, see `SearchProblem.of`. The exploration uses a new state space with all
            transitions, without symmetry reduction.
        settings: how to explore; `consistent_beliefs` also applies where the source's space sets it.
        on_visit: called with the number of e-states visited.

    Raises:
        UsageError: when `source` is not a source, see `SearchProblem.of`.
    """
    task, settings = resolve(source, settings)
    if settings.name == "dfs":
        return _explore_depth_first(task, settings, on_visit)
    exploration = _explore_exhaustively(task, settings, on_visit)
    if settings.name == "exhaustive" or exploration.complete:
        return exploration
    return _explore_depth_first(task, settings, on_visit)


def keep(exploration: ExploredGraph, settings: ExplorerSettings) -> NDArray[np.int64]:
    """int64[k]: positions of e-states with distances to learn from, at most `max_kept`, ascending; not lower bounds.

    Raises:
        NoGoalError: when there are none.
    """
    labelled = np.flatnonzero(np.isin(exploration.label, (Label.EXACT, Label.ALONG_PLAN)))
    if not len(labelled):
        limits = "max_visited, max_worlds" if settings.max_worlds else "max_visited"
        raise NoGoalError(
            f"no goal of {exploration.task.name!r} is among the {len(exploration.states)} e-states visited by the "
            f"explorer {exploration.explorer!r}: raise {limits} or max_depth, or leave the problem out"
        )
    if settings.max_kept is None or len(labelled) <= settings.max_kept:
        return labelled
    generator = np.random.default_rng(settings.seed)
    return np.sort(generator.choice(labelled, settings.max_kept, replace=False))


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


def _explore_exhaustively(task: Task, settings: ExplorerSettings, on_visit: OnVisit) -> ExploredGraph:
    """Explore breadth first, or reuse a cached exploration of the task with another goal."""
    without_goal = replace(task, goal=())
    key = f"{fingerprint_task(without_goal)} {settings.consistent_beliefs} {settings.max_worlds}"
    key_of_part = f"{key} {settings.max_visited}"
    known = _explored.get(key)
    if known is None or len(known.states) > settings.max_visited:
        known = _explored.get(key_of_part)
    if known is not None:
        on_visit(len(known.states))
        return replace(known, task=task)
    exploration = _explore_breadth_first(
        task,
        StateSpace(without_goal, consistent_beliefs=settings.consistent_beliefs, threads="auto"),
        settings,
        on_visit,
    )
    if exploration.complete or settings.name == "exhaustive":
        _explored.put(key if exploration.complete else key_of_part, exploration, exploration.nbytes)
    return exploration


def _explore_breadth_first(
    task: Task, space: StateSpace, settings: ExplorerSettings, on_visit: OnVisit
) -> ExploredGraph:
    """Explore a new space breadth first; ids count up in the order of discovery."""
    recorded: list[Transitions] = []
    depths = [np.zeros(1, dtype=np.int32)]
    max_visited, max_worlds = settings.max_visited, settings.max_worlds or math.inf
    expanded, worlds = 0, 0
    most = len(task.actions) * int(space.world_counts([space.initial])[0])  # of the successors of an e-state, about
    for wave in breadth_first(space, int(min(CHUNK, 1 + max_worlds // max(most, 1)))):
        recorded.append(wave.transitions)
        worlds += int(space.world_counts(wave.transitions.target).sum())
        depths.append(np.full(len(wave.fresh), wave.depth + 1, dtype=np.int32))
        expanded += wave.expanded
        on_visit(min(len(space), max_visited))
        if len(space) > max_visited or worlds > max_worlds:
            break
    count = min(len(space), max_visited)
    source = _join(transitions.source for transitions in recorded)
    is_new = np.concatenate([np.empty(0, dtype=np.bool_), *(transitions.is_new for transitions in recorded)])
    action = _join(transitions.action for transitions in recorded)
    root = np.array([-1], dtype=np.int32)
    return ExploredGraph(
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


def _explore_depth_first(task: Task, settings: ExplorerSettings, on_visit: OnVisit) -> ExploredGraph:
    space = StateSpace(task, consistent_beliefs=settings.consistent_beliefs, threads="auto")
    generator = np.random.default_rng(settings.seed)
    sparse = is_sparse(len(task.actions), settings.max_depth, settings.max_visited)
    complete, goal_found, expanded, worlds = True, False, 0, 0
    max_worlds = settings.max_worlds or math.inf
    stack = [(space.initial, 0, -1, -1)]
    entered: dict[int, tuple[int, int, int]] = {}
    recorded: list[Transitions] = []
    while stack and len(entered) < settings.max_visited and worlds <= max_worlds:
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
        worlds += int(space.world_counts(found.target).sum())
        order = generator.permutation(len(found.target))
        steps = zip(found.target[order].tolist(), found.action[order].tolist(), strict=True)
        stack.extend((target, depth + 1, state, step) for target, step in steps if target not in entered)
    depths, predecessors, actions = np.array(list(entered.values()), dtype=np.int32).T
    return ExploredGraph(
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
