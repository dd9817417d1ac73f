"""Problems to learn from: drawn from the ranges that a domain states, each with a goal, and kept when they fit.

Sizes and structure come from the domain, goals too or, for most problems, from random walks: conjunctions of formulas
of the domain's vocabulary, nested beliefs and negated ones among them. What can be exhausted is labelled exactly.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache, lru_cache, partial
from itertools import count
from random import Random
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

import domains
from domains.instances import load_sizes
from epigym.errors import EpigymError, TaskError, UsageError
from epigym.names import unknown
from epigym.problem import domain_problem, vocabulary
from epigym.space.sampling import sample_goal, sample_narrow_walk, sample_walk
from epigym.space.signature import signature
from epigym.space.space import StateSpace
from epigym.task.formula import Formula, and_, conjuncts
from epigym.task.task import Task
from learn.data.explorers import ExplorerSettings, explore

MAX_STATES: Final = 20_000
"""Problems of the split `train` have at most so many e-states."""
MIN_DISTANCE: Final = 3
"""The shortest plan of a drawn problem has at least so many actions."""
GOALS: Final = 4
"""So many problems are drawn with the same parameters, unless more or fewer are asked for."""
MOST: Final = {"train": (15, 6), "validation": (30, 12), "test": (60, 24)}
"""By split, the most actions of the walks that reach goals, and the most subgoals."""
MOST_LONG: Final = {"train": (30, 40), "validation": (60, 60), "test": (120, 80)}
"""The same of long goals."""
_MOST_WORLDS: Final = 20_000  # of the e-states of a walk
_PATIENCE: Final = 400  # draws without a problem that fits


@dataclass(frozen=True, slots=True)
class SampledProblem:
    """A drawn problem.

    Attributes:
        domain: the domain.
        instance: its name, `<split>_<number>` of the draw.
        parameters: of the domain, the goal among them where it is not the domain's own.
        seed: what it was drawn with.
        distance: length of the shortest plan; None where it is not known.
        states: number of e-states; None where they were not exhausted.
        task: the problem.
    """

    domain: str
    instance: str
    parameters: Mapping[str, Any]
    seed: int
    distance: int | None
    states: int | None
    task: Task = field(repr=False)

    def row(self) -> dict[str, Any]:
        """What a table says of it."""
        blank = {"distance": self.distance, "states": self.states}
        return {
            "domain": self.domain,
            "instance": self.instance,
            "seed": self.seed,
            "parameters": json.dumps(self.parameters),
            **dict(zip(_COUNTS, _count_sizes(self.task), strict=True)),
            **{name: "" if value is None else value for name, value in blank.items()},
        }


_COUNTS = ("fluents", "agents", "actions", "subgoals")
COLUMNS = ("domain", "instance", "seed", "parameters", *_COUNTS, "distance", "states")


def sample_problems(
    domain: str,
    split: str,
    seed: int = 0,
    goals: int = GOALS,
    *,
    partially_explored: bool = False,
    long_goals: bool = False,
) -> Iterator[SampledProblem]:
    """Problems of a domain, without end; no two of them, and none of them and of the domain's tests, are the same.

    Being the same is meant up to the names of fluents, agents and actions. Problems of the split `train` have at most
    `MAX_STATES` e-states, unless larger ones are asked for; all plans have at least `MIN_DISTANCE` actions, and there
    is one for every problem of the split `train` and for every random goal.

    Of the problems with the same parameters, and so with the same e-states, the first has the domain's own goal; the
    goals of the others are hindsight: conjunctions of what is true at the end of a random walk.

    Args:
        domain: a domain with ranges.
        split: `train`, `validation` or `test`.
        seed: equal seeds draw equal problems.
        goals: how many problems are drawn with the same parameters; those that do not fit are left out.
        partially_explored: whether problems of the split `train` may have more than `MAX_STATES` e-states if a goal is
            among that many nearest e-states.
        long_goals: whether random goals have many subgoals, where longer walks end.

    Raises:
        UsageError: when there is no such domain or split.
        EpigymError: when no problem fits for long.
    """
    check_domains([domain])
    known: set[str] = set()
    explored = lru_cache(maxsize=8)(partial(_explore, domain, split))
    most = MOST_LONG if long_goals else MOST
    last = 0
    for number in count():
        if number - last > _PATIENCE:
            raise EpigymError(f"{domain}: none of {_PATIENCE} problems drawn for {split} fits; change its ranges")
        parameters = _sample_parameters(domain, split, Random(f"{seed} {split} {number // goals}"))
        near, texts = explored(json.dumps(parameters))
        if split == "train" and not (near.complete or partially_explored):
            continue
        own = number % goals == 0
        found = _sample_problem(near, texts, parameters, domain, split, seed, number, None if own else most[split])
        if found is None or (mark := signature(found.task)) in known or _is_test(found, mark):
            continue
        known.add(mark)
        last = number
        yield found


def check_domains(names: Iterable[str]) -> None:
    """See that there are domains of these names.

    Raises:
        UsageError: when there is none of a name.
    """
    for name in names:
        if name not in domains.DOMAINS:
            raise UsageError(unknown("domain", name, domains.DOMAINS))


def _sample_parameters(domain: str, split: str, random: Random) -> dict[str, Any]:
    try:
        return domains.DOMAINS[domain].sample(split, random)
    except domains.DomainError as error:
        raise UsageError(str(error)) from None


def _sample_problem(
    near: ExploredTask,
    texts: list[str],
    parameters: dict[str, Any],
    domain: str,
    split: str,
    seed: int,
    number: int,
    most: tuple[int, int] | None,
) -> SampledProblem | None:
    """The problem of a draw, if it fits, with a random goal of at most so many steps and subgoals, or the domain's."""
    instance = f"{split}_{number:05}"
    task = near.task
    if most is not None:
        goal = near.sample_goal(Random(f"{seed} {split} {number}"), *most)
        if goal is None:
            return None
        parameters = parameters | {"goals": [texts[index] for index in goal]}
        task = near.with_goal(goal)
    task = replace(task, name=f"{domain}/{instance}", instance=instance)
    distance = near.find_distance(task)
    is_known = near.complete or split == "train"  # where there is a plan, and how long it is
    if (distance is None and is_known) or (distance is not None and distance < MIN_DISTANCE):
        return None
    states = len(near.space) if near.complete else None
    return SampledProblem(domain, instance, parameters, seed, distance if is_known else None, states, task)


