"""Records of an evaluation computed by array tasks of a cluster, with submitit."""

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
from search.evaluation.batch import RecordBatch
from search.evaluation.cluster.clusters import Local, Slurm
from search.evaluation.record import Record, read_cached

if TYPE_CHECKING:
    from submitit import Job

logger = logging.getLogger("search.evaluate")


def compute_records(
    batch: RecordBatch, numbers: Iterable[int], cluster: Local | Slurm
) -> Generator[tuple[int, SearchResult], None, None]:
    """Compute the records at some positions by array tasks, and yield every outcome when its file appears.

    The file `tasks.json` lists the records of each task: a later run waits for tasks that still run and submits only
    the other records. A task that ends without all of its outcomes causes an error message with the path of its log.

    Raises:
        MissingError: when this machine cannot submit.
        UsageError: when the cluster refuses the tasks.
    """
    place = batch.folder / "cluster"
    waiting = {number: batch.records[number] for number in numbers}
    tasks = _find_running(place, cluster) if waiting else {}
    taken = {file for files in tasks.values() for file in files}
    if rest := [record for record in waiting.values() if _file_of(record, batch.folder) not in taken]:
        tasks |= _submit(replace(batch, records=rest), place, cluster)
        write_checksummed(place / "tasks.json", {job.job_id: files for job, files in tasks.items()})
    logger.info("%d array tasks, whose logs are in %s", len(tasks), place)
    return _collect_outcomes(batch, waiting, tasks, cluster)


def _collect_outcomes(
    batch: RecordBatch, waiting: dict[int, Record], tasks: dict[Job[None], list[str]], cluster: Local | Slurm
) -> Generator[tuple[int, SearchResult], None, None]:
    alive = list(tasks)
    try:
        while waiting and alive:
            alive = _drop_ended(alive)
            for number, record in list(waiting.items()):
                if result := record.read(batch.folder):
                    del waiting[number]
                    yield number, result
            if waiting and alive:
                sleep(cluster.poll_seconds)
    finally:
        if waiting and alive:
            cluster.leave(alive)
    lost = {_file_of(record, batch.folder) for record in waiting.values()}
    for job, files in tasks.items():
        if undone := lost.intersection(files):
            logger.error("array task %s ended without %d outcomes, see %s", job.job_id, len(undone), job.paths.stderr)


def order_by_time(records: Iterable[Record], folder: Path) -> list[Record]:
    """Records by decreasing expected time; without an earlier outcome, the time limit, and larger problems first."""
    records = list(records)
    sizes = {problem: sum(map(len, problem.contents())) for problem in {record.problem for record in records}}
    return sorted(records, key=lambda record: (-record.estimate_seconds(folder), -sizes[record.problem]))


def _find_running(place: Path, cluster: Local | Slurm) -> dict[Job[None], list[str]]:
    """The running array tasks of earlier runs, with the files that they write."""
    files = read_cached(place / "tasks.json", "the records of its tasks are submitted again")
    return {job: files[job.job_id] for job in _drop_ended(cluster.find_jobs(place, files))}


def _drop_ended(jobs: Sequence[Job[None]]) -> list[Job[None]]:
    """The array tasks that still run."""
    if jobs:
        jobs[0].get_info(mode="force")  # refreshes the state of all
    return [job for job in jobs if not job.done()]


def _submit(batch: RecordBatch, place: Path, cluster: Local | Slurm) -> dict[Job[None], list[str]]:
    """Submit array tasks for all records; returns them with the files that they write."""
    from submitit.helpers import clean_env

    batches = [
        replace(batch, records=records) for records in cluster.make_batches(order_by_time(batch.records, batch.folder))
    ]
    executor = cluster.make_executor(place, batches)
    try:
        with clean_env():  # without the variables of a SLURM task that runs this process
            jobs = executor.submit_array(batches)
    except RuntimeError as error:  # of submitit, with the message of sbatch
        raise UsageError(f"the array is refused: {str(error).strip().splitlines()[0]}") from None
    return {
        job: [_file_of(record, batch.folder) for record in one.records] for job, one in zip(jobs, batches, strict=True)
    }


def _file_of(record: Record, folder: Path) -> str:
    return record.file(folder).relative_to(folder).as_posix()
