"""The answers to a part of the inputs of the catalogue are those on its page; `tests.catalogue.page` runs all."""

import re

import pytest

from epigym.cli.codes import ExitCode
from tests.catalogue.page import format_row, run
from tests.catalogue.running import PAGE, Outcome

STRIDE = 10


@pytest.fixture(scope="module")
def outcomes() -> list[Outcome]:
    found = run(STRIDE)
    assert len(found) >= 150
    return found


@pytest.mark.slow
def test_answers_agree_with_the_page(outcomes: list[Outcome]) -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert [outcome for outcome in outcomes if format_row(outcome) not in page] == []


@pytest.mark.slow
def test_no_answer_is_a_traceback_or_an_undocumented_end(outcomes: list[Outcome]) -> None:
    assert [outcome for outcome in outcomes if not outcome.is_ours or "Traceback" in outcome.output] == []


@pytest.mark.slow
def test_refused_inputs_produce_one_line_errors(outcomes: list[Outcome]) -> None:
    refused = [outcome for outcome in outcomes if outcome.end.isdigit() and int(outcome.end) >= ExitCode.USAGE]
    assert len(refused) > len(outcomes) // 3
    assert [one for one in refused if len(one.said) != 1 or not re.match(r"error: .{12,}", one.said[0])] == []
    assert [one for one in refused if one.written] == []
