"""Records that are computed together, each search in its own process."""

from __future__ import annotations

import logging
import os
from collections.abc import Generator, Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from search.agents.result import SearchResult, SearchStatus
from search.evaluation.record import Record
from search.evaluation.suites import Problem
from search.heuristics.learned import needs_pytorch
from search.planning.single_search import complete_result, make_blank_result
from search.processes.supervisor import Job, supervise

if TYPE_CHECKING:
    from submitit.core.utils import DelayedSubmission

logger = logging.getLogger("search.evaluate")

SCORER = "learn.models.gine.scorer"
"""The module of networks, which is preloaded: with PyTorch and PyTorch Geometric, its import takes seconds."""


@dataclass(frozen=True, slots=True)
class RecordBatch:
    """Records with the limits of their processes; plain data that a job receives and calls.

    Attributes:
        records: to compute.
        folder: of the outcomes.
        parallel: processes at a time.
        wall_limit: seconds until a process is killed.
        memory_limit: bytes of resident memory at which a process is killed.
    """

    records: Sequence[Record]
    folder: Path
    parallel: int
    wall_limit: float
    memory_limit: int

    @property
    def processors(self) -> int:
        """Number of processors in use."""
        return self.parallel * max(record.configuration.threads for record in self.records)

    def find_unreadable(self) -> list[str]:
        """Why files cannot be read: of the problems whose outcomes are missing or errors, in their order."""
        limits = {
            record.problem: record.time_limit
            for record in self.records
            if record.problem.is_file
            and ((known := record.read(self.folder)) is None or known.status is SearchStatus.ERROR)
        }
        jobs = (
            Job(number, _read, (problem,), time_limit=limit) for number, (problem, limit) in enumerate(limits.items())
        )
        with closing(supervise(jobs, **self._limits)) as endings:
            found = {ending.job.key: ending.message for ending in endings if ending.failure is SearchStatus.ERROR}
        return [found[number] for number in sorted(found)]

    def run(self, numbers: Iterable[int]) -> Generator[tuple[int, SearchResult], None, None]:
        """Search, write every outcome to its file, and yield it; a failed search is an outcome, too.

        Args:
            numbers: positions of the records to compute, consumed as processes become free.
        """
        for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
            os.environ.setdefault(name, "1")  # one core for each process
        with closing(supervise((self._job(number) for number in numbers), **self._limits)) as endings:
            for ending in endings:
                record = self.records[ending.job.key]
                result = complete_result(
                    ending, make_blank_result(record.configuration, record.problem.name, record.options)
                )
                record.write(self.folder, result, ending.detail)
                logger.debug("finished %s with %s: %s", record.problem.name, record.configuration.label, result.status)
                yield ending.job.key, result

    def _job(self, number: int) -> Job:
        record = self.records[number]
        return Job(number, record.search, (), takes_channel=True, time_limit=record.time_limit)

    def __call__(self) -> None:
        """Compute the missing outcomes as a job whose log names every record."""
        missing = (number for number, record in enumerate(self.records) if record.read(self.folder) is None)
        for number, result in self.run(missing):
            record = self.records[number]
            print(record.problem.name, record.configuration.label, result.status, flush=True)

    def checkpoint(self) -> DelayedSubmission:
        """The call that submitit restarts after a preemption or time-out."""
        from submitit.core.utils import DelayedSubmission

        return DelayedSubmission(self)

    @property
    def _limits(self) -> dict[str, Any]:
        """The options of `supervise`."""
        return {
            "parallel": self.parallel,
            "wall_limit": self.wall_limit,
            "memory_limit": self.memory_limit,
            "preload": self._modules(),
        }

    def _modules(self) -> list[str]:
        """The modules that every process imports, this one included."""
        needs_scorer = any(
            needs_pytorch(choice, record.problem.instance_domain)
            for record in self.records
            for choice in record.configuration.choices
        )
        return [__name__, *([SCORER] if needs_scorer else [])]


def _read(problem: Problem) -> None:
    problem.load()
