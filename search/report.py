"""Tables and figures of evaluations: `python -m search.report outputs/evaluate/standard`."""

from __future__ import annotations

import itertools
import logging
import sys
from collections.abc import Sequence
from pathlib import Path

from omegaconf import DictConfig
from rich.console import Console
from rich.table import Table
from rich.text import Text

from epigym.errors import UsageError, unknown
from search.command import ExitCode, plain, run
from search.reports import figures
from search.reports.outcomes import Outcomes, read_outcomes
from search.reports.published import PUBLISHED, published
from search.reports.tables import ReportTable, instances, summary, totals

logger = logging.getLogger("search.report")


def report(config: DictConfig) -> ExitCode:
    """Write the tables and figures that `conf/report.yaml` describes.

    Args:
        config: the composed `conf/report.yaml`.

    Raises:
        EpigymError: when a run, a configuration or a published experiment is unknown.
    """
    values = plain(config)
    outcomes = read_outcomes(values["runs"], published(values["published"]))
    if values["configurations"]:
        outcomes = outcomes.of([_known(name, outcomes) for name in values["configurations"]])
    folder = Path(values["folder"])
    baseline = _known(values["baseline"] or outcomes.configurations[0], outcomes)
    pairs = [[_known(name, outcomes) for name in pair] for pair in values["pairs"]]
    ours = [name for name in outcomes.configurations if not name.startswith(PUBLISHED)]
    write_report(folder, outcomes, baseline, pairs or [(baseline, name) for name in ours if name != baseline])
    Console().print(_on_screen(totals(outcomes)))
    logger.info("tables and figures: %s", folder)
    return ExitCode.SUCCESS


def write_report(folder: Path, outcomes: Outcomes, baseline: str, pairs: Sequence[Sequence[str]]) -> None:
    """Write all tables and figures into a folder.

    Args:
        folder: where to.
        outcomes: of all configurations.
        baseline: the configuration that node ratios refer to.
        pairs: configurations whose nodes are drawn against each other.
    """
    for table in (
        totals(outcomes),
        summary(outcomes, common=False),
        summary(outcomes, common=True),
        instances(outcomes),
    ):
        table.write(folder)
    drawn = {
        "coverage": figures.coverage(outcomes),
        "aggregates": figures.aggregates(outcomes),
        "cactus_time": figures.cactus(outcomes, "time [ms]"),
        "cactus_nodes": figures.cactus(outcomes, "nodes"),
        "ratios": figures.ratios(outcomes, baseline),
    }
    for first, second in pairs:
        drawn[f"scatter_{first}_{second}".replace("/", "+")] = figures.scatter(outcomes, first, second)
    for name, figure in drawn.items():
        figures.write_figure(figure, folder, name)


def _on_screen(table: ReportTable) -> Table:
    drawn = Table(title=Text(table.caption))
    for number, title in enumerate(table.titles):
        drawn.add_column(Text(title), justify="right" if number else "left", overflow="fold")
    for row in table.rows:
        drawn.add_row(*map(Text, row))
    return drawn


def _known(name: str, outcomes: Outcomes) -> str:
    if name not in outcomes.table:
        raise UsageError(unknown("configuration in these runs", name, outcomes.table))
    return name


def main() -> None:
    """Run as a Hydra app; arguments that are not options are the folders of the runs."""
    runs = list(
        itertools.takewhile(lambda argument: "=" not in argument and not argument.startswith("-"), sys.argv[1:])
    )
    if runs:
        sys.argv[1 : 1 + len(runs)] = [f"runs=[{','.join(runs)}]"]
    run(report, "report")


if __name__ == "__main__":
    main()
