"""Running the cells of an evaluation that are still to be computed."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterable, Sequence
from contextlib import closing
from pathlib import Path

from rich.console import Console

from search.agents.result import SearchResult, SearchStatus
from search.evaluation.board import Board
from search.evaluation.cell import Cell
from search.evaluation.grid import shard, write_table
from search.heuristics.gnn import Gnn, require_checkpoint
from search.planning.processes import Job, supervise
from search.planning.single import outcome

logger = logging.getLogger("search.evaluate")


def evaluate(
    cells: list[Cell],
    folder: Path,
    *,
    part: str | None,
    parallel: int,
    wall_limit: float,
    memory_limit: int,
    retry: bool,
) -> list[SearchResult]:
    """Search and keep every outcome in a file of its own; a search that fails is an outcome too.

    A run that was interrupted, at whatever moment, goes on where it was when it is started again. At its end, and when
    it is interrupted by Ctrl-C, `results.csv` is derived from the outcomes.

    Args:
        cells: the whole grid.
        folder: where the outcomes are kept.
        part: which cells to compute, see `search.evaluation.grid.shard`.
        parallel: processes at a time.
        wall_limit: seconds until a process is killed.
        memory_limit: bytes of resident memory at which a process is killed.
        retry: whether to compute again what ended with an error.

    Returns:
        The outcomes of the part, in the order of its cells, those that were there before included.

    Raises:
        UsageError: when the part is written in a wrong way.
        MissingError: when the regressor of a search is missing; a portfolio does without members that lack theirs.
        KeyboardInterrupt: when it was interrupted; the message says what is kept and how to go on.
    """
    own = shard(cells, part)
    known = {number: result for number, cell in enumerate(own) if (result := cell.read(folder)) is not None}
    if retry:
        known = {number: result for number, result in known.items() if result.status is not SearchStatus.ERROR}
    logger.info("%d cells, %d of them finished before: %s", len(own), len(known), folder)
    _require_checkpoints(cell for number, cell in enumerate(own) if number not in known)
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        os.environ.setdefault(name, "1")  # one core for each process
    board = Board(Console(), own, known)
    jobs = board.watch(Job(number, cell.search, ()) for number, cell in enumerate(own) if number not in known)
    running = supervise(
        jobs, parallel=parallel, wall_limit=wall_limit, memory_limit=memory_limit, preload=_modules(own)
    )
    try:
        with board, closing(running) as endings:
            for ending in endings:
                cell = own[ending.job.key]
                result = outcome(ending, cell.configuration, cell.problem.name, cell.forbid_collapse)
                cell.write(folder, result, ending.detail)
                known[ending.job.key] = result
                board.finished(ending.job.key, result)
                logger.debug("finished %s with %s: %s", cell.problem.name, cell.configuration.label, result.status)
    except KeyboardInterrupt:
        raise KeyboardInterrupt(
            f"what is finished is kept in {folder}: start the command again to go on, "
            f"or see it with `python -m search.report {folder}`"
        ) from None
    finally:
        write_table(folder, cells)
    return [known[number] for number in range(len(own))]


def _require_checkpoints(cells: Iterable[Cell]) -> None:
    needed = {
        (heuristic["checkpoint"], None if cell.problem.is_file else cell.problem.domain): None
        for cell in cells
        if (heuristic := cell.configuration.heuristic) and heuristic.get("name") == Gnn.name
    }
    for checkpoint, domain in needed:
        require_checkpoint(checkpoint, domain)


def _modules(cells: Sequence[Cell]) -> list[str]:
    """What every process imports, this module's imports included."""
    return ["search.evaluation.running", *(["torch"] if any(cell.configuration.is_learned for cell in cells) else [])]
