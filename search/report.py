"""Write the tables, figures and page of evaluations; arguments that are not options are the folders of the runs.

The page, report.html, is one file for any browser, with sortable tables and all figures.
"""

from __future__ import annotations

import logging
import shlex
import sys
from dataclasses import dataclass, field
from datetime import date
from functools import partial
from pathlib import Path

from epigym.cli.runner import run
from epigym.cli.settings import RunSettings

logger = logging.getLogger("search.report")


@dataclass(frozen=True, kw_only=True)
class Report(RunSettings):
    """The settings, see `conf/report.yaml`."""

    runs: list[str] = field(metadata={"exists": True})
    folder: Path = field(metadata={"written": "folder"})
    published: list[str]
    configurations: list[str]
    measures: list[str]
    baseline: str | None
    pairs: list[list[str]]


def report(settings: Report) -> None:
    """Write the report and show its overview.

    Raises:
        EpigymError: when a run, a configuration, a measure or a published experiment is unknown.
    """
    from rich.console import Console

    from search.reports.outcomes import read_outcomes
    from search.reports.published import read_published
    from search.reports.tables import make_overview
    from search.reports.writing import check_configurations, check_measures, write_report

    measures = check_measures(settings.measures)
    outcomes = read_outcomes(settings.runs, read_published(settings.published))
    if settings.configurations:
        outcomes = outcomes.restrict(check_configurations(settings.configurations, outcomes))
    today = date.today()
    title = f"Report of {', '.join(map(name_run, settings.runs))}, {today.day} {today:%B %Y}"
    command = shlex.join(["python", "-m", "search.report", *sys.argv[1:]])
    write_report(settings.folder, outcomes, settings.baseline, settings.pairs, measures, title=title, command=command)
    Console().print(make_overview(outcomes, measures))
    logger.info("tables, figures and report.html: %s", settings.folder)


def name_run(run: str) -> str:
    """The name of a run for people: that of its folder, which is its suite, or of its table."""
    path = Path(run).resolve()
    name = path.name.removesuffix(".gz").removesuffix(".csv")
    return path.parent.name if name == "results" else name


main = partial(run, report, Report, "search.report")


if __name__ == "__main__":
    main()
