"""Jobs of submitit, on a SLURM cluster or as processes of this machine: their limits, submission and logs.

Evaluations submit theirs by a `Queue`, sweeps by Hydra's launcher, whose options have the same names.
"""

from __future__ import annotations

import logging
import re
import shutil
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import ceil
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from epigym.config.values import Count
from epigym.errors import EpigymError, MissingError

if TYPE_CHECKING:
    from submitit import AutoExecutor, Job

logger = logging.getLogger("epigym.cluster")


@dataclass(frozen=True, kw_only=True)
class Queue:
    """The executor of jobs, and their limits; without a limit a job may use as much as it needs."""

    executor: Literal["local", "slurm"]
    workers: Count
    partition: str | None = None
    account: str | None = None
    timeout_min: Count | None = None
    cpus_per_task: Count | None = None
    mem_gb: Count | None = None
    name: str | None = None
    additional_parameters: dict[str, Any] | None = None

    @property
    def poll_seconds(self) -> float:
        """Seconds between two looks at the jobs."""
        return 30.0 if self.executor == "slurm" else 0.5

    def make_executor(self, folder: Path, *, minutes: int, processors: int, memory: int, restarts: int) -> AutoExecutor:
        """The object that submits jobs, with their scripts and logs in a folder.

        Args:
            folder: of scripts and logs.
            minutes: that a job needs.
            processors: that it needs.
            memory: bytes that it needs.
            restarts: most of them after a time-out.

        Raises:
            MissingError: when this machine cannot submit jobs.
        """
        from submitit import AutoExecutor

        if self.executor == "slurm":
            require_slurm("cluster=slurm")
        executor = AutoExecutor(folder, cluster=self.executor, slurm_max_num_timeout=restarts)
        executor.update_parameters(
            timeout_min=self.timeout_min or minutes,
            cpus_per_task=self.cpus_per_task or processors,
            mem_gb=self.mem_gb or ceil(memory / 2**30),
            name=self.name,
            slurm_partition=self.partition,
            slurm_account=self.account,
            slurm_array_parallelism=self.workers,
            # Since SLURM 22.05, srun does not inherit it from sbatch.
            slurm_srun_args=[f"--cpus-per-task={self.cpus_per_task or processors}"],
            slurm_additional_parameters=self.additional_parameters,
        )
        return executor

    def find_running(self, folder: Path, names: Iterable[str]) -> list[Job[None]]:
        """The jobs of these names that still run; none on this machine, where they end with the command.

        Raises:
            EpigymError: when SLURM does not know one.
        """
        from submitit import SlurmJob

        # All first, so that SLURM is queried once.
        jobs: list[Job[None]] = [SlurmJob(folder, name) for name in names if self.executor == "slurm"]
        for job in jobs:
            if job.state == "UNKNOWN" and not job.done():
                raise EpigymError(
                    f"{folder}: SLURM does not know job {job.job_id}: look with sacct, or delete the folder"
                )
        return drop_ended(jobs)

    def leave(self, jobs: Sequence[Job[None]]) -> None:
        """Leave jobs running on a cluster, and end those on this machine."""
        if self.executor == "slurm":
            arrays = sorted({job.job_id.partition("_")[0] for job in jobs})
            logger.warning("the array goes on: `scancel %s` ends it", " ".join(arrays))
        else:
            for job in jobs:
                job.cancel()


def drop_ended(jobs: Sequence[Job[None]]) -> list[Job[None]]:
    """The jobs that still run."""
    if jobs:
        jobs[0].get_info(mode="force")  # refreshes the state of all
    return [job for job in jobs if not job.done()]


def require_slurm(setting: str) -> None:
    """Refuse a setting such as `cluster=slurm` on a machine that cannot submit jobs.

    Raises:
        MissingError: naming the missing command, and the setting for processes of this machine.
    """
    missing = next((name for name in ("sbatch", "srun", "sacct") if shutil.which(name) is None), None)
    if missing is not None:
        local = setting.replace("slurm", "local")
        raise MissingError(f"{setting}: there is no {missing}: start it on a machine that can submit, or give {local}")


def name_log(error: BaseException) -> BaseException:
    """An error of submitit about a job without a result as one line that names its log; any other error as it is."""
    lost = re.match(r"Job (\S+) \(task: \d+\) with path (.+)_result\.pkl\n", str(error))
    return RuntimeError(f"job {lost[1]} ended without a result, see {lost[2]}_log.err") if lost else error
