"""Compare finished trainings in one table, as comparison.csv and comparison.md, and in a picture, comparison.png.

Of trainings on the same problems, the one with the best validation is first. The verdict is that of each training: the
word, p, and the ratio of expansions to those of the same search before training. It does not change the order.
"""

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
    """Print and write the table, and draw the picture.

    Raises:
        MissingError: when there is no finished run.
    """
    from rich.console import Console

    from epigym.io.tables import Table
    from learn.training.report.comparison import SHOWN, compare_runs
    from learn.training.report.pictures import draw_ratios

    rows = compare_runs(settings.runs)
    stem = settings.run_dir / "comparison"
    Table.of("finished trainings; errors in steps on the validation samples", rows).write(stem, "csv", "markdown")
    shown = [{name: row[name] for name in SHOWN} for row in rows]
    Console().print(Table.of("finished trainings, the best validation first", shown))
    files = [f"{stem}.csv", f"{stem}.md"]
    if judged := [row for row in rows if row["ratio"] != ""]:
        draw_ratios(judged, stem.with_suffix(".png"))
        files.append(f"{stem}.png")
    logger.info("%s", ", ".join(files))


main = partial(run, compare, Compare, "learn.compare")


if __name__ == "__main__":
    main()
