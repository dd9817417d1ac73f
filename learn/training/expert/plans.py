"""Answers of an expert about e-states, as pairs of e-states to rank.

Each next e-state of a plan is better than its siblings, than its predecessor, and than siblings of earlier e-states.
E-states that a network's search expanded off the plan are compared with those whose distance is known.

Source: Garrett, Kaelbling, Lozano-Pérez, "Learning to Rank for Synthesizing Planning Heuristics" (IJCAI 2016).
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Final, NamedTuple

import numpy as np

from epigym.space.search_problem import SearchProblem
from epigym.space.space import StateSpace
from learn.data.labels import UNREACHABLE, Label
from learn.data.pairs import join_pairs
from learn.data.rollout import LabelledGoal, Tree
from learn.training.validation import find_states_along
from search.agents import run_agent
from search.agents.limits import Limits
from search.agents.result import SearchStatus
from search.planning.action_elimination import eliminate_actions
from search.planning.configuration import DEFAULT, Configuration

SIBLINGS: Final = 8
"""Maximum number of siblings of each e-state of a plan in pairs."""
EARLIER: Final = 3
"""Maximum number of siblings of earlier e-states in pairs with it."""
CROSS: Final = 12
"""Maximum number of pairs of a start with other labelled e-states."""
QUARTER: Final = 0.25
"""Share of the expansions of a failed search within which plans of other e-states prove them nearer."""
_STEPS, _SHARE = 2, 0.15  # least differences of distances in cross pairs

Pair = tuple[int, int]
"""The preferred e-state, and the other one."""
Step = tuple[int, int, int]
"""An e-state, its predecessor, and the action that leads from there."""


class Answer(NamedTuple):
    """An answer of the expert about an e-state.

    Attributes:
        plan: names of actions; None if it found none.
        expanded: number of expansions.
        is_dead: whether there is no plan.
    """

    plan: tuple[str, ...] | None
    expanded: int
    is_dead: bool


def ask_expert(space: StateSpace, start: int, expansions: int) -> Answer:
    """Search with the default agent, `h_ff` in place of its learned heuristic, and shorten the plan.

    Args:
        space: the state space.
        start: the e-state to start from.
        expansions: maximum number.
    """
    agent = Configuration.of({"name": DEFAULT, "default_heuristic": "h_ff"}).make_agent()
    limits = Limits(max_expanded=expansions, time_limit=None, memory_limit=sys.maxsize)
    searched = SearchProblem(space, start, space.task.goal).search_space
    found = run_agent(agent, searched, limits=limits)
    if found.plan is None:
        return Answer(None, found.expanded, found.status is SearchStatus.UNSOLVABLE)
    return Answer(eliminate_actions(searched, found.plan, lambda: True), found.expanded, False)


@dataclass(slots=True)
class _Known:
    distance: int
    label: Label
    expanded: int


@dataclass
class PlanTree:
    """E-states of a problem on plans, beside plans, and on the paths to them, with pairs.

    Args:
        space: the state space.
        seed: of the sampling of siblings and pairs.
    """

    space: StateSpace
    seed: int
    _rows: dict[int, tuple[int, int]] = field(init=False)
    _known: dict[int, _Known] = field(init=False, default_factory=dict)
    _groups: list[list[Pair]] = field(init=False, default_factory=list)

    def __post_init__(self) -> None:
        """Begin with the initial e-state."""
        self._rows = {self.space.initial: (-1, -1)}
        self._rng = np.random.default_rng(self.seed)
        self._numbers = {action.name: place for place, action in enumerate(self.space.task.actions)}

    def add_path(self, steps: Sequence[Step]) -> None:
        """Add a path that begins at an e-state of the tree."""
        for state, before, action in steps:
            self._rows.setdefault(state, (before, action))

    def _add_plan(self, start: int, plan: Sequence[str], expanded: int) -> list[int]:
        """Add a plan from an e-state of the tree, and pairs along it; returns its e-states.

        Siblings that an action reaches which comes later in the plan may be as good, and are left out.
        """
        actions, states = [self._numbers[name] for name in plan], find_states_along(self.space, plan, start)
        self.add_path(list(zip(states[1:], states[:-1], actions, strict=True)))
        earlier: list[int] = []
        for place, (state, after) in enumerate(pairwise(states)):
            others = self._choose_siblings(state, states, actions[place + 1 :])
            before = self._rng.permutation(earlier)[:EARLIER].tolist() if earlier else []
            self._groups.append([(after, other) for other in (*others, *before, state)])
            earlier += others
        for left, state in zip(range(len(plan), -1, -1), states, strict=True):
            known = self._known.get(state)
            if known is None or known.label is not Label.ALONG_PLAN or left < known.distance:
                self._known[state] = _Known(left, Label.ALONG_PLAN, expanded)
        return states

    def _choose_siblings(self, state: int, on_plan: Sequence[int], later: Sequence[int]) -> list[int]:
        found = self.space.expand([state])
        action_to = dict(zip(found.target.tolist(), found.action.tolist(), strict=True))
        others = np.setdiff1d(found.target, [*on_plan, *found.target[np.isin(found.action, later)]])
        chosen: list[int] = self._rng.permutation(others)[:SIBLINGS].tolist()
        self.add_path([(other, state, action_to[other]) for other in chosen])
        return chosen

    def add_start(self, start: int, answer: Answer) -> list[int]:
        """Add an answer about an e-state of the tree, and pairs with the e-states of earlier plans.

        An e-state that the expert does not solve is worse only than those whose plans took at most a quarter of the
        expansions, and than all if there is no plan.

        Returns:
            The e-states of its plan; none without one.
        """
        states: list[int] = []
        others = {state: one for state, one in self._known.items() if one.label is Label.ALONG_PLAN}
        if answer.plan is not None:
            states = self._add_plan(start, answer.plan, answer.expanded)
            left = len(states) - 1
            pairs = [
                (start, state) if left < one.distance else (state, start)
                for state, one in others.items()
                if state not in states and abs(left - one.distance) >= max(_STEPS, _SHARE * max(left, one.distance))
            ]
        else:
            most = np.inf if answer.is_dead else QUARTER * answer.expanded
            pairs = [(state, start) for state, one in others.items() if one.expanded <= most]
            label = Label.DEAD_END if answer.is_dead else Label.UNKNOWN
            self._known[start] = _Known(UNREACHABLE, label, answer.expanded)
        if pairs:
            self._groups.append([pairs[place] for place in self._rng.permutation(len(pairs))[:CROSS].tolist()])
        return states

    def make_tree(self, seconds: float) -> Tree:
        """Make the tree of a data set of everything that was added.

        Args:
            seconds: that it took.
        """
        row = {state: place for place, state in enumerate(self._rows)}
        before, action = zip(*self._rows.values(), strict=True)
        blank = _Known(UNREACHABLE, Label.UNKNOWN, 0)
        known = [self._known.get(state, blank) for state in self._rows]
        groups = [[(row[better], row[worse]) for better, worse in group] for group in self._groups]
        better, worse, weight = join_pairs(groups)
        task = self.space.task
        goal = LabelledGoal(
            name=task.name,
            instance=task.instance,
            goal=task.goal,
            distance=np.array([one.distance for one in known], np.int32),
            label=np.array([one.label for one in known], np.uint8),
            sample=np.array([one.label is Label.ALONG_PLAN for one in known]),
            better=better,
            worse=worse,
            weight=weight,
            counts=self._count(known, len(better)),
            seconds=seconds,
        )
        return Tree(
            task=task,
            consistent_beliefs=self.space.consistent_beliefs,
            predecessor=np.array([row.get(one, -1) for one in before], np.int32),
            action=np.array(action, np.int32),
            goals=(goal,),
        )

    def _count(self, known: Sequence[_Known], pairs: int) -> dict[str, Any]:
        distance = np.array([one.distance for one in known if one.label is Label.ALONG_PLAN])
        ids = np.array(list(self._rows), np.int32)
        return {
            "explorer": "expert",
            "complete": False,
            "visited": len(known),
            "transitions": 0,
            "samples": len(distance),
            "goals": int(np.count_nonzero(distance == 0)),
            "dead_ends": sum(one.label is Label.DEAD_END for one in known),
            "distances": np.bincount(distance).tolist(),
            "depths": [],
            "worlds": int(self.space.world_counts(ids).sum()),
            "pairs": pairs,
        }
