"""The tables of docs/results.md are those that its commands make of the raw results beside it."""

import pytest
import yaml

from search.reports.outcomes import read_outcomes
from search.reports.paired import compare_pairs
from search.reports.tables import make_scores
from tests.helpers.benchmark_files import ROOT
from tests.test_documents import Command, commands

DOCUMENT = "docs/results.md"
PAGE = (ROOT / DOCUMENT).read_text(encoding="utf-8")
REPORTS = [text for text in commands(DOCUMENT) if "search.report docs/results/" in text]


def list_rows(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.startswith("|")]


def test_there_are_reports() -> None:
    assert len(REPORTS) > 1


@pytest.mark.parametrize("command", REPORTS)
def test_scores_and_pairs_are_as_reported(command: str) -> None:
    words = Command.of(command).arguments
    outcomes = read_outcomes([str(ROOT / word) for word in words if "=" not in word])
    (pairs,) = (yaml.safe_load(word.removeprefix("pairs=")) for word in words if "=" in word)
    for table in (make_scores(outcomes), compare_pairs(outcomes, pairs)):
        _header, _rule, *rows = list_rows(table.markdown())
        assert set(rows) <= set(list_rows(PAGE))
