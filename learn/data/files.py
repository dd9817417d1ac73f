"""Training and validation problems made from a user's own problems.

The largest problems are used for validation, the others for training. Both are also used with sampled goals:
conjunctions of formulas that hold at the end of a random walk, as in `learn.data.distribution`. The vocabulary of these
goals is derived from the goals of the problems, see `GoalLanguage`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import count, islice, permutations
from random import Random
from typing import Final, Literal

import numpy as np

from epigym.errors import EpigymError
from epigym.io.progress import track
from epigym.space.sampling import sample_walk
from epigym.space.signature import signature
from epigym.space.space import StateSpace
from epigym.task.formula import Formula, Op, believes, fluent, knows_whether, not_, split_goal
from epigym.task.task import Task
from learn.data.distribution import MAX_STATES, MIN_DISTANCE, MOST, MOST_LONG, ExploredTask, walk_narrowly
from learn.data.explorers import ExploredGraph, ExplorerSettings, explore

_PER_VALIDATING: Final = 4  # number of problems for each validation problem
_MOST_FORMULAS: Final = 400  # maximum number of formulas of each modal depth in a vocabulary
_MOST_NEAR: Final = 2_000  # number of explored e-states of a validation problem
_PATIENCE: Final = 200  # maximum number of rejected goals in a row

Part = Literal["train", "validation"]


def split_by_size(tasks: Sequence[Task]) -> tuple[list[Task], list[Task]]:
    """Split problems into training and validation problems; the latter are the largest quarter, at least one.

    Problems are ordered by the number of pairs of a fluent and an agent, then by the number of actions, then by the
    number of initial worlds. Among problems of equal size the later ones are larger. A single problem is in both parts.

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
    """Make training and validation problems: the given problems with their own and with sampled goals.

    All problems differ by more than the names of fluents, agents and actions. Every training problem has pairs if
    `max_states` of its e-states are explored exhaustively. Sampled goals are reachable with at least
    `MIN_DISTANCE` actions; in validation problems this is checked among the 2,000 nearest e-states only. The problems'
    own goals may be nearer, and in validation problems they may be unreachable. Every second sampled goal is a long
    one, see `learn.data.distribution.sample_problems`, as most short goals are near.

    A single problem serves both: its goals are alternately used for training and for validation, its own goal for
    training if it is reachable within the explored e-states.

    Args:
        tasks: the given problems, see `split_by_size`.
        instances: approximate number of training problems, at least one for each usable problem.
        validation: approximate number of validation problems; 0 to use all problems for training.
        seed: equal seeds sample equal goals.
        max_states: number of explored e-states of a training problem, nearest first.

    Raises:
        EpigymError: when there are no training problems, or no validation problems.
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
    """The language of the goals of some problems, from which the vocabulary of sampled goals is derived.

    Attributes:
        believed: the symbols of the fluents in beliefs of goals; without lifted structure, the fluents.
        depth: the largest modal depth of a goal.
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
        """The formulas of sampled goals of a problem, without duplicates.

        - The parts of the problem's own goal.
        - p and ¬p for each fluent p that occurs in an effect or in the goal.
        - If the depth is at least 1, for each agent i and each fluent p with a symbol in `believed`: B_i p, B_i ¬p,
          "i knows whether p", and their negations.
        - If the depth is at least 2, also for each other agent j: B_i B_j p, "i believes that j knows whether p", and
          their negations.

        At most 400 formulas of each depth are used, sampled with a fixed seed.
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
    """The symbol of each fluent; without lifted structure, its name."""
    if task.structure is None:
        return dict(zip(task.fluents, task.fluents, strict=True))
    return dict(zip(task.fluents, (lifted.symbol for lifted in task.structure.fluents), strict=True))


def _find_believed(goal: Sequence[Formula]) -> set[str]:
    """The fluents inside beliefs of a goal."""
    modalities = (part for one in goal for part in one.subformulas() if Op.BELIEVES <= part.op <= Op.COMMON)
    return {name for modality in modalities for name in modality.fluents()}


@dataclass(frozen=True, slots=True)
class _Sampler:
    """A sampler of problems with different goals.

    Attributes:
        language: of the goals.
        seed: equal seeds sample equal goals.
        max_states: maximum number of explored e-states of a training problem.
        known: the signatures of the problems sampled so far.
    """

    language: GoalLanguage
    seed: int
    max_states: int
    known: set[str]

    def share(self, tasks: Sequence[Task], total: int, part: Part) -> list[Task]:
        """About `total` problems, spread evenly over the tasks, at least one for each usable task."""
        found: list[Task] = []
        for number, task in enumerate(track(tasks, f"sampling goals, {part}")):
            share = -(-(total - len(found)) // (len(tasks) - number))
            found += islice(self.sample(task, number, part), max(1, share))
        return found

    def sample(self, task: Task, number: int, part: Part) -> Iterator[Task]:
        """Yield the problem with its own goal and with sampled goals, each if it is usable and new.

        The sample depends on the number of the problem, not on its name, which may be a path.
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
        """Whether a problem is new and usable, with a goal at least `least` actions away; if so, it is remembered."""
        distance = near.find_distance(task)
        if distance is None:
            fits = part == "validation" and not near.complete
        else:
            # A goal in the last layer has no pairs, as the layer may be incomplete.
            fits = least <= distance and (part == "validation" or near.complete or distance < near.depth[-1])
        if not fits or (mark := signature(task)) in self.known:
            return False
        self.known.add(mark)
        return True


def _walk_nearby(
    exploration: ExploredGraph, space: StateSpace, rng: np.random.Generator, *, steps: int
) -> tuple[list[int], list[int]]:
    """A shortest walk to a random e-state before the last explored layer; further arguments as `sample_walk`."""
    depth = exploration.depth
    ends = np.flatnonzero((depth >= MIN_DISTANCE) & (depth <= steps) & (depth < depth[-1]))
    states, actions = [int(rng.choice(ends)) if len(ends) else space.initial], list[int]()
    while states[0] != space.initial:
        actions.insert(0, int(exploration.action[states[0]]))
        states.insert(0, int(exploration.predecessor[states[0]]))
    return states, actions
