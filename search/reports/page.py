"""A report as one HTML page, without other files and network access."""

from __future__ import annotations

import itertools
import os
import urllib.parse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from epigym.io.tables import ALL, Table
from search.reports.outcomes import COSTS, MEASURES, SearchOutcome, SearchOutcomes
from search.reports.paired import compare, compare_pairs
from search.reports.tables import list_left_out, make_overview, show_number

_TEMPLATE = Path(__file__).with_suffix(".html")
_NOT_ANSWERED = -1  # the value of undecided searches in the drawings


def render_page(
    outcomes: SearchOutcomes, pairs: Sequence[tuple[str, str]], folder: Path, measures: Sequence[str] = MEASURES
) -> str:
    """Write the text of the page.

    Args:
        outcomes: the outcomes of all configurations.
        pairs: the pairs of configurations in the table of comparisons; the drawing first shows the first pair.
        folder: the folder of the page, which links to existing records of searches.
        measures: the measures in tables and drawings.
    """
    from jinja2 import Environment, StrictUndefined

    costs = [name for name in measures if name in COSTS]
    template = _TEMPLATE.read_text(encoding="utf-8")
    return (
        Environment(autoescape=True, undefined=StrictUndefined)
        .from_string(template)
        .render(
            measures=measures,
            left_out=list_left_out(outcomes),
            overview=make_overview(outcomes, measures),
            domains=_tabulate_domains(outcomes),
            paired=compare_pairs(outcomes, pairs, measures),
            searches=_tabulate_searches(outcomes, folder, costs),
            data=_collect_data(outcomes, pairs, costs),
        )
    )


def _tabulate_domains(outcomes: SearchOutcomes) -> Table:
    """The number of problems that each configuration answered, of those with an outcome, by domain."""
    rows: list[list[Any]] = []
    for domain, problems in [*outcomes.domains.items(), (ALL, outcomes.problems)]:
        rows.append([domain])
        for name in outcomes.configurations:
            answered, known = (len(of(name, problems)) for of in (outcomes.select_answered, outcomes.select))
            share = {"value": answered / known, "is_share": True} if known else {}
            rows[-1].append({"text": f"{answered}/{known}" if known else "–", **share})
    return Table("Problems answered, of those with an outcome.", ["domain", *outcomes.configurations], rows)


def _tabulate_searches(outcomes: SearchOutcomes, folder: Path, costs: Sequence[str]) -> Table:
    """The table of all searches, with links to their files."""
    rows = [
        [
            outcome.problem,
            outcome.configuration,
            {"text": outcome.status.replace("_", " ") + outcome.restriction, "link": _find_link(outcome, folder)},
            *(show_number(COSTS[name].of(outcome)) for name in costs),
        ]
        for problem in outcomes.problems
        for found in outcomes.table.values()
        if (outcome := found.get(problem)) is not None
    ]
    caption = "An outcome that is a link leads to the file of the search, with its plan."
    return Table(
        caption, ["problem", "configuration", "outcome", *(COSTS[name].title for name in costs)], rows, texts=3
    )


def _find_link(outcome: SearchOutcome, folder: Path) -> str:
    """The address of the record of a search, relative to a folder; empty when it does not exist."""
    if outcome.file is None or not outcome.file.is_file():
        return ""
    return urllib.parse.quote(Path(os.path.relpath(outcome.file, folder)).as_posix())


def _collect_data(outcomes: SearchOutcomes, pairs: Sequence[tuple[str, str]], costs: Sequence[str]) -> dict[str, Any]:
    """Data of the drawings: values by measure, configuration and problem, and sentences by the numbers of two of them.

    A value is None where there is no outcome or it is not known, and `_NOT_ANSWERED` where the search ended without an
    answer.
    """
    names = outcomes.configurations
    both = enumerate(names)
    compared = {
        f"{a} {b}": compare(outcomes, first, second) for (a, first), (b, second) in itertools.combinations(both, 2)
    }
    return {
        "configurations": names,
        "problems": [
            {"name": problem, "domain": domain} for domain, problems in outcomes.domains.items() for problem in problems
        ],
        "values": {
            COSTS[cost].label: [
                [_find_value(outcomes.table[name].get(problem), cost) for problem in outcomes.problems]
                for name in names
            ]
            for cost in costs
        },
        "sentences": {key: found.write_sentences() for key, found in compared.items() if found is not None},
        "chosen": [names.index(name) for name in (pairs[0] if pairs else (names[0], names[-1]))],
    }


def _find_value(outcome: SearchOutcome | None, cost: str) -> float | None:
    if outcome is None:
        return None
    return COSTS[cost].of(outcome) if outcome.status.is_decided else _NOT_ANSWERED
