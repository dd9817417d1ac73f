"""All tables and figures of a report in one folder."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rich.table import Table
from rich.text import Text

from epigym.errors import EpigymError, unknown
from search.reports import figures
from search.reports.outcomes import Outcomes
from search.reports.published import PUBLISHED
from search.reports.tables import ReportTable, instances, summary, totals


def write_report(
    folder: Path, outcomes: Outcomes, baseline: str | None = None, pairs: Sequence[Sequence[str]] = ()
) -> None:
    """Write all tables and figures into a folder.

    Args:
        folder: where to.
        outcomes: of all configurations.
        baseline: the configuration that node ratios refer to; None for the first one.
        pairs: configurations whose nodes are drawn against each other; none for the baseline with every other one
            that is ours.

    Raises:
        EpigymError: when a configuration has no outcomes.
    """
    baseline = checked([baseline or outcomes.configurations[0]], outcomes)[0]
    ours = [name for name in outcomes.configurations if not name.startswith(PUBLISHED)]
    pairs = [checked(pair, outcomes) for pair in pairs] or [(baseline, name) for name in ours if name != baseline]
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


def checked(names: Sequence[str], outcomes: Outcomes) -> Sequence[str]:
    """The names of configurations, all of which have outcomes.

    Raises:
        EpigymError: when one has none.
    """
    for name in names:
        if name not in outcomes.table:
            raise EpigymError(unknown("configuration of these runs", name, outcomes.table))
    return names


def on_screen(table: ReportTable) -> Table:
    """The table as the terminal shows it."""
    drawn = Table(title=Text(table.caption))
    for number, title in enumerate(table.titles):
        drawn.add_column(Text(title), justify="right" if number else "left", overflow="fold")
    for row in table.rows:
        drawn.add_row(*map(Text, row))
    return drawn
