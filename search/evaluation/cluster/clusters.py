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

    from search.evaluation.batch import Batch

T = TypeVar("T")

_SPARE_SECONDS = 300.0  # to start the task, and to end it before it is killed
_SPARE_BYTES = 1 << 30  # of the process that watches the others, and of the one that they come from

logger = logging.getLogger("search.evaluate")


@dataclass(frozen=True, kw_only=True)
class Local:
    """Processes of this machine, see `conf/cluster/local.yaml`."""

    poll_seconds: ClassVar[float] = 0.5

    workers: int = field(metadata={"minimum": 1})

    def make_batches(self, ordered: Sequence[T]) -> list[list[T]]:
        """One batch for each worker; they start with what comes first."""
        return _deal(ordered, min(self.workers, len(ordered)))

    def make_executor(self, folder: Path, batches: Sequence[Batch]) -> LocalExecutor:
        """What submits the batches."""
        from submitit import LocalExecutor

        executor = LocalExecutor(folder)
        executor.update_parameters(timeout_min=_count_minutes(batches))
        return executor

    def find_jobs(self, folder: Path, names: Iterable[str]) -> list[Job[None]]:
        """None: what a command left running that was killed is computed again."""
        return []

    def leave(self, jobs: Sequence[Job[None]]) -> None:
        """End the array tasks."""
        for job in jobs:
            job.cancel()


@dataclass(frozen=True, kw_only=True)
class Slurm:
    """A SLURM cluster on whose machines the folder and the program are the same, see `conf/cluster/slurm.yaml`."""

    poll_seconds: ClassVar[float] = 30.0  # as rarely as submitit asks SLURM

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
        """Small batches; those that run at a time start with what comes first."""
        size = max(self.records, ceil(len(ordered) / self.tasks))
        wave = size * self.workers
        waves = [ordered[start : start + wave] for start in range(0, len(ordered), wave)]
        return [batch for wave in waves for batch in _deal(wave, ceil(len(wave) / size))]

    def make_executor(self, folder: Path, batches: Sequence[Batch]) -> SlurmExecutor:
        """What submits the batches as an array.

        Raises:
            MissingError: when this machine cannot submit.
            UsageError: when the time is too short for a record.
        """
        from submitit import SlurmExecutor

        if missing := [name for name in ("sbatch", "srun", "sacct") if shutil.which(name) is None]:
            raise MissingError(f"cluster=slurm: there is no {missing[0]}: start it on a machine that can submit")
        longest = max(batch.wall_limit for batch in batches) + _SPARE_SECONDS
        if self.timeout_min is not None and 60 * self.timeout_min < longest:
            raise UsageError(
                f"cluster.timeout_min={self.timeout_min} is too short for a record, which may take time_limit + grace: "
                f"give at least {ceil(longest / 60)}"
            )
        processors = self.cpus_per_task or max(batch.processors for batch in batches)
        memory = max(batch.parallel * batch.memory_limit for batch in batches) + _SPARE_BYTES
        # Every time that a task runs out of its time it has finished a record at least.
        executor = SlurmExecutor(folder, max_num_timeout=max(len(batch.records) for batch in batches))
        executor.update_parameters(
            job_name=self.name,
            partition=self.partition,
            account=self.account,
            time=self.timeout_min or _count_minutes(batches),
            cpus_per_task=processors,
            mem=self.mem or f"{ceil(memory / 2**20)}M",
            array_parallelism=self.workers,
            srun_args=[f"--cpus-per-task={processors}"],  # which srun does not take from sbatch since SLURM 22.05
            additional_parameters=self.additional_parameters,
        )
        return executor

    def find_jobs(self, folder: Path, names: Iterable[str]) -> list[Job[None]]:
        """The array tasks of these names, whoever submitted them.

        Raises:
            EpigymError: when SLURM does not know one.
        """
        from submitit import SlurmJob

        jobs: list[Job[None]] = [SlurmJob(folder, name) for name in names]  # all, so that SLURM is asked once
        for job in jobs:
            if job.state == "UNKNOWN" and not job.done():
                raise EpigymError(
                    f"{folder}: SLURM does not know array task {job.job_id}: look with sacct, or delete the folder"
                )
        return jobs

    def leave(self, jobs: Sequence[Job[None]]) -> None:
        """Let the array tasks go on."""
        arrays = sorted({job.job_id.partition("_")[0] for job in jobs})
        logger.warning("the array goes on: `scancel %s` ends it", " ".join(arrays))


def _deal(ordered: Sequence[T], hands: int) -> list[list[T]]:
    return [list(ordered[hand::hands]) for hand in range(hands)]


def _count_minutes(batches: Sequence[Batch]) -> int:
    return ceil((max(batch.seconds for batch in batches) + _SPARE_SECONDS) / 60)
