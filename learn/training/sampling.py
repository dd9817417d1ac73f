"""Sampled problems for training and validation, and the pairs of training problems."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice

from rich.progress import track

from epigym.errors import EpigymError
from epigym.task.task import Task
from learn.data.distribution import GOALS, MAX_STATES, sample_problems
from learn.data.pairs import Pairs, make_pairs


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
    """Sample `instances` problems of each domain, see `sample_problems`.

    Raises:
        UsageError: when there is no such domain.
        EpigymError: when 400 problems in a row are rejected.
    """
    found: list[Task] = []
    for domain in track(domains, f"sampling {split} problems", transient=True):
        problems = sample_problems(
            domain, split, seed, goals, partially_explored=partially_explored, long_goals=long_goals
        )
        found += [one.task for one in islice(problems, instances)]
    return found


def make_all_pairs(
    tasks: Sequence[Task], expansions: int, seed: int, *, partially_explored: bool = False
) -> list[Pairs]:
    """Make the pairs of all problems that have some, see `make_pairs`.

    Raises:
        EpigymError: when no problem has pairs.
    """
    found = [
        make_pairs(
            task,
            expansions=expansions,
            max_states=MAX_STATES,
            seed=seed + number,
            partially_explored=partially_explored,
        )
        for number, task in enumerate(track(tasks, "exploring problems", transient=True))
    ]
    kept = [one for one in found if one is not None]
    if not kept:
        names = ", ".join(dict.fromkeys(task.domain for task in tasks))
        raise EpigymError(f"nothing to learn from in {len(tasks)} problems of {names}: sample more")
    return kept
