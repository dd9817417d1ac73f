"""Problems to learn from and to choose by, from the distributions of domains, and the pairs of those to learn from."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice

from rich.progress import track

from epigym.errors import EpigymError
from epigym.features.types import FeatureTypes
from epigym.task.task import Task
from learn.data.distribution import GOALS, MAX_STATES, sample_problems
from learn.data.pairs import Pairs, make_pairs
from learn.training.validation import Problems


def sample_tasks(
    domains: Sequence[str],
    split: str,
    instances: int,
    seed: int,
    goals: int = GOALS,
    *,
    partially_explored: bool = False,
    long_goals: bool = False,
) -> list[Task]:
    """The first problems of the distributions of domains, `instances` of each, see `sample_problems`.

    Raises:
        UsageError: when there is no such domain.
        EpigymError: when no problem fits for long.
    """
    found: list[Task] = []
    for domain in track(domains, f"drawing {split} problems", transient=True):
        problems = sample_problems(
            domain, split, seed, goals, partially_explored=partially_explored, long_goals=long_goals
        )
        found += [one.task for one in islice(problems, instances)]
    return found


def sample_validation(domains: Sequence[str], instances: int, seed: int, *, long_goals: bool = False) -> Problems:
    """The problems to validate on, `instances` of each domain, with the types of their tasks."""
    return [
        (task, FeatureTypes(task))
        for task in sample_tasks(domains, "validation", instances, seed, long_goals=long_goals)
    ]


def make_all_pairs(
    tasks: Sequence[Task], expansions: int, seed: int, *, partially_explored: bool = False
) -> list[Pairs]:
    """The pairs of problems, without those that have none, see `make_pairs`.

    Raises:
        EpigymError: when no problem has any.
    """
    found = [
        make_pairs(
            task,
            expansions=expansions,
            max_states=MAX_STATES,
            seed=seed + number,
            partially_explored=partially_explored,
        )
        for number, task in enumerate(track(tasks, "exhausting them", transient=True))
    ]
    kept = [one for one in found if one is not None]
    if not kept:
        names = ", ".join(dict.fromkeys(task.domain for task in tasks))
        raise EpigymError(f"nothing to learn from in {len(tasks)} problems of {names}: sample more")
    return kept
