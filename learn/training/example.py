"""Trying a trained network on larger problems: which of them greedy search solves with it."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator
from itertools import chain, islice
from pathlib import Path

from domains import DOMAINS
from domains import write as text_of
from epigym.errors import LimitError
from epigym.io.files import write_text
from epigym.space.space import StateSpace
from epigym.task.task import Task
from learn.data.distribution import sample_problems
from learn.models.scoring import open_scorer
from learn.training.validation import search_greedily
from search.agents.result import SearchStatus

_PROBLEMS = 10  # of each split
_EXPANSIONS = 500  # for each problem

logger = logging.getLogger(__name__)


def write_samples(domain: str, seed: int, folder: Path) -> Iterator[tuple[str, Task]]:
    """Sampled problems of a domain as files: those of the split `validation`, larger than those of `train`, come first.

    Args:
        domain: the domain.
        seed: of the training.
        folder: where the files are written, each when its problem is taken.
    """
    suffix = ".txt" if DOMAINS[domain].language == "mA*" else ".epddl"
    for one in chain.from_iterable(
        islice(sample_problems(domain, split, seed), _PROBLEMS) for split in ("validation", "train")
    ):
        path = folder / f"{domain}_{one.instance}{suffix}"
        write_text(path, text_of(domain, **one.parameters))
        yield str(path), one.task


def find_solved(checkpoint: Path, problems: Iterable[tuple[str, Task]], *, consistent_beliefs: bool) -> str | None:
    """The first problem that greedy search solves with a network; None where it solves none.

    Args:
        checkpoint: of the network.
        problems: names and tasks; those that the encoding of the network has no room for are passed over.
        consistent_beliefs: whether e-states are left out in which an agent believes everything, see `StateSpace`.
    """
    for name, task in problems:
        space = StateSpace(task, consistent_beliefs=consistent_beliefs)
        try:
            score = open_scorer(checkpoint, space).score
        except LimitError:
            continue
        found = search_greedily(space, score, _EXPANSIONS)
        if found.status is SearchStatus.SOLVED:
            logger.info("greedy search solves %s with this checkpoint in %d expansions:", task.name, found.expanded)
            return name
        logger.info("greedy search does not solve %s with this checkpoint in %d expansions", task.name, _EXPANSIONS)
    return None
