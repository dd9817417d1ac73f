"""An example of search with a trained network: a larger problem that greedy search solves."""

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
from learn.models.opening import open_model
from learn.training.validation import search_greedily
from search.agents.result import SearchStatus

_PROBLEMS = 10  # of each split

logger = logging.getLogger(__name__)


def write_samples(domain: str, seed: int, folder: Path) -> Iterator[tuple[str, Task]]:
    """Write sampled problems of a domain as files, first those of the split `validation`, then smaller ones of `train`.

    Args:
        domain: name of the domain.
        seed: of the sampling.
        folder: folder of the files; each is written when the iterator yields its problem.

    Yields:
        The path and the task of each problem.
    """
    suffix = ".txt" if DOMAINS[domain].language == "mA*" else ".epddl"
    for one in chain.from_iterable(
        islice(sample_problems(domain, split, seed), _PROBLEMS) for split in ("validation", "train")
    ):
        path = folder / f"{domain}_{one.instance}{suffix}"
        write_text(path, text_of(domain, **one.parameters))
        yield str(path), one.task


def find_solved(
    folder: Path, problems: Iterable[tuple[str, Task]], *, consistent_beliefs: bool, nodes: int = 500
) -> str | None:
    """The name of the first problem that greedy search solves with a network; None if it solves none.

    Args:
        folder: of the run.
        problems: names and tasks; tasks that do not fit the encoding of the network are skipped.
        consistent_beliefs: whether e-states with inconsistent beliefs are excluded, see `StateSpace`.
        nodes: maximum number of expansions on each problem.
    """
    model = open_model(folder)
    for name, task in problems:
        space = StateSpace(task, consistent_beliefs=consistent_beliefs)
        try:
            score = model.make_scorer(space).score
        except LimitError:
            continue
        found = search_greedily(space, score, nodes)
        if found.status is SearchStatus.SOLVED:
            logger.info("greedy search solves %s with this model in %d expansions:", task.name, found.expanded)
            return name
        logger.info("greedy search does not solve %s with this model in %d expansions", task.name, nodes)
    return None