@dataclass(frozen=True, slots=True)
class ExploredTask:
    """E-states of a task, whatever its goal, nearest first, and what random goals are made of.

    Attributes:
        task: the task, with a goal of its own.
        space: the state space, whose first e-states are the explored ones.
        depth: int32[n], number of actions to each explored e-state.
        complete: whether these are all e-states.
        vocabulary: the formulas of random goals.
        walk: how to walk to a random goal; called like `sample_walk`.
    """

    task: Task
    space: StateSpace
    depth: NDArray[np.int32]
    complete: bool
    vocabulary: tuple[Formula, ...]
    walk: Callable[..., tuple[list[int], list[int]]]

    def sample_goal(self, random: Random, most_steps: int, most_subgoals: int) -> tuple[int, ...] | None:
        """Formulas of a goal that a random walk reaches, by number; None when walks change nothing.

        Args:
            random: the source of randomness.
            most_steps: most actions of the walk, at least `MIN_DISTANCE`.
            most_subgoals: most formulas of the goal, at least 1.
        """
        rng = np.random.default_rng(random.getrandbits(64))
        steps, most = random.randint(MIN_DISTANCE, most_steps), random.randint(1, most_subgoals)
        try:
            holds = self.space.query(self.vocabulary)
            return sample_goal(self.space, holds, rng, steps=steps, size=most, walk=self.walk).subgoals
        except TaskError:
            return None

    def with_goal(self, goal: tuple[int, ...]) -> Task:
        """The task with a goal of formulas of the vocabulary, by number."""
        return replace(self.task, goal=conjuncts(and_(*(self.vocabulary[index] for index in goal))))

    def find_distance(self, task: Task) -> int | None:
        """The depth of the first explored e-state that satisfies the goal of a task; None when there is none."""
        reached = self.space.query(task.goal)(np.arange(len(self.depth), dtype=np.int32)).all(axis=1)
        return int(self.depth[reached].min()) if reached.any() else None


def _explore(domain: str, split: str, parameters: str) -> tuple[ExploredTask, list[str]]:
    """What is near in a problem, and the texts of its vocabulary.

    That is all of it, if it has at most `MAX_STATES` e-states, or what is nearer than a goal.
    """
    chosen = json.loads(parameters)
    task = domain_problem(domain, **chosen)
    if split == "train":
        found = explore(task, ExplorerSettings("exhaustive", max_visited=MAX_STATES))
        space, depth, complete = found.space, found.depth, found.complete
    else:
        space = StateSpace(task)
        depth, complete = _explore_near(space)
    texts, formulas = vocabulary(domain, **chosen)
    return ExploredTask(task, space, depth, complete, formulas, sample_walk if complete else walk_narrowly), texts


def walk_narrowly(space: StateSpace, rng: np.random.Generator, *, steps: int) -> tuple[list[int], list[int]]:
    """Walk as `sample_narrow_walk` does, through e-states of at most 20,000 worlds."""
    return sample_narrow_walk(space, rng, steps=steps, max_worlds=_MOST_WORLDS)


def _explore_near(space: StateSpace) -> tuple[NDArray[np.int32], bool]:
    """The depths of the e-states nearer than `MIN_DISTANCE`, int32[n], and whether these are all e-states."""
    layers = [len(space)]  # e-states are numbered as they are met, layer by layer
    while layers[-1] and len(layers) < MIN_DISTANCE:
        space.expand(np.arange(len(space) - layers[-1], len(space)))
        layers.append(len(space) - sum(layers))
    return np.repeat(np.arange(len(layers), dtype=np.int32), layers), layers[-1] == 0


def _is_test(drawn: SampledProblem, mark: str) -> bool:
    """Whether a drawn problem is a test problem of its domain, up to names; what was frozen is drawn again as it is."""
    names = _list_tests(drawn.domain).get(_count_sizes(drawn.task), ())
    return any(name != drawn.instance and _load_signature(drawn.domain, name) == mark for name in names)


@cache
def _list_tests(domain: str) -> dict[tuple[int, ...], list[str]]:
    """The test problems and instances of suites of a domain by their size."""
    known = domains.DOMAINS[domain]
    found: dict[tuple[int, ...], list[str]] = {}
    for name in known.instances:
        if name not in known.train:
            counts = load_sizes().get(f"{domain}/{name}") or _count_sizes(domain_problem(f"{domain}/{name}"))
            found.setdefault(counts, []).append(name)
    return found


@cache
def _load_signature(domain: str, instance: str) -> str:
    return signature(domain_problem(f"{domain}/{instance}"))


def _count_sizes(task: Task) -> tuple[int, ...]:
    return len(task.fluents), len(task.agents), len(task.actions), len(task.goal)
