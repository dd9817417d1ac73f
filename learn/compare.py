"""Compare finished training runs in one table, as comparison.csv and comparison.md."""

from __future__ import annotations

import logging
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from epigym.cli.runner import run
from epigym.cli.settings import RunSettings

logger = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class Compare(RunSettings):
    """The settings, see `conf/compare.yaml`."""

    runs: Path = field(metadata={"exists": True})


def compare(settings: Compare) -> None:
    """Print and write the table.

    Raises:
        MissingError: when there is no finished run.
    """
    from rich.console import Console

    from epigym.io.tables import Table
    from learn.training.report.comparison import compare_runs

    title = "finished trainings; errors in steps on the validation samples"
    Console().print(
        Table.of(title, compare_runs(settings.runs)).write(settings.run_dir / "comparison", "csv", "markdown")
    )
    logger.info("%s and comparison.md", settings.run_dir / "comparison.csv")


main = partial(run, compare, Compare, "learn.compare")


if __name__ == "__main__":
    main()
