"""Problems to learn from and to validate on, made of a user's own problems.

The largest problems validate, the others are learned from. Both get further goals: conjunctions of formulas that are
true where a walk ends, as the problems of domains do, see `learn.data.distribution`. A domain states the formulas of
its goals; here they are derived from the goals of the problems, see `GoalLanguage`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import count, islice, permutations
from random import Random
from typing import Final, Literal

import numpy as np
from rich.progress import track

from epigym.errors import EpigymError
from epigym.space.sampling import sample_walk
from epigym.space.signature import signature
from epigym.space.space import StateSpace
from epigym.task.formula import Formula, Op, believes, fluent, knows_whether, not_, split_goal
from epigym.task.task import Task
from learn.data.distribution import MAX_STATES, MIN_DISTANCE, MOST, MOST_LONG, ExploredTask, walk_narrowly
from learn.data.explorers import Exploration, ExplorerSettings, explore

_PER_VALIDATING: Final = 4  # of so many problems one validates
_MOST_FORMULAS: Final = 400  # of each modal depth that are in a vocabulary
_MOST_NEAR: Final = 2_000  # e-states of a validation problem that are explored
_PATIENCE: Final = 200  # samples in a row without a goal that fits

Part = Literal["train", "validation"]


def split_by_size(tasks: Sequence[Task]) -> tuple[list[Task], list[Task]]:
    """The problems to learn from, and those to validate on: the largest quarter, at least one.

    The larger of two problems has more pairs of a fluent and an agent; of equally many, more actions; of equally many
    again, more initial worlds. Of problems of equal size the later ones validate. A single problem is in both parts.

    Args:
        tasks: at least one.
    """
    by_size = sorted(
        tasks, key=lambda task: (len(task.fluents) * len(task.agents), len(task.actions), len(task.initial.valuations))
    )
    if len(by_size) == 1:
        return by_size, by_size
    first = len(by_size) - max(1, len(by_size) // _PER_VALIDATING)
    return by_size[:first], by_size[first:]


def sample_files(
    tasks: Sequence[Task], *, instances: int, validation: int, seed: int, max_states: int = MAX_STATES
) -> tuple[list[Task], list[Task]]:
    """Problems to learn from and problems to validate on: the given ones, and the same with sampled goals.

    No two of them are the same up to the names of fluents, agents and actions. For each one to learn from
    `make_pairs(task, max_states=max_states, partially_explored=True)` has pairs. Sampled goals can be reached, and take
    at least `MIN_DISTANCE` actions; in validation problems, as far as their 2,000 nearest e-states tell. Goals of the
    given problems may take fewer; whether those that validate can be reached need not be known. Every second sampled
    goal is a long one, see `learn.data.distribution.sample_problems`: most short goals are few actions away.

    Of a single problem every second goal validates. The first one, its own if that is in sight, is learned from.

    Args:
        tasks: the given problems, see `split_by_size`.
        instances: about so many to learn from, shared among the problems; each gives at least one if it has any.
        validation: the same of those to validate on; 0 when all problems are learned from.
        seed: equal seeds sample equal goals.
        max_states: of problems to learn from, so many e-states are explored, nearest first.

    Raises:
        EpigymError: when there is nothing to learn from, or nothing to validate on.
    """
    if not tasks:
        raise EpigymError("no problem to learn from: name files with problem=")
    sampler = _Sampler(GoalLanguage.of(tasks), seed, max_states, set())
    smaller, largest = split_by_size(tasks) if validation else (tasks, [])
    if len(tasks) == 1:
        found = list(islice(sampler.sample(tasks[0], 0, "train"), instances + validation))
        validating = found[1::2][:validation]
        learned = [task for task in found if task not in validating]
    else:
        learned = sampler.share(smaller, instances, "train")
        validating = sampler.share(largest, validation, "validation")
    if not learned:
        near = f"has a goal {MIN_DISTANCE} or more actions away among its {max_states:,} nearest e-states"
        raise EpigymError(f"nothing to learn from: none of {len(smaller)} problems {near}; add smaller problems")
    if validation and not validating:
        names = ", ".join(task.name for task in largest)
        raise EpigymError(f"nothing to validate on: no walk in {names} reaches another goal; add larger problems")
    return learned, validating


@dataclass(frozen=True, slots=True)
class GoalLanguage:
    """What the goals of some problems speak about, from which the formulas of sampled goals follow.

    Attributes:
        believed: the symbols of the fluents that goals have beliefs about; without lifted structure, the fluents.
        depth: the largest modal depth.
    """

    believed: frozenset[str]
    depth: int

    @classmethod
    def of(cls, tasks: Sequence[Task]) -> GoalLanguage:
        """The language of the goals of these problems."""
        symbols = (
            symbol for task in tasks for name, symbol in _symbols(task).items() if name in _find_believed(task.goal)
        )
        return cls(frozenset(symbols), max(goal.depth for task in tasks for goal in task.goal))

    def vocabulary(self, task: Task) -> tuple[Formula, ...]:
        """The formulas that sampled goals of a problem are made of, each once.

        These are the parts of its own goal, and for each fluent p that an action may change or the goal mentions
        p and ¬p. For each agent i and each fluent p whose symbol is believed, if the depth is at least 1: B_i p,
        B_i ¬p, "i knows whether p", and the negation of each. If it is at least 2, for each other agent j as well:
        B_i B_j p, "i believes that j knows whether p", and the negations. Of 401 or more of one depth 400 are taken at
        random, the same ones each time.
        """
        changed = {effect.fluent for action in task.actions for event in action.events for effect in event.effects}
        mentioned = {name for goal in task.goal for name in goal.fluents()}
        symbols = _symbols(task)
        beliefs = [fluent(name) for name in task.fluents if symbols[name] in self.believed]
        layers = [
            [fluent(name) for name in task.fluents if name in changed | mentioned],
            [
                formula
                for agent in task.agents
                for one in beliefs
                for formula in (believes(agent, one), believes(agent, not_(one)), knows_whether(agent, one))
            ],
            [
                believes(agent, formula)
                for agent, other in permutations(task.agents, 2)
                for one in beliefs
                for formula in (believes(other, one), knows_whether(other, one))
            ],
        ]
        found = list(split_goal(task.goal))
        for layer in layers[: self.depth + 1]:
            both = [formula for one in layer for formula in (one, not_(one))]
            chosen = Random(0).sample(range(len(both)), min(len(both), _MOST_FORMULAS))
            found += [both[index] for index in sorted(chosen)]
        return tuple(dict.fromkeys(found))


def _symbols(task: Task) -> dict[str, str]:
    """The symbol of each fluent, which is its name where no structure tells it."""
    if task.structure is None:
        return dict(zip(task.fluents, task.fluents, strict=True))
    return dict(zip(task.fluents, (lifted.symbol for lifted in task.structure.fluents), strict=True))


def _find_believed(goal: Sequence[Formula]) -> set[str]:
    """The fluents that a goal has beliefs about."""
    modalities = (part for one in goal for part in one.subformulas() if Op.BELIEVES <= part.op <= Op.COMMON)
    return {name for modality in modalities for name in modality.fluents()}


@dataclass(frozen=True, slots=True)
class _Sampler:
    """Samples goals.

    Attributes:
        language: of the goals.
        seed: equal seeds sample equal goals.
        max_states: most e-states of a problem to learn from that are explored.
        known: the signatures of the problems sampled so far.
    """

    language: GoalLanguage
    seed: int
    max_states: int
    known: set[str]

    def share(self, tasks: Sequence[Task], total: int, part: Part) -> list[Task]:
        """About so many problems, each task giving its share of what those before it left, at least one if it can."""
        found: list[Task] = []
        for number, task in enumerate(track(tasks, f"sampling goals, {part}", transient=True)):
            share = -(-(total - len(found)) // (len(tasks) - number))
            found += islice(self.sample(task, number, part), max(1, share))
        return found

    def sample(self, task: Task, number: int, part: Part) -> Iterator[Task]:
        """The problem with its own goal and with sampled goals, those that fit and were not sampled before.

        The sample depends on the number of the problem, not on its name, which may be any path.
        """
        near = self._explore(task, part)
        if self._fits(near, task, part, least=1):
            yield task
        missed = 0
        for attempt in count(1):
            most = (MOST_LONG if attempt % 2 else MOST)[part]
            goal = near.sample_goal(Random(f"{self.seed} {part} {number} {attempt}"), *most)
            if goal is None or missed == _PATIENCE:
                return
            found = replace(near.with_goal(goal), name=f"{task.name}, sampled goal {attempt}")
            missed += 1
            if self._fits(near, found, part, least=MIN_DISTANCE):
                missed = 0
                yield found

    def _explore(self, task: Task, part: Part) -> ExploredTask:
        most = self.max_states if part == "train" else _MOST_NEAR
        found = explore(task, ExplorerSettings("exhaustive", max_visited=most))
        walk = sample_walk if found.complete else partial(_walk_nearby, found) if part == "train" else walk_narrowly
        return ExploredTask(task, found.space, found.depth, found.complete, self.language.vocabulary(task), walk)

    def _fits(self, near: ExploredTask, task: Task, part: Part, least: int) -> bool:
        """Whether a problem can be used, with a goal at least so many actions away; if so, it is known from now on."""
        distance = near.find_distance(task)
        if distance is None:
            fits = part == "validation" and not near.complete
        else:
            # In the last layer, which may be explored in part, a goal has no pairs.
            fits = least <= distance and (part == "validation" or near.complete or distance < near.depth[-1])
        if not fits or (mark := signature(task)) in self.known:
            return False
        self.known.add(mark)
        return True


def _walk_nearby(
    exploration: Exploration, space: StateSpace, rng: np.random.Generator, *, steps: int
) -> tuple[list[int], list[int]]:
    """A shortest walk to a random e-state before the last explored layer; called like `sample_walk` besides."""
    depth = exploration.depth
    ends = np.flatnonzero((depth >= MIN_DISTANCE) & (depth <= steps) & (depth < depth[-1]))
    states, actions = [int(rng.choice(ends)) if len(ends) else space.initial], list[int]()
    while states[0] != space.initial:
        actions.insert(0, int(exploration.action[states[0]]))
        states.insert(0, int(exploration.predecessor[states[0]]))
    return states, actions
