"""Test a model on problems it was not trained on.

Writes assessment.csv, assessment.md and two pictures for every problem into the folder of the run.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from functools import partial

from epigym.cli.runner import run
from epigym.cli.settings import ProblemSettings
from learn.data.explorers import ExplorerSettings

logger = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class Assess(ProblemSettings):
    """The settings, see `conf/assess.yaml`."""

    domain: list[str]
    problem: list[str]
    model: str | None
    explorer: ExplorerSettings


def assess(settings: Assess) -> None:
    """Compare predicted with exact distances.

    Raises:
        EpigymError: when a problem, a setting or a model is wrong.
    """
    from learn.data.problems import list_problems

    problems = list_problems("test", settings.domain, settings.problem)

    from rich.console import Console

    from epigym.io.tables import Table
    from learn.training.report.assessment import assess

    rows = assess(problems, settings.reading, settings.explorer, settings.model, settings.run_dir)
    Console().print(
        Table.of("errors in steps on whole problems", rows).write(settings.run_dir / "assessment", "csv", "markdown")
    )
    logger.info("%s and assessment.md", settings.run_dir / "assessment.csv")


main = partial(run, assess, Assess, "learn.assess")


if __name__ == "__main__":
    main()
