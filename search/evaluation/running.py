"""An evaluation: a grid of searches, each in a process of its own, that goes on where it was interrupted."""

from __future__ import annotations

import logging
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console

from epigym.errors import EpigymError
from search.agents.result import SearchStatus
from search.evaluation.board import Board
from search.evaluation.grid import Cell
from search.planning.configuration import Configuration
from search.planning.processes import Job, supervise

logger = logging.getLogger("search.evaluate")


def evaluate(
    cells: Sequence[Cell], folder: Path, *, parallel: int, wall_limit: float, memory_limit: int, retry: bool
) -> None:
    """Do the searches that are not finished and keep every outcome in a file of its own.

    A run that was interrupted, at whatever moment, goes on where it was when it is started again. A cell that
    fails is an outcome too.

    Args:
        cells: the searches.
        folder: where their outcomes are kept.
        parallel: number of processes at a time.
        wall_limit: seconds until a process is killed.
        memory_limit: bytes at which a process is killed.
        retry: whether to do cells again that ended with an error.

    Raises:
        KeyboardInterrupt: when it was interrupted; the message says how to go on.
    """
    known = {number: result for number, cell in enumerate(cells) if (result := cell.read(folder)) is not None}
    if retry:
        known = {number: result for number, result in known.items() if result.status is not SearchStatus.ERROR}
    logger.info("%d cells, %d of them finished before: %s", len(cells), len(known), folder)
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        os.environ.setdefault(name, "1")  # one core for each process
    jobs = [Job(number, cell.search, ()) for number, cell in enumerate(cells) if number not in known]
    try:
        with Board(Console(), cells, known) as board:
            for ending in supervise(
                board.watch(jobs),
                parallel=parallel,
                wall_limit=wall_limit,
                memory_limit=memory_limit,
                preload=_modules(cells),
            ):
                cell = cells[ending.job.key]
                result = cell.outcome(ending)
                cell.write(folder, result, ending.detail)
                board.finished(ending.job.key, result)
                logger.debug("finished %s with %s: %s", cell.problem, cell.configuration.label, result.status)
    except KeyboardInterrupt:
        raise KeyboardInterrupt(
            f"what is finished is kept in {folder}: start the command again to go on, "
            f"or see it with `python -m search.report {folder}`"
        ) from None


def configurations_of(agents: Sequence[Any], heuristics: Sequence[Any]) -> list[Configuration]:
    """Every informed agent with every heuristic; a blind agent stands alone.

    Args:
        agents: names, or mappings of name and settings.
        heuristics: the same.

    Raises:
        EpigymError: when two configurations have the same label, or a name is unknown.
    """
    found: dict[str, Configuration] = {}
    for agent in agents:
        for heuristic in heuristics or [None]:
            configuration = Configuration.of(agent, heuristic)
            other = found.setdefault(configuration.label, configuration)
            if other != configuration:
                raise EpigymError(f"two configurations are called {other.label!r}; give one of them a label")
    return list(found.values())


def _modules(cells: Sequence[Cell]) -> list[str]:
    """What every process imports, this module's imports included."""
    heuristics: list[Mapping[str, Any] | None] = [cell.configuration.heuristic for cell in cells]
    learned = any(heuristic is not None and heuristic.get("name") == "gnn" for heuristic in heuristics)
    return ["search.evaluation.running", *(["search.heuristics.gnn"] if learned else [])]
