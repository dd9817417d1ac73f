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

    from learn.training.report.comparison import compare
    from learn.training.report.tables import write_table

    stem = settings.run_dir / "comparison"
    Console().print(
        write_table(compare(settings.runs), stem, "finished trainings; errors in steps on the validation samples")
    )
    logger.info("%s.csv and comparison.md", stem)


main = partial(run, compare, Compare, "learn.compare")


if __name__ == "__main__":
    main()
