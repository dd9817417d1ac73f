"""An explicit graph in place of a state space: agents need to expand, to build, to test goals and no more."""

from collections.abc import Mapping, Sequence

import numpy as np
from hypothesis import strategies as st
from numpy.typing import ArrayLike, NDArray

from epigym.errors import TaskError
from epigym.features.relaxation import Relaxed
from epigym.space.space import StateSpace, Transitions
from epigym.task.formula import TRUE
from epigym.task.task import Action, EState, Event, Task
from search.heuristics.heuristic import Estimates, Heuristic

Edges = dict[int, list[tuple[str, int]]]

#       0 --a--> 1 --a--> 3 --a--> 5 (goal)
#       0 --b--> 2 --a--> 3, 2 --b--> 4 --a--> 5, 4 --b--> 6
DIAMOND = {
    0: [("a", 1), ("b", 2)],
    1: [("a", 3), ("b", 0)],
    2: [("a", 3), ("b", 4)],
    3: [("a", 5), ("b", 3)],
    4: [("a", 5), ("b", 6)],
}

GRAPHS = st.integers(2, 30).flatmap(
    lambda n: st.fixed_dictionaries(
        {s: st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, n - 1)), max_size=4) for s in range(n)}
    )
)


class GraphSpace(StateSpace):
    """States are numbers; `edges[s]` lists the (action, target) pairs of state `s` in declaration order."""

    initial = 0
    consistent_beliefs = symmetry = False
    symmetries: tuple[()] = ()

    def __init__(self, edges: Mapping[int, Sequence[tuple[str, int]]], goals: Sequence[int]) -> None:
        names = sorted({name for pairs in edges.values() for name, _ in pairs})
        self._edges = {state: [(names.index(name), target) for name, target in edges[state]] for state in edges}
        self._goals = list(goals)
        self._count = 1 + max((target for pairs in edges.values() for _, target in pairs), default=0)
        self.task = task_of(names)
        self.expanded: list[int] = []
        self.built: list[int] = []

    def __len__(self) -> int:
        return self._count

    def expand(self, ids: ArrayLike, *, stop_at_goal: bool = False, threads: int = 1) -> Transitions:
        rows = []
        for state in np.asarray(ids).tolist():
            self.expanded.append(state)
            for action, target in self._edges.get(state, ()):
                rows.append((state, action, target))
                if stop_at_goal and target in self._goals:
                    break
            if stop_at_goal and rows and rows[-1][2] in self._goals:
                break
        columns = np.array(rows, dtype=np.int32).reshape(-1, 3).T
        return Transitions(*columns, is_new=np.zeros(len(rows), dtype=np.bool_))

    def successors(self, ids: ArrayLike, actions: ArrayLike) -> NDArray[np.int32]:
        found = []
        for state, action in zip(np.asarray(ids).tolist(), np.asarray(actions).tolist(), strict=True):
            targets = dict(self._edges.get(state, ()))
            if action not in targets:
                raise TaskError(f"action {action} is not applicable in {state}")
            found.append(targets[action])
        self.built += found
        return np.array(found, dtype=np.int32)

    def applicable(self, ids: ArrayLike) -> NDArray[np.bool_]:
        rows = [dict(self._edges.get(state, ())) for state in np.asarray(ids).tolist()]
        return np.array([[action in row for action in range(len(self.task.actions))] for row in rows])

    def world_counts(self, ids: ArrayLike) -> NDArray[np.int32]:
        return np.ones(len(np.asarray(ids)), dtype=np.int32)

    @property
    def generated(self) -> tuple[int, int]:
        count = sum(len(self._edges.get(state, ())) for state in self.expanded) + len(self.built)
        return count, count

    @property
    def relaxed(self) -> tuple[int, int]:
        return 0, 0

    def is_goal(self, ids: ArrayLike) -> NDArray[np.bool_]:
        return np.isin(ids, self._goals)


class TableHeuristic(Heuristic):
    """Scores read from a table; remembers the batches it was asked for."""

    def __init__(self, scores: Mapping[int, float], name: str = "table") -> None:
        self.name = name
        self.scores = scores
        self.batches: list[list[int]] = []

    def score(self, ids: NDArray[np.int32]) -> NDArray[np.float64]:
        self.batches.append(ids.tolist())
        return np.array([self.scores.get(state, 0.0) for state in ids.tolist()], dtype=np.float64)


class TablePreferences(TableHeuristic):
    """The same with preferred actions, as positions among the sorted names of the actions; also as a relaxation."""

    prefers = True

    def __init__(self, scores: Mapping[int, float], liked: Mapping[int, list[int]]) -> None:
        super().__init__(scores)
        self.liked = liked

    def evaluate(self, ids: NDArray[np.int32], parents: NDArray[np.int64], actions: NDArray[np.int64]) -> Estimates:
        rows = [self.liked.get(state, []) for state in ids.tolist()]
        preferred = np.array([action for row in rows for action in row], dtype=np.int32)
        return Estimates(self.score(ids), np.cumsum([0, *map(len, rows)]), preferred)

    def is_uninformative(self, state: int) -> bool:
        return False

    def __call__(self, ids: NDArray[np.int32]) -> Relaxed:
        costs, ptr, preferred = self.evaluate(ids, ids, ids)
        none = np.zeros(len(costs), dtype=np.int32)
        return Relaxed(costs, costs, costs, none, none, ptr, preferred)


def task_of(names: Sequence[str]) -> Task:
    """A task of one agent and one world whose actions have these names and do nothing."""
    actions = tuple(
        Action(name, TRUE, (Event("e"),), (0,), {"full": (frozenset({0}),)}, (((TRUE, "full"),),)) for name in names
    )
    return Task("graph", (), ("a",), actions, EState((frozenset(),), ((frozenset({0}),),), (0,)), (TRUE,))


def reaches(edges: Edges, goals: Sequence[int], plan: Sequence[str]) -> bool:
    """Whether a plan leads to a goal; a state may have several edges of one name."""
    states = {0}
    for name in plan:
        states = {target for state in states for action, target in edges[state] if action == name}
    return not states.isdisjoint(goals)


def shortest(edges: Edges, goals: list[int]) -> int | None:
    """Length of a shortest path to a goal, one state at a time."""
    depth = {0: 0}
    queue = [0]
    for state in queue:
        if state in goals:
            return depth[state]
        for _, target in edges[state]:
            if target not in depth:
                depth[target] = depth[state] + 1
                queue.append(target)
    return None
