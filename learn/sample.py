"""Sample problems from the distributions of domains, as files for other commands, and list them with their sizes.

Writes <domain>/<split>_<number>.json, the problems, problems.csv, the same with their parameters, and sizes.csv and
sizes.md, a row for each domain and split, into the folder of the run.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from statistics import median
from typing import TYPE_CHECKING, Any, Literal

from epigym.cli.runner import run
from epigym.cli.settings import RunSettings
from epigym.config.values import Count, Natural
from epigym.io.files import write_rows

if TYPE_CHECKING:
    from learn.data.distribution import SampledProblem

logger = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class Sample(RunSettings):
    """The settings, see `conf/sample.yaml`."""

    domain: list[str]
    split: list[Literal["train", "validation", "test"]]
    instances: Count
    seed: Natural


def sample(settings: Sample) -> None:
    """Sample, and write the problems and the tables.

    Raises:
        UsageError: when there is no such domain or split.
        EpigymError: when 400 problems in a row are rejected.
    """
    from domains import DOMAINS
    from learn.data.problems import check_domains

    check_domains(settings.domain)

    from rich.console import Console

    from epigym import language
    from epigym.io.progress import track
    from epigym.io.tables import Table
    from learn.data.distribution import COLUMNS, sample_problems

    problems: list[SampledProblem] = []
    sizes: list[dict[str, Any]] = []
    parts = [(domain, split) for domain in settings.domain or DOMAINS for split in settings.split]
    for domain, split in track(parts, "sampling", "distributions"):
        start = time.process_time()
        sampled = islice(sample_problems(domain, split, settings.seed), settings.instances)
        found = list(track(sampled, f"{domain}, {split}", total=settings.instances))
        sizes.append(_make_row(domain, split, found, time.process_time() - start))
        problems += found
        for problem in found:  # the layout keeps the structure of names, which learned heuristics use
            language.save(problem.task, settings.run_dir / domain / f"{problem.instance}.json", "compact")
    write_rows(settings.run_dir / "problems.csv", COLUMNS, (problem.row() for problem in problems))
    Console().print(Table.of("sampled problems", sizes).write(settings.run_dir / "sizes", "csv", "markdown"))
    logger.info("problems: %s", settings.run_dir)


def _make_row(domain: str, split: str, found: Sequence[SampledProblem], seconds: float) -> dict[str, Any]:
    """The sizes of the sampled problems of a domain and split; `attempts` ends with the last accepted problem."""
    states = [one.states for one in found if one.states is not None]
    distances = [one.distance for one in found if one.distance is not None]
    return {
        "domain": domain,
        "split": split,
        "a second": len(found) / seconds,
        "attempts": str(int(found[-1].instance.removeprefix(f"{split}_")) + 1),
        "actions": _format_range([len(one.task.actions) for one in found]),
        "worlds": _format_range([len(one.task.initial.valuations) for one in found]),
        "e-states": _format_range(states),
        "median": f"{median(states):g}" if states else "",
        "shortest": _format_range(distances),
    }


def _format_range(values: Sequence[int]) -> str:
    if not values:
        return ""
    least, most = min(values), max(values)
    return str(least) if least == most else f"{least} to {most}"


main = partial(run, sample, Sample, "learn.sample")


if __name__ == "__main__":
    main()
