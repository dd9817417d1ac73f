"""Run a grid of searches, each in its own process, and write every outcome to its own file.

Started again, it continues with the missing outcomes. At the end it writes the table results.csv.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from omegaconf import OmegaConf

from epigym.cli.codes import ExitCode
from epigym.cli.runner import run
from epigym.cli.settings import Settings
from epigym.config.values import Amount, Count, Natural, Positive
from epigym.errors import UsageError
from epigym.language import Reading, Semantics
from epigym.language.reading import Determines
from search.evaluation.jobs import Cluster
from search.planning.options import SearchOptions, Verify

if TYPE_CHECKING:
    from search.evaluation.record import Record

logger = logging.getLogger("search.evaluate")


@dataclass(frozen=True, kw_only=True)
class Evaluate(Settings):
    """The settings, see `conf/evaluate.yaml`."""

    name: str
    suffix: str
    suite: dict[str, Any]
    domain: list[str]
    per_domain: Count | None
    folder: Path = field(metadata={"written": "folder"})
    agents: list[str | dict[str, Any]]
    heuristics: list[str | dict[str, Any]]
    problems: list[str]
    semantics: Semantics | None
    determines: Determines | None
    shorten: bool
    anytime: bool
    consistent_beliefs: bool
    verify: Literal["none", Verify]
    max_expanded: Natural | None
    time_limit: Positive
    grace: Amount
    memory_limit: str = field(metadata={"check": "search.agents.limits:memory_bytes"})
    parallel: Count
    retry: bool
    cluster: Cluster | None

    @classmethod
    def find_unused(cls, values: Mapping[str, Any]) -> dict[str, str]:
        """The settings of a suite beside named problems."""
        reason = "problems= names all that is searched: leave one of them out"
        return dict.fromkeys(("suite", "domain", "per_domain"), reason) if values["problems"] else {}

    @property
    def reading(self) -> Reading:
        """How problems in mA* are read."""
        return Reading(self.semantics, self.determines)


OmegaConf.register_new_resolver(
    "name_searches", lambda problems, suite: "problems" if problems else suite, replace=True
)


def evaluate(settings: Evaluate) -> ExitCode:
    """Search and write the table of the outcomes; no success when every search, a job, or reading a named file failed.

    Raises:
        EpigymError: when a suite, an agent or a heuristic is wrong, or nothing can be submitted to the cluster.
    """
    from search.agents.limits import memory_bytes
    from search.agents.result import SearchStatus
    from search.evaluation.batch import RecordBatch
    from search.evaluation.running import compute_results

    batch = RecordBatch(
        records(settings),
        settings.folder,
        parallel=settings.parallel,
        wall_limit=settings.time_limit + settings.grace,
        memory_limit=memory_bytes(settings.memory_limit),
    )
    unreadable = batch.find_unreadable() if settings.problems else []
    for message in unreadable:
        logger.error("%s", message)
    results = compute_results(batch, cluster=settings.cluster, retry=settings.retry)
    if lost := len(batch.records) - len(results):
        logger.error("%d searches have no outcome: start the command again to continue", lost)
        return ExitCode.FAILURE
    if unreadable:
        logger.error("%d of the files cannot be read, the first: %s", len(unreadable), unreadable[0])
        return ExitCode.BAD_INPUT
    if results and all(result.status is SearchStatus.ERROR for result in results):
        logger.error("every search ended with an error, the first with: %s", results[0].message)
        return ExitCode.FAILURE
    return ExitCode.SUCCESS


def records(settings: Evaluate) -> list[Record]:
    """The grid of problems and configurations.

    Raises:
        UsageError: when settings contradict each other.
        EpigymError: when a name is unknown, or a file of a suite is missing.
    """
    from search.agents.limits import Limits, memory_bytes
    from search.evaluation.grid import make_configurations, make_records
    from search.evaluation.suites import list_problems, problems_of

    if settings.anytime and settings.verify == "none":
        raise UsageError("anytime=true re-executes every plan: leave out verify=none")
    problems = list_problems(settings.problems, settings.reading)
    limits = Limits(settings.max_expanded, settings.time_limit, memory_bytes(settings.memory_limit))
    return make_records(
        problems or problems_of(settings.suite, settings.per_domain, settings.reading, settings.domain),
        make_configurations(settings.agents, settings.heuristics),
        SearchOptions(limits, settings.anytime, settings.consistent_beliefs, settings.verify, settings.shorten),
    )


main = partial(run, evaluate, Evaluate, "search.evaluate")


if __name__ == "__main__":
    main()
