"""A report as one page for a browser, which needs no other file and no network."""

from __future__ import annotations

import html
import itertools
import json
import os
import re
import urllib.parse
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from search.reports.outcomes import METRICS, Metric, Outcome, Outcomes
from search.reports.paired import compare, paired
from search.reports.tables import ALL, ReportTable, left_out, number, overview

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
    compared = paired(outcomes, pairs)
    parts = {
        "left_out": _left_out(outcomes),
        "overview": _table(overview(outcomes)),
        "domains": _domains(outcomes),
        "paired": _table(compared, texts=2) if compared.rows else "",
        "cells": _cells(outcomes, folder),
        "data": json.dumps(_data(outcomes, pairs), ensure_ascii=False).replace("<", "\\u003c"),
    }
    return re.sub(r"<!-- (\w+) -->", lambda mark: parts[mark[1]], _TEMPLATE.read_text(encoding="utf-8"))


def _left_out(outcomes: Outcomes) -> str:
    table = left_out(outcomes)
    return f"<p>{html.escape(table.caption)}</p>" if table.rows else ""


def _table(table: ReportTable, texts: int = 1) -> str:
    """A table of a report, whose first columns are texts and the others numbers."""
    return _sortable(table.caption, table.titles, ([_cell(text) for text in row] for row in table.rows), texts)


def _domains(outcomes: Outcomes) -> str:
    """How many of its problems with an outcome each configuration answered, by domain."""
    rows = []
    for domain, problems in [*outcomes.domains.items(), (ALL, outcomes.problems)]:
        row = [_cell(domain)]
        for name in outcomes.configurations:
            answered, known = (len(found(name, problems)) for found in (outcomes.answered, outcomes.known))
            share = answered / known if known else None
            row.append(_cell(f"{answered}/{known}" if known else "–", share, is_share=True))
        rows.append(row)
    return _sortable("Problems answered, of those with an outcome.", ["domain", *outcomes.configurations], rows, 1)


def _cells(outcomes: Outcomes, folder: Path) -> str:
    """Every search, with a link to what is kept of it."""
    rows = [
        [
            _cell(outcome.problem),
            _cell(outcome.configuration),
            _cell(_verdict(outcome), link=_link(outcome, folder)),
            *(_number(metric(outcome)) for metric in METRICS.values()),
        ]
        for problem in outcomes.problems
        for found in outcomes.table.values()
        if (outcome := found.get(problem)) is not None
    ]
    titles = ["problem", "configuration", "outcome", *METRICS]
    return _sortable("An outcome that is a link leads to what is kept of the search, with its plan.", titles, rows, 3)


def _sortable(caption: str, titles: Sequence[str], rows: Iterable[Sequence[str]], texts: int) -> str:
    """A table that its titles sort.

    Args:
        caption: what it shows.
        titles: of the columns.
        rows: the cells, as HTML.
        texts: number of columns, from the first one on, that are sorted as texts; the others as numbers.
    """
    heads = "".join(
        f'<th scope="col"{" data-text" if column < texts else ""}><button type="button">{_text(title)}</button></th>'
        for column, title in enumerate(titles)
    )
    body = "\n".join(f"<tr>{''.join(row)}</tr>" for row in rows)
    said = html.escape(caption)
    return (
        f'<p>{said}</p>\n<div class="wide" tabindex="0" role="region" aria-label="{said}"><table class="texts-{texts}">'
        f"\n<thead><tr>{heads}</tr></thead>\n<tbody>\n{body}\n</tbody>\n</table></div>"
    )


def _cell(text: str, value: float | None = None, *, is_share: bool = False, link: str = "") -> str:
    """A cell; `value` is what it is sorted by, where that is not its text."""
    sorted_by = "" if value is None else f' data-value="{value}"'
    bar = f' class="share" style="--share:{100 * value:.0f}%"' if is_share and value is not None else ""
    shown = f'<a href="{html.escape(link)}">{_text(text)}</a>' if link else _text(text)
    return f"<td{sorted_by}{bar}>{shown}</td>"


def _number(value: float | None) -> str:
    return _cell("–" if value is None else number(value), value)


def _text(text: str) -> str:
    """A text that may be broken where a label has its parts, but not a fraction."""
    return re.sub(r"([/_])(?=\D)", r"\1<wbr>", html.escape(text))


def _verdict(outcome: Outcome) -> str:
    without = " without collapse" if outcome.status.is_decided and outcome.consistent_beliefs else ""
    return f"{outcome.status.replace('_', ' ')}{without}"


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
