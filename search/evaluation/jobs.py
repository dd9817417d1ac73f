"""Records of an evaluation computed by jobs of submitit: an array on a SLURM cluster, or processes of this machine."""

from __future__ import annotations

import logging
from collections.abc import Generator, Iterable
from dataclasses import dataclass, replace
from math import ceil
from pathlib import Path
from time import sleep
from typing import TYPE_CHECKING

from epigym.config.cluster import Queue, drop_ended
from epigym.config.values import Count
from epigym.errors import UsageError
from epigym.io.checksummed import write_checksummed

if TYPE_CHECKING:
    from submitit import Job

    from search.agents.result import SearchResult
    from search.evaluation.batch import RecordBatch
    from search.evaluation.record import Record

_SPARE_MINUTES = 5  # to start a job, and to end it before it is killed
_SPARE_BYTES = 1 << 30  # of the supervisor and of the server that forks the processes
logger = logging.getLogger("search.evaluate")


@dataclass(frozen=True, kw_only=True)
class Cluster(Queue):
    """The executor of jobs and their sizes, see `conf/cluster`; None for one job for each worker."""

    records: Count | None = None
    tasks: Count = 1


def compute_records(
    batch: RecordBatch, numbers: Iterable[int], cluster: Cluster
) -> Generator[tuple[int, SearchResult], None, None]:
    """Compute the records at some positions by jobs, and yield every outcome when its file appears.

    The file `tasks.json` lists the files that each job writes: a later run waits for jobs of SLURM that still run and
    submits only the other records. A job that ends without all of its outcomes causes an error message with its log.

    Raises:
        MissingError: when this machine cannot submit.
        EpigymError: when SLURM refuses the jobs, or does not know one of an earlier run.
    """
    from search.evaluation.record import read_cached

    place, waiting = batch.folder / "cluster", {number: batch.records[number] for number in numbers}
    files = read_cached(place / "tasks.json", "the records of its jobs are submitted again") if waiting else {}
    jobs = {job: files[job.job_id] for job in cluster.find_running(place, files)}
    taken = {file for files in jobs.values() for file in files}
    if rest := [record for record in waiting.values() if record.file_name not in taken]:
        jobs |= _submit(replace(batch, records=rest), place, cluster)
        write_checksummed(place / "tasks.json", {job.job_id: files for job, files in jobs.items()})
    logger.info("%d jobs, whose logs are in %s", len(jobs), place)
    return _collect_outcomes(batch.folder, waiting, jobs, cluster)


def _collect_outcomes(
    folder: Path, waiting: dict[int, Record], jobs: dict[Job[None], list[str]], cluster: Cluster
) -> Generator[tuple[int, SearchResult], None, None]:
    alive = list(jobs)
    try:
        while waiting and alive:
            alive = drop_ended(alive)
            for number, record in list(waiting.items()):
                if result := record.read(folder):
                    del waiting[number]
                    yield number, result
            if waiting and alive:
                sleep(cluster.poll_seconds)
    finally:
        if waiting and alive:
            cluster.leave(alive)
    lost = {record.file_name for record in waiting.values()}
    for job, files in jobs.items():
        if undone := lost.intersection(files):
            logger.error("job %s ended without %d outcomes, see %s", job.job_id, len(undone), job.paths.stderr)


def _submit(batch: RecordBatch, place: Path, cluster: Cluster) -> dict[Job[None], list[str]]:
    """Submit jobs for all records; returns them with the files that they write."""
    from submitit.helpers import clean_env

    from search.evaluation.grid import divide, order_by_time

    parts = divide(order_by_time(batch.records, batch.folder), cluster.workers, cluster.records, cluster.tasks)
    most = max(map(len, parts))
    if cluster.timeout_min is not None and cluster.timeout_min < (least := _minutes(batch.wall_limit)):
        raise UsageError(
            f"cluster.timeout_min={cluster.timeout_min} is too short for a search, which may take time_limit + grace: "
            f"give at least {least}"
        )
    executor = cluster.make_executor(
        place,
        minutes=_minutes(ceil(most / batch.parallel) * batch.wall_limit),
        processors=batch.processors,
        memory=batch.parallel * batch.memory_limit + _SPARE_BYTES,
        restarts=most,  # before each time-out a job finishes at least one record
    )
    try:
        with clean_env():  # without the variables of a SLURM job that runs this process
            jobs = executor.submit_array([replace(batch, records=records) for records in parts])
    except RuntimeError as error:  # of submitit, with the message of sbatch
        raise UsageError(f"the array is refused: {str(error).strip().splitlines()[0]}") from None
    return {job: [record.file_name for record in records] for job, records in zip(jobs, parts, strict=True)}


def _minutes(seconds: float) -> int:
    return _SPARE_MINUTES + ceil(seconds / 60)
