"""All tables and figures of a report, and its page."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence
from pathlib import Path

from epigym.errors import UsageError
from epigym.io.files import slug, write_text
from epigym.names import unknown
from search.reports import figures
from search.reports.outcomes import Outcomes
from search.reports.page import page
from search.reports.paired import paired
from search.reports.published import PUBLISHED
from search.reports.tables import instances, left_out, summary, totals

logger = logging.getLogger("search.report")


def write_report(
    folder: Path, outcomes: Outcomes, baseline: str | None = None, pairs: Sequence[Sequence[str]] = ()
) -> None:
    """Write all tables and figures and `report.html` into a folder; warn when something is left out.

    Args:
        folder: where to.
        outcomes: of all configurations.
        baseline: the configuration that node ratios refer to; None takes the first one.
        pairs: configurations that are compared and whose nodes are drawn against each other; none takes the baseline
            with each of ours.

    Raises:
        UsageError: when there are no outcomes of a configuration.
    """
    [baseline] = checked([baseline or outcomes.configurations[0]], outcomes)
    ours = [name for name in outcomes.configurations if not name.startswith(PUBLISHED)]
    chosen = [_pair(pair, outcomes) for pair in pairs] or [(baseline, name) for name in ours if name != baseline]
    missing = left_out(outcomes)
    tables = {
        "totals": totals(outcomes),
        "summary_all": summary(outcomes, common=False),
        "summary_common": summary(outcomes, common=True),
        "paired": paired(outcomes, chosen),
        "instances": instances(outcomes),
        "left_out": missing,
    }
    for name, table in tables.items():
        table.write(folder / name, "csv", "latex", "markdown")
    drawn = {
        "coverage": figures.coverage(outcomes),
        "aggregates": figures.aggregates(outcomes),
        "cactus_time": figures.cactus(outcomes, "time [ms]"),
        "cactus_nodes": figures.cactus(outcomes, "nodes"),
        "ratios": figures.ratios(outcomes, baseline),
    }
    for first, second in dict.fromkeys(chosen):
        name = slug(f"scatter_{first}_{second}")
        while name in drawn:
            name += "_"
        drawn[name] = figures.scatter(outcomes, first, second)
    for name, figure in drawn.items():
        figures.write_figure(figure, folder, name)
    write_text(folder / "report.html", page(outcomes, chosen, folder))
    if missing.rows:
        logger.warning("%s See %s", missing.caption, folder / "left_out.md")


def checked(configurations: Iterable[str], outcomes: Outcomes) -> list[str]:
    """The same labels.

    Raises:
        UsageError: when there are no outcomes of one of them; close labels are suggested.
    """
    for name in (found := list(configurations)):
        if name not in outcomes.table:
            raise UsageError(unknown("configuration", name, outcomes.table))
    return found


def _pair(names: Sequence[str], outcomes: Outcomes) -> tuple[str, str]:
    if len(names) != 2:
        raise UsageError(
            f"pairs: [{','.join(names)}] is no pair: name two configurations, such as [bfs,hfs/goal_count]"
        )
    first, second = checked(names, outcomes)
    return first, second
