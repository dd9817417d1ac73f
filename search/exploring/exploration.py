"""E-states after sequences of actions: applicable actions, and beliefs of agents before and after an action."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import lru_cache, partial, reduce
from itertools import product
from typing import Any

import numpy as np

from epigym.drawing.page import encode_start, encode_step
from epigym.drawing.steps import walk
from epigym.errors import TaskError
from epigym.space.branching import outcomes_of
from epigym.space.kripke_model import KripkeModel
from epigym.space.space import StateSpace
from epigym.task.formula import Formula, and_, believes, fluent, not_, or_
from epigym.task.task import Task
from search.heuristics import Heuristic

_KEPT_STEPS = 1024  # most drawn steps in the cache


@dataclass(frozen=True, slots=True)
class Choice:
    """An applicable action, or one of its outcomes, and its successor.

    Attributes:
        name: of the action, with an outcome where it has several, see `epigym.drawing.steps`.
        action: the name of the action.
        value: the heuristic value of the successor; None if it is infinite.
        is_goal: whether the successor is a goal.
        is_same: whether the successor is the same e-state.
    """

    name: str
    action: str
    value: float | None
    is_goal: bool
    is_same: bool


class Belief(StrEnum):
    """The belief of an agent about a fluent, the same at all designated worlds but for the last two.

    An agent that is sure whether the fluent is true believes it at some of them, and the opposite at others.
    """

    TRUE = "true"
    FALSE = "false"
    UNSURE = "unsure"
    EVERYTHING = "everything"
    SURE = "sure whether"
    VARIES = "varies"


_ALTERNATIVES = (Belief.EVERYTHING, Belief.TRUE, Belief.FALSE, Belief.SURE, Belief.UNSURE)  # the first that holds


@dataclass(frozen=True, slots=True)
class BeliefChange:
    """The belief of an agent about a fluent before and after an action."""

    agent: str
    fluent: str
    now: Belief
    afterwards: Belief


class Exploration:
    """The e-states of a problem, each given by its path: the steps that lead to it from the initial e-state.

    It is not thread-safe. Methods raise UsageError for a path with an action or outcome that is unknown or not
    applicable; the message names the step and the reason.

    Args:
        space: the state space of the problem.
        heuristic: bound to the space.

    Attributes:
        space: the state space of the problem.
        heuristic: evaluates e-states.
    """

    def __init__(self, space: StateSpace, heuristic: Heuristic) -> None:
        self.space = space
        self.heuristic = heuristic
        self._facts = list(product(space.task.agents, space.task.fluents))
        self._beliefs = space.query(
            formula for agent, name in self._facts for formula in _make_alternatives(agent, fluent(name))
        )
        # The perspective of an agent need not be an e-state of the problem, nor satisfy `consistent_beliefs`.
        self._seen = StateSpace(replace(space.task, actions=(), goal=(), structure=None))
        self._start = encode_start(space)
        self._step = lru_cache(_KEPT_STEPS)(partial(encode_step, space))

    def make_steps(self, path: Sequence[str]) -> Iterator[dict[str, Any]]:
        """Yield the initial e-state and the successor of each step of a path, in the format of the page of a plan."""
        states = walk(self.space, path)
        yield self._start
        yield from map(self._step, states, path, states[1:])

    def list_choices(self, path: Sequence[str]) -> list[Choice]:
        """List the applicable steps after a path in the order of the actions, without excluded successors.

        An action with several outcomes is one step for all outcomes together, unless designated worlds disagree about
        an agent's observability type, and one step for each outcome.
        """
        state = walk(self.space, path)[-1]
        names = [action.name for action in self.space.task.actions]
        found = list[tuple[str, str, int]]()
        for action in dict.fromkeys(self.space.outcomes([state]).action.tolist()):
            name, outcomes = names[action], outcomes_of(self.space, state, action)
            with suppress(TaskError):
                found.append((name, name, self.space.successor(state, action)))
            if len(outcomes) > 1:
                found.extend((f"{name}: {outcome}", name, target) for outcome, target in outcomes)
        states, places = np.unique(np.array([target for *_, target in found], np.int32), return_inverse=True)
        values = self.heuristic.score(states)
        goals = self.space.is_goal(states)
        return [
            Choice(
                name=name,
                action=action,
                value=None if np.isinf(values[place]) else float(values[place]),
                is_goal=bool(goals[place]),
                is_same=bool(states[place] == state),
            )
            for (name, action, _), place in zip(found, places, strict=True)
        ]

    def find_changes(self, path: Sequence[str], action: str) -> list[BeliefChange]:
        """Find the beliefs about fluents that `action` changes after a path."""
        *_, now, afterwards = walk(self.space, [*path, action])
        both = self._beliefs([now, afterwards]).reshape(2, len(self._facts), len(_ALTERNATIVES))
        changes = (
            BeliefChange(agent, name, *map(_name_belief, holds))
            for (agent, name), holds in zip(self._facts, both.swapaxes(0, 1).tolist(), strict=True)
        )
        return [change for change in changes if change.now is not change.afterwards]

    def take_perspective(self, path: Sequence[str], agents: Sequence[str]) -> KripkeModel:
        """The e-state after a path from the perspective of `agents`, nested from the first to the last, contracted.

        Raises:
            TaskError: when there is no such agent, or it considers no world possible: its beliefs are inconsistent.
        """
        seen = reduce(KripkeModel.perspective, agents, self.space.model(walk(self.space, path)[-1]))
        return self._seen.model(self._seen.intern(seen.state))

    def make_task(self, path: Sequence[str]) -> Task:
        """Make the task whose initial e-state is the one after a path."""
        return replace(self.space.task, initial=self.space.model(walk(self.space, path)[-1]).state)


def _make_alternatives(agent: str, fact: Formula) -> Iterator[Formula]:
    """A formula for each of `_ALTERNATIVES`, which holds if the belief is of this kind at all designated worlds."""
    it, opposite = believes(agent, fact), believes(agent, not_(fact))
    yield and_(it, opposite)
    yield it
    yield opposite
    yield or_(it, opposite)
    yield and_(not_(it), not_(opposite))


def _name_belief(holds: Sequence[bool]) -> Belief:
    return next((kind for kind, is_it in zip(_ALTERNATIVES, holds, strict=True) if is_it), Belief.VARIES)
