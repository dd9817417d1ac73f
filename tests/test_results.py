"""The tables of docs/results.md are those that its commands make of the raw results beside it."""

import re
import shlex

import pytest
import yaml

from search.reports.outcomes import read_outcomes
from search.reports.paired import compare_pairs
from search.reports.tables import make_scores
from tests.test_documents import ROOT

PAGE = (ROOT / "docs" / "results.md").read_text(encoding="utf-8")
REPORTS = re.findall(r"^    python -m search\.report (docs/results/(?:\\\n|.)+)", PAGE, flags=re.MULTILINE)


def list_rows(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.startswith("|")]


def test_there_are_reports() -> None:
    assert len(REPORTS) > 1


@pytest.mark.parametrize("command", REPORTS)
def test_scores_and_pairs_are_as_reported(command: str) -> None:
    words = shlex.split(command.replace("\\\n", " "))
    outcomes = read_outcomes([str(ROOT / word) for word in words if "=" not in word])
    (pairs,) = (yaml.safe_load(word.removeprefix("pairs=")) for word in words if "=" in word)
    for table in (make_scores(outcomes), compare_pairs(outcomes, pairs)):
        _header, _rule, *rows = list_rows(table.markdown())
        assert set(rows) <= set(list_rows(PAGE))
