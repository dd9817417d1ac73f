"""A report as one page for a browser, which needs no other file and no network."""

from __future__ import annotations

import itertools
import os
import urllib.parse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from epigym.io.tables import ALL, Table
from search.reports.outcomes import METRICS, Metric, Outcome, Outcomes
from search.reports.paired import compare, paired
from search.reports.tables import left_out, overview, shown

_TEMPLATE = Path(__file__).with_suffix(".html")
_DRAWN = ("nodes", "time [ms]")
_NOT_ANSWERED = -1  # in place of a value of the drawings


def page(outcomes: Outcomes, pairs: Sequence[tuple[str, str]], folder: Path) -> str:
    """The text of the page.

    Args:
        outcomes: of all configurations.
        pairs: configurations in the table of comparisons; the first pair is the one that is drawn at the beginning.
        folder: where the page will be; what is kept of a search is linked from there, if it exists.
    """
    from jinja2 import Environment, StrictUndefined

    template = _TEMPLATE.read_text(encoding="utf-8")
    return (
        Environment(autoescape=True, undefined=StrictUndefined)
        .from_string(template)
        .render(
            left_out=left_out(outcomes),
            overview=overview(outcomes),
            domains=_domains(outcomes),
            paired=paired(outcomes, pairs),
            cells=_cells(outcomes, folder),
            data=_data(outcomes, pairs),
        )
    )


def _domains(outcomes: Outcomes) -> Table:
    """How many of its problems with an outcome each configuration answered, by domain."""
    rows: list[list[Any]] = []
    for domain, problems in [*outcomes.domains.items(), (ALL, outcomes.problems)]:
        rows.append([domain])
        for name in outcomes.configurations:
            answered, known = (len(of(name, problems)) for of in (outcomes.answered, outcomes.found))
            share = {"value": answered / known, "is_share": True} if known else {}
            rows[-1].append({"text": f"{answered}/{known}" if known else "–", **share})
    return Table("Problems answered, of those with an outcome.", ["domain", *outcomes.configurations], rows)


def _cells(outcomes: Outcomes, folder: Path) -> Table:
    """Every search, with a link to what is kept of it."""
    rows = [
        [
            outcome.problem,
            outcome.configuration,
            {"text": outcome.status.replace("_", " ") + outcome.restriction, "link": _link(outcome, folder)},
            *({"text": shown(value), "value": value} for value in (metric(outcome) for metric in METRICS.values())),
        ]
        for problem in outcomes.problems
        for found in outcomes.table.values()
        if (outcome := found.get(problem)) is not None
    ]
    caption = "An outcome that is a link leads to what is kept of the search, with its plan."
    return Table(caption, ["problem", "configuration", "outcome", *METRICS], rows, texts=3)


def _link(outcome: Outcome, folder: Path) -> str:
    """The address of what is kept of a search, as seen from a folder; empty when it is not there."""
    if outcome.file is None or not outcome.file.is_file():
        return ""
    return urllib.parse.quote(Path(os.path.relpath(outcome.file, folder)).as_posix())


def _data(outcomes: Outcomes, pairs: Sequence[tuple[str, str]]) -> dict[str, Any]:
    """What is drawn: values by metric, configuration and problem, and sentences by the numbers of two configurations.

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
            metric: [
                [_value(outcomes.table[name].get(problem), METRICS[metric]) for problem in outcomes.problems]
                for name in names
            ]
            for metric in _DRAWN
        },
        "sentences": {key: found.sentences() for key, found in compared.items() if found is not None},
        "chosen": [names.index(name) for name in (pairs[0] if pairs else (names[0], names[-1]))],
    }


def _value(outcome: Outcome | None, metric: Metric) -> float | None:
    if outcome is None:
        return None
    return metric(outcome) if outcome.status.is_decided else _NOT_ANSWERED
