"""Sampled problems of a domain: random parameters within the ranges of the domain, and random goals.

The first of several problems with the same parameters has the domain's own goal. The goals of the others are
conjunctions of formulas of the domain's vocabulary, with nested and negated beliefs, that hold at the end of a random
walk. Problems that are too easy, unsolvable, or equal to others or to test problems are rejected.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache, lru_cache, partial
from itertools import count
from random import Random
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

import domains
from domains.domain import SEEDS
from domains.instances import load_sizes
from epigym.errors import EpigymError, TaskError, UsageError
from epigym.problem import domain_problem, vocabulary
from epigym.space.sampling import sample_goal, sample_narrow_walk, sample_walk
from epigym.space.signature import signature
from epigym.space.space import StateSpace
from epigym.task.formula import Formula, and_, conjuncts
from epigym.task.task import Task
from learn.data.explorers import ExplorerSettings, explore
from learn.data.problems import check_domains

MAX_STATES: Final = 20_000
"""Maximum number of e-states of a problem of the split `train`."""
MIN_DISTANCE: Final = 3
"""Minimum length of the shortest plan of a sampled problem."""
GOALS: Final = 4
"""Default number of problems sampled with the same parameters."""
MOST: Final = {"train": (15, 6), "validation": (30, 12), "test": (60, 24)}
"""For each split, the maximum length of the random walk to a goal and the maximum number of subgoals."""
MOST_LONG: Final = {"train": (30, 40), "validation": (60, 60), "test": (120, 80)}
"""The same for long goals."""
PUBLISHED: Final = "published"
"""In place of a split: the sizes of the published training problems."""
_MIDDLE: Final = "middle"  # the split of growing problems in names and seeds
_MOST_WORLDS: Final = 20_000  # of an e-state on a random walk
_PATIENCE: Final = 400  # maximum number of rejected problems in a row


@dataclass(frozen=True, slots=True)
class SampledProblem:
    """A sampled problem.

    Attributes:
        domain: name of the domain.
        instance: name of the problem, `<split>_<number>`, `published_<number>` or `middle_<number>` with the number of
            the sample.
        parameters: arguments of the domain, including the goal unless it is the domain's own.
        seed: of the sampling.
        distance: length of the shortest plan; None if it is unknown.
        states: number of e-states; None if they were not fully explored.
        task: the ground task.
    """

    domain: str
    instance: str
    parameters: Mapping[str, Any]
    seed: int
    distance: int | None
    states: int | None
    task: Task = field(repr=False)

    def row(self) -> dict[str, Any]:
        """The row of the table `problems.csv`."""
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
    growth: float = 0.0,
) -> Iterator[SampledProblem]:
    """Sample problems of a domain, without end.

    Problems differ from each other and from the domain's test problems by more than the names of fluents, agents and
    actions. Every plan has at least `MIN_DISTANCE` actions. Problems of the split `train` and problems with random
    goals are solvable. Problems of the split `train` have at most `MAX_STATES` e-states unless `partially_explored`.

    Problems with the same parameters have the same e-states. The first has the domain's own goal; the goals of the
    others are conjunctions of formulas that hold at the end of a random walk. Problems with the sizes of published ones
    have random goals only.

    Args:
        domain: name of a domain with ranges.
        split: `train`, `validation` or `test`; or `published` for the sizes of the published training problems.
        seed: equal seeds sample equal problems.
        goals: number of problems sampled with the same parameters, before rejection.
        partially_explored: whether problems of the split `train` may have more than `MAX_STATES` e-states if a goal is
            among that many nearest e-states.
        long_goals: whether random goals have many subgoals and lie at the end of longer walks.
        growth: sizes and goals are those of this share of the domain's growing problems, from the smallest on, if it
            has some; 0: those of the split.

    Raises:
        UsageError: when there is no such domain or split.
        EpigymError: when 400 problems in a row are rejected.
    """
    check_domains([domain])
    growing = domains.DOMAINS[domain].growth if growth else None
    split = split if growing is None else _MIDDLE
    known: set[str] = set()
    explored = lru_cache(maxsize=8)(partial(_explore, domain, split))
    most = MOST_LONG if long_goals else MOST
    last = 0
    for number in count():
        if number - last > _PATIENCE:
            raise EpigymError(f"{domain}: none of {_PATIENCE} problems sampled for {split} fits; change its ranges")
        sizes = Random(f"{seed} {split} {number // goals}")
        limits: tuple[int, int] | None
        if growing is not None:
            parameters, walk, subgoals = growing.sample(growth, sizes)
            limits = walk, subgoals
        elif split == PUBLISHED:
            parameters, limits = _sample_published(domain, sizes), most["train"]
        else:
            parameters = _sample_parameters(domain, split, sizes)
            limits = None if number % goals == 0 else most[split]
        near, texts = explored(json.dumps(parameters))
        if split == "train" and not (near.complete or partially_explored):
            continue
        found = _sample_problem(near, texts, parameters, domain, split, seed, number, limits)
        if found is None or (mark := signature(found.task)) in known or _is_test(found, mark):
            continue
        known.add(mark)
        last = number
        yield found


def _sample_parameters(domain: str, split: str, random: Random) -> dict[str, Any]:
    try:
        return domains.DOMAINS[domain].sample(split, random)
    except domains.DomainError as error:
        raise UsageError(str(error)) from None


def _sample_published(domain: str, random: Random) -> dict[str, Any]:
    """The parameters of a published training problem, but its goal and seed."""
    known = domains.DOMAINS[domain]
    chosen = known.instance(random.choice(known.train))
    found = {name: value for name, value in chosen.items() if name != "goals"}
    return found | ({"seed": random.randrange(SEEDS)} if "seed" in known.defaults else {})


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
    """A sampled problem, or None if it is rejected.

    `near` and `texts` are the result of `_explore`; `most` is the maximum length of the walk to a random goal and the
    maximum number of subgoals, or None for the domain's goal.
    """
    instance = f"{split}_{number:05}"
    task = near.task
    if most is not None:
        goal = near.sample_goal(Random(f"{seed} {split} {number}"), *most, is_exact=split == _MIDDLE)
        if goal is None:
            return None
        parameters = parameters | {"goals": [texts[index] for index in goal]}
        task = near.with_goal(goal)
    task = replace(task, name=f"{domain}/{instance}", instance=instance)
    distance = near.find_distance(task)
    is_known = near.complete or split == "train"  # whether there is a plan and its length
    if (distance is None and is_known) or (distance is not None and distance < MIN_DISTANCE):
        return None
    states = len(near.space) if near.complete else None
    return SampledProblem(domain, instance, parameters, seed, distance if is_known else None, states, task)


@dataclass(frozen=True, slots=True)
class ExploredTask:
    """The explored e-states of a task in breadth-first order, and the vocabulary of random goals.

    Attributes:
        task: the task with its own goal.
        space: the state space; its first n e-states are the explored ones.
        depth: int32[n], number of actions to each explored e-state.
        complete: whether these are all e-states.
        vocabulary: the formulas of random goals.
        walk: samples a walk to a random goal; called like `sample_walk`.
    """

    task: Task
    space: StateSpace
    depth: NDArray[np.int32]
    complete: bool
    vocabulary: tuple[Formula, ...]
    walk: Callable[..., tuple[list[int], list[int]]]

    def sample_goal(
        self, random: Random, most_steps: int, most_subgoals: int, *, is_exact: bool = False
    ) -> tuple[int, ...] | None:
        """Sample a goal that a random walk reaches, as numbers of formulas; None if no action changes the e-state.

        Args:
            random: the source of randomness.
            most_steps: maximum number of actions of the walk, at least `MIN_DISTANCE`.
            most_subgoals: maximum number of formulas of the goal, at least 1.
            is_exact: whether to take both maxima; else numbers up to them are sampled.
        """
        rng = np.random.default_rng(random.getrandbits(64))
        steps, most = random.randint(MIN_DISTANCE, most_steps), random.randint(1, most_subgoals)
        if is_exact:
            steps, most = most_steps, most_subgoals
        try:
            holds = self.space.query(self.vocabulary)
            return sample_goal(self.space, holds, rng, steps=steps, size=most, walk=self.walk).subgoals
        except TaskError:
            return None

    def with_goal(self, goal: tuple[int, ...]) -> Task:
        """The task with the conjunction of formulas of the vocabulary, given by number, as its goal."""
        return replace(self.task, goal=conjuncts(and_(*(self.vocabulary[index] for index in goal))))

    def find_distance(self, task: Task) -> int | None:
        """The depth of the nearest explored e-state that satisfies the goal of a task; None if there is none."""
        reached = self.space.query(task.goal)(np.arange(len(self.depth), dtype=np.int32)).all(axis=1)
        return int(self.depth[reached].min()) if reached.any() else None


def _explore(domain: str, split: str, parameters: str) -> tuple[ExploredTask, list[str]]:
    """Explore a problem; return its explored e-states and the texts of its vocabulary.

    Problems of the split `train` are explored up to `MAX_STATES` e-states, others up to the depth `MIN_DISTANCE`.
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
    """Sample a walk through e-states of at most 20,000 worlds."""
    return sample_narrow_walk(space, rng, steps=steps, max_worlds=_MOST_WORLDS)


def _explore_near(space: StateSpace) -> tuple[NDArray[np.int32], bool]:
    """The depths of the e-states nearer than `MIN_DISTANCE`, int32[n], and whether there are no others."""
    layers = [len(space)]  # e-states are numbered layer by layer
    while layers[-1] and len(layers) < MIN_DISTANCE:
        space.expand(np.arange(len(space) - layers[-1], len(space)))
        layers.append(len(space) - sum(layers))
    return np.repeat(np.arange(len(layers), dtype=np.int32), layers), layers[-1] == 0


def _is_test(sampled: SampledProblem, mark: str) -> bool:
    """Whether a sampled problem equals a test problem of its domain up to names.

    A test problem that was sampled itself, with the same number, does not count.
    """
    names = _list_tests(sampled.domain).get(_count_sizes(sampled.task), ())
    return any(name != sampled.instance and _load_signature(sampled.domain, name) == mark for name in names)


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
