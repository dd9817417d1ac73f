"""Growing problems that the expert solves, and those where it corrects the search of a network.

Greedy search needs the order of the e-states that it meets. A network that learns from plans alone meets others, so
the e-states that its own search expands become starts for the expert.

Source: Ross, Gordon, Bagnell, "A Reduction of Imitation Learning and Structured Prediction to No-Regret Online
Learning" (AISTATS 2011), dataset aggregation.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Final

import numpy as np
from numpy.typing import NDArray

from epigym.space.space import StateSpace
from learn.data.rollout import Tree
from learn.training.expert.plans import PlanTree, Step, ask_expert
from search.agents import run_agent
from search.agents.best_first import GreedyBestFirst
from search.agents.limits import Limits
from search.heuristics.heuristic import Estimates, Heuristic

Scores = Callable[[NDArray[np.int32]], NDArray[np.float64]]

NODES: Final = 150
"""Maximum number of expansions of a network on each problem that may be corrected."""
LONGER: Final = 2
"""Plans of a network that are more than so many times as long as the expert's are corrected."""
STARTS: Final = 3
"""E-states off the plan from which the expert searches: the last one that was expanded, and random ones."""


class _Watched(Heuristic):
    """A function of e-states as a heuristic that keeps which e-states a search expands, and how it reaches others.

    Args:
        score: the function.

    Attributes:
        expanded: the expanded e-states with new successors, in order.
    """

    name = "score"

    def __init__(self, score: Scores) -> None:
        self._score = score
        self.expanded: list[int] = []
        self._via: dict[int, tuple[int, int]] = {}

    def score(self, ids: NDArray[np.int32]) -> NDArray[np.float64]:
        return self._score(ids)

    def evaluate(self, ids: NDArray[np.int32], parents: NDArray[np.int64], actions: NDArray[np.int64]) -> Estimates:
        self.expanded += parents[:1][parents[:1] >= 0].tolist()
        reached = zip(ids.tolist(), parents.tolist(), actions.tolist(), strict=True)
        self._via |= {state: (before, action) for state, before, action in reached if before >= 0}
        return super().evaluate(ids, parents, actions)

    def find_path(self, state: int) -> list[Step]:
        """The steps to an e-state, see `PlanTree.add_path`."""
        steps: list[Step] = []
        while state in self._via:
            steps.append((state, *self._via[state]))
            state = steps[-1][1]
        return steps[::-1]


def make_expert_trees(spaces: Iterable[StateSpace], expansions: int, seed: int) -> Iterator[Tree]:
    """Make the trees of the plans that the expert finds; problems that it does not solve are left out.

    Args:
        spaces: of the problems.
        expansions: maximum number of expansions of the expert on each problem.
        seed: of the sampling of pairs.
    """
    for number, space in enumerate(spaces):
        start = time.perf_counter()
        tree = PlanTree(space, seed + number)
        if tree.add_start(space.initial, ask_expert(space, space.initial, expansions)):
            yield tree.make_tree(time.perf_counter() - start)


def make_corrected_trees(
    spaces: Iterable[StateSpace], bind: Callable[[StateSpace], Scores], expansions: int, seed: int
) -> Iterator[Tree]:
    """Make the trees of answers about e-states that greedy search of a network expands off the expert's plan.

    Problems that the expert does not solve are left out, and those that the network solves as well.

    Args:
        spaces: of the problems.
        bind: makes the values of the network on a state space.
        expansions: maximum number of expansions of the expert from each e-state.
        seed: of the sampling of e-states and pairs.
    """
    limits = Limits(max_expanded=NODES, time_limit=None, memory_limit=sys.maxsize)
    for number, space in enumerate(spaces):
        start = time.perf_counter()
        tree = PlanTree(space, seed + number)
        plan = tree.add_start(space.initial, ask_expert(space, space.initial, expansions))
        if not plan:
            continue
        found = run_agent(GreedyBestFirst(), space, watched := _Watched(bind(space)), limits)
        if found.plan is not None and len(found.plan) <= LONGER * (len(plan) - 1):
            continue
        off = [state for state in watched.expanded if state not in plan]
        rng = np.random.default_rng(seed + number)
        for state in dict.fromkeys([*off[-1:], *rng.permutation(off[:-1])[: STARTS - 1].tolist()]):
            tree.add_path(watched.find_path(state))
            tree.add_start(state, ask_expert(space, state, expansions))
        yield tree.make_tree(time.perf_counter() - start)
