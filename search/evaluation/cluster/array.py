"""The cells of an evaluation as array tasks of a cluster, by submitit."""

from __future__ import annotations

import logging
from collections.abc import Generator, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from time import sleep
from typing import TYPE_CHECKING

from epigym.errors import UsageError
from epigym.io.checksummed import write_checksummed
from search.agents.result import SearchResult
from search.evaluation.batch import Batch
from search.evaluation.cell import Cell, kept
from search.evaluation.cluster.clusters import Local, Slurm

if TYPE_CHECKING:
    from submitit import Job

logger = logging.getLogger("search.evaluate")


def compute(
    batch: Batch, numbers: Iterable[int], cluster: Local | Slurm
) -> Generator[tuple[int, SearchResult], None, None]:
    """Have the cells at some positions computed by array tasks; every outcome, as its file appears.

    A file says which task computes what: whoever comes next waits for those that still run, and submits only what none
    of them computes. A task that ends without all of its outcomes is named with its log.

    Raises:
        MissingError: when nothing can be submitted from here.
        UsageError: when the cluster refuses the tasks.
    """
    place = batch.folder / "cluster"
    waiting = {number: batch.cells[number] for number in numbers}
    tasks = _recorded(place, cluster) if waiting else {}
    taken = {file for files in tasks.values() for file in files}
    if rest := [cell for cell in waiting.values() if _file(cell, batch.folder) not in taken]:
        tasks |= _submitted(replace(batch, cells=rest), place, cluster)
        write_checksummed(place / "tasks.json", {job.job_id: files for job, files in tasks.items()})
    logger.info("%d array tasks, whose logs are in %s", len(tasks), place)
    return _outcomes(batch, waiting, tasks, cluster)


def _outcomes(
    batch: Batch, waiting: dict[int, Cell], tasks: dict[Job[None], list[str]], cluster: Local | Slurm
) -> Generator[tuple[int, SearchResult], None, None]:
    alive = list(tasks)
    try:
        while waiting and alive:
            alive = _alive(alive)
            for number, cell in list(waiting.items()):
                if result := cell.read(batch.folder):
                    del waiting[number]
                    yield number, result
            if waiting and alive:
                sleep(cluster.poll_seconds)
    finally:
        if waiting and alive:
            cluster.leave(alive)
    lost = {_file(cell, batch.folder) for cell in waiting.values()}
    for job, files in tasks.items():
        if undone := lost.intersection(files):
            logger.error("array task %s ended without %d outcomes, see %s", job.job_id, len(undone), job.paths.stderr)


def longest_first(cells: Iterable[Cell], folder: Path) -> list[Cell]:
    """Cells by what they took before; what was never computed counts as long as it may take, larger problems first."""
    cells = list(cells)
    sizes = {problem: sum(map(len, problem.contents())) for problem in {cell.problem for cell in cells}}
    return sorted(cells, key=lambda cell: (-cell.expected_seconds(folder), -sizes[cell.problem]))


def _recorded(place: Path, cluster: Local | Slurm) -> dict[Job[None], list[str]]:
    """The array tasks that were submitted before and have not ended, with the files that they write."""
    files = kept(place / "tasks.json", "what it said to run is submitted again")
    return {job: files[job.job_id] for job in _alive(cluster.known(place, files))}


def _alive(jobs: Sequence[Job[None]]) -> list[Job[None]]:
    """The array tasks that have not ended."""
    if jobs:
        jobs[0].get_info(mode="force")  # SLURM is asked for all of them
    return [job for job in jobs if not job.done()]


def _submitted(batch: Batch, place: Path, cluster: Local | Slurm) -> dict[Job[None], list[str]]:
    """New array tasks that compute all cells, with the files that they write."""
    from submitit.helpers import clean_env

    batches = [replace(batch, cells=cells) for cells in cluster.batches(longest_first(batch.cells, batch.folder))]
    executor = cluster.executor(place, batches)
    try:
        with clean_env():  # of a task of SLURM in which this may run
            jobs = executor.submit_array(batches)
    except RuntimeError as error:  # of submitit, with what sbatch said
        raise UsageError(f"the array is refused: {str(error).strip().splitlines()[0]}") from None
    return {job: [_file(cell, batch.folder) for cell in one.cells] for job, one in zip(jobs, batches, strict=True)}


def _file(cell: Cell, folder: Path) -> str:
    return cell.file(folder).relative_to(folder).as_posix()
