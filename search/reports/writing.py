"""Writing of a report: tables, figures and the page."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from epigym.errors import UsageError
from epigym.io.files import slug, write_text
from epigym.io.tables import Table
from epigym.names import unknown
from search.reports import figures
from search.reports.outcomes import MEASURES, SearchOutcomes
from search.reports.page import render_page
from search.reports.paired import compare_pairs
from search.reports.published import PUBLISHED
from search.reports.tables import (
    list_left_out,
    make_instances,
    make_largest,
    make_overview,
    make_scores,
    make_summary,
    make_totals,
)

_CAPTIONS = {
    "coverage": "Share of the problems of each domain that are solved.",
    "aggregates": "Interquartile means over the problems that all solved, with 95 % intervals.",
    "cactus_time": "Problems solved within a time.",
    "cactus_nodes": "Problems solved within a number of expanded nodes.",
    "ratios": "Expanded nodes divided by those of {}, against its plan length; lines join the medians.",
}
_NEEDED = {"coverage": "coverage", "cactus_time": "time", "cactus_nodes": "expanded", "ratios": "expanded"}
"""The measures without which the page leaves out figures."""
_SCATTER = "Expanded nodes of {} and {}, a point for each problem; on a dotted line lies what one did not decide."

logger = logging.getLogger("search.report")


def write_report(
    folder: Path,
    outcomes: SearchOutcomes,
    baseline: str | None = None,
    pairs: Sequence[Sequence[str]] = (),
    measures: Sequence[str] = MEASURES,
    *,
    title: str = "Report of an evaluation",
    command: str = "",
) -> None:
    """Write all tables, figures and `report.html` into a folder; warns about outcomes that are left out.

    Args:
        folder: the folder of the report.
        outcomes: the outcomes of all configurations.
        baseline: the configuration that node ratios refer to; None for the first one.
        pairs: the pairs of configurations to compare in a table and in scatter plots of nodes; by default the baseline
            with each other configuration.
        measures: the measures in LaTeX and Markdown tables and on the page; CSV files have all.
        title: the title of the page.
        command: the command that writes the report, which the page names; empty where there is none.

    Raises:
        UsageError: when there are no outcomes of a configuration.
    """
    [baseline] = check_configurations([baseline or outcomes.configurations[0]], outcomes)
    ours = [name for name in outcomes.configurations if not name.startswith(PUBLISHED)]
    chosen = [_check_pair(pair, outcomes) for pair in pairs] or [(baseline, name) for name in ours if name != baseline]
    missing = list_left_out(outcomes)
    missing.write(folder / "left_out", "csv", "latex", "markdown")
    make_scores(outcomes).write(folder / "scores", "csv", "latex", "markdown")
    make_largest(outcomes).write(folder / "largest", "csv", "latex", "markdown")
    for name, table in make_tables(outcomes, chosen, MEASURES).items():
        table.write(folder / name, "csv")
    tables = make_tables(outcomes, chosen, measures)
    for name, table in tables.items():
        table.write(folder / name, "latex", "markdown")
    drawn = {
        "coverage": figures.draw_coverage(outcomes),
        "aggregates": figures.draw_aggregates(outcomes),
        "cactus_time": figures.draw_cactus(outcomes, "time"),
        "cactus_nodes": figures.draw_cactus(outcomes, "expanded"),
        "ratios": figures.draw_ratios(outcomes, baseline),
    }
    shown = {
        _CAPTIONS[name].format(baseline): figure
        for name, figure in drawn.items()
        if _NEEDED.get(name, "") in ("", *measures) and (name != "ratios" or len(outcomes.configurations) > 1)
    }
    for first, second in dict.fromkeys(chosen):
        name = slug(f"scatter_{first}_{second}")
        while name in drawn:
            name += "_"
        drawn[name] = shown[_SCATTER.format(first, second)] = figures.draw_scatter(outcomes, first, second)
    for name, figure in drawn.items():
        figures.write_figure(figure, folder, name)
    on_page = [make_overview(outcomes, measures), *choose_for_page(tables), missing]
    pictures = {caption: figures.render_svg(figure) for caption, figure in shown.items()}
    write_text(folder / "report.html", render_page(on_page, pictures, folder, title=title, command=command))
    if missing.rows:
        logger.warning("%s See %s", missing.caption, folder / "left_out.md")


def make_tables(
    outcomes: SearchOutcomes, pairs: Sequence[tuple[str, str]], measures: Sequence[str]
) -> dict[str, Table]:
    """Make the tables of some measures by the names of their files, see `write_report`."""
    return {
        "totals": make_totals(outcomes, measures),
        "summary_all": make_summary(outcomes, measures, common=False),
        "summary_common": make_summary(outcomes, measures, common=True),
        "paired": compare_pairs(outcomes, pairs, measures),
        "instances": make_instances(outcomes, measures),
    }


def choose_for_page(tables: Mapping[str, Table]) -> list[Table]:
    """The tables that the page shows."""
    return [tables[name] for name in ("summary_all", "paired", "instances")]


def check_configurations(configurations: Iterable[str], outcomes: SearchOutcomes) -> list[str]:
    """Check that there are outcomes of some configurations; returns their labels.

    Raises:
        UsageError: when there are no outcomes of one of them; close labels are suggested.
    """
    for name in (found := list(configurations)):
        if name not in outcomes.table:
            raise UsageError(unknown("configuration", name, outcomes.table))
    return found


def check_measures(measures: Iterable[str]) -> list[str]:
    """Check the names of measures; returns them without duplicates.

    Raises:
        UsageError: when one is unknown or there is none.
    """
    chosen = list(dict.fromkeys(measures))
    for name in chosen or [""]:
        if name not in MEASURES:
            raise UsageError(unknown("measure", name, MEASURES))
    return chosen


def _check_pair(names: Sequence[str], outcomes: SearchOutcomes) -> tuple[str, str]:
    if len(names) != 2:
        raise UsageError(
            f"pairs: [{','.join(names)}] is no pair: name two configurations, such as [bfs,hfs/goal_count]"
        )
    first, second = check_configurations(names, outcomes)
    return first, second
