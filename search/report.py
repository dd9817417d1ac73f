"""Tables and figures of evaluations: `python -m search.report outputs/evaluate/standard`."""

from __future__ import annotations

import itertools
import logging
import sys
from pathlib import Path

from omegaconf import DictConfig
from rich.console import Console

from search.command import ExitCode, plain, run
from search.reports.outcomes import read_outcomes
from search.reports.published import published
from search.reports.tables import totals
from search.reports.writing import checked, on_screen, write_report

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
        outcomes = outcomes.of(checked(values["configurations"], outcomes))
    folder = Path(values["folder"])
    write_report(folder, outcomes, values["baseline"], values["pairs"])
    Console().print(on_screen(totals(outcomes)))
    logger.info("tables and figures: %s", folder)
    return ExitCode.SUCCESS


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
