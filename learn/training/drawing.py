"""Problems to learn from and to choose by, from the distributions of domains, and the pairs of those to learn from."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice

from rich.progress import track

from epigym.task import Task
from learn.data.distribution import GOALS, MAX_STATES, draw
from learn.data.pairs import Pairs, pairs_of


def drawn(domains: Sequence[str], split: str, draws: int, seed: int, goals: int = GOALS) -> list[Task]:
    """The first problems of the distributions of domains, `draws` of each, see `draw`.

    Raises:
        UsageError: when there is no such domain.
        EpigymError: when no problem fits for long.
    """
    found: list[Task] = []
    for domain in track(domains, f"drawing {split} problems", transient=True):
        found += [one.task for one in islice(draw(domain, split, seed, goals), draws)]
    return found


def all_pairs(tasks: Sequence[Task], expansions: int, seed: int) -> list[Pairs]:
    """The pairs of problems, without those that have none, see `pairs_of`."""
    found = [
        pairs_of(task, expansions=expansions, max_states=MAX_STATES, seed=seed + number)
        for number, task in enumerate(track(tasks, "exhausting them", transient=True))
    ]
    return [pairs for pairs in found if pairs is not None]
