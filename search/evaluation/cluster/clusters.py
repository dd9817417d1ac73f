"""Where the array tasks of an evaluation run: as processes of this machine, or on a SLURM cluster."""

from __future__ import annotations

import logging
import shutil
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from math import ceil
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from epigym.errors import EpigymError, MissingError, UsageError

if TYPE_CHECKING:
    from submitit import Job, LocalExecutor, SlurmExecutor

    from search.evaluation.batch import RecordBatch

T = TypeVar("T")

_SPARE_SECONDS = 300.0  # to start the task, and to end it before it is killed
_SPARE_BYTES = 1 << 30  # of the supervisor and of the server that forks the processes

logger = logging.getLogger("search.evaluate")


@dataclass(frozen=True, kw_only=True)
class Local:
    """Processes of this machine, see `conf/cluster/local.yaml`."""

    poll_seconds: ClassVar[float] = 0.5

    workers: int = field(metadata={"minimum": 1})

    def make_batches(self, ordered: Sequence[T]) -> list[list[T]]:
        """One batch for each worker; the first records come first in their batches."""
        return _deal(ordered, min(self.workers, len(ordered)))

    def make_executor(self, folder: Path, batches: Sequence[RecordBatch]) -> LocalExecutor:
        """The object that submits the batches."""
        from submitit import LocalExecutor

        executor = LocalExecutor(folder)
        executor.update_parameters(timeout_min=_count_minutes(batches))
        return executor

    def find_jobs(self, folder: Path, names: Iterable[str]) -> list[Job[None]]:
        """No array tasks: records of a killed command are computed again."""
        return []

    def leave(self, jobs: Sequence[Job[None]]) -> None:
        """End the array tasks."""
        for job in jobs:
            job.cancel()


@dataclass(frozen=True, kw_only=True)
class Slurm:
    """A SLURM cluster on whose machines the folder and the program are the same, see `conf/cluster/slurm.yaml`."""

    poll_seconds: ClassVar[float] = 30.0  # the interval at which submitit queries SLURM

    workers: int = field(metadata={"minimum": 1})
    records: int = field(metadata={"minimum": 1})
    tasks: int = field(metadata={"minimum": 1})
    partition: str | None
    account: str | None
    timeout_min: int | None = field(metadata={"minimum": 1})
    cpus_per_task: int | None = field(metadata={"minimum": 1})
    mem: str | None
    name: str
    additional_parameters: dict[str, Any]

    def make_batches(self, ordered: Sequence[T]) -> list[list[T]]:
        """Small batches, in waves of `workers`; the first records come first in the batches of their wave."""
        size = max(self.records, ceil(len(ordered) / self.tasks))
        wave = size * self.workers
        waves = [ordered[start : start + wave] for start in range(0, len(ordered), wave)]
        return [batch for wave in waves for batch in _deal(wave, ceil(len(wave) / size))]

    def make_executor(self, folder: Path, batches: Sequence[RecordBatch]) -> SlurmExecutor:
        """The object that submits the batches as an array.

        Raises:
            MissingError: when this machine cannot submit.
            UsageError: when the time limit of a task is too short for one search.
        """
        from submitit import SlurmExecutor

        if missing := [name for name in ("sbatch", "srun", "sacct") if shutil.which(name) is None]:
            raise MissingError(f"cluster=slurm: there is no {missing[0]}: start it on a machine that can submit")
        longest = max(batch.wall_limit for batch in batches) + _SPARE_SECONDS
        if self.timeout_min is not None and 60 * self.timeout_min < longest:
            raise UsageError(
                f"cluster.timeout_min={self.timeout_min} is too short for a search, which may take time_limit + grace: "
                f"give at least {ceil(longest / 60)}"
            )
        processors = self.cpus_per_task or max(batch.processors for batch in batches)
        memory = max(batch.parallel * batch.memory_limit for batch in batches) + _SPARE_BYTES
        # Before each time-out a task finishes at least one record.
        executor = SlurmExecutor(folder, max_num_timeout=max(len(batch.records) for batch in batches))
        executor.update_parameters(
            job_name=self.name,
            partition=self.partition,
            account=self.account,
            time=self.timeout_min or _count_minutes(batches),
            cpus_per_task=processors,
            mem=self.mem or f"{ceil(memory / 2**20)}M",
            array_parallelism=self.workers,
            srun_args=[f"--cpus-per-task={processors}"],  # since SLURM 22.05, srun does not inherit it from sbatch
            additional_parameters=self.additional_parameters,
        )
        return executor

    def find_jobs(self, folder: Path, names: Iterable[str]) -> list[Job[None]]:
        """The array tasks of these names, also those of earlier commands.

        Raises:
            EpigymError: when SLURM does not know one.
        """
        from submitit import SlurmJob

        jobs: list[Job[None]] = [SlurmJob(folder, name) for name in names]  # all first, so that SLURM is queried once
        for job in jobs:
            if job.state == "UNKNOWN" and not job.done():
                raise EpigymError(
                    f"{folder}: SLURM does not know array task {job.job_id}: look with sacct, or delete the folder"
                )
        return jobs

    def leave(self, jobs: Sequence[Job[None]]) -> None:
        """Leave the array tasks running."""
        arrays = sorted({job.job_id.partition("_")[0] for job in jobs})
        logger.warning("the array goes on: `scancel %s` ends it", " ".join(arrays))


def _deal(ordered: Sequence[T], hands: int) -> list[list[T]]:
    return [list(ordered[hand::hands]) for hand in range(hands)]


def _count_minutes(batches: Sequence[RecordBatch]) -> int:
    return ceil((max(batch.seconds for batch in batches) + _SPARE_SECONDS) / 60)
