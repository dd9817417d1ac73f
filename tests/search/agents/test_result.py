"""Results are written to files and read back."""

import json
from dataclasses import replace

import pytest

from epigym.cli.codes import ExitCode
from search.agents.result import Costs, SearchResult, SearchStatus, TaskSize

SOLVED = SearchResult(
    SearchStatus.SOLVED,
    agent="hfs",
    problem="coin_in_the_box/pl_2",
    plan=("open_a", "peek_a"),
    expanded=2,
    heuristic="goal_count",
    inconsistent_agents=("b",),
    history=((4, 0.75), (2, 1.5)),
    consistent_beliefs=True,
    costs=Costs(0.0625, 0.5, 0.25, 0.125, 3.0, 1 << 20),
    size=TaskSize(3, 2, 1),
)
UNSOLVED = replace(
    SOLVED, status=SearchStatus.TIME_LIMIT, agent="bfs", plan=None, heuristic=None, inconsistent_agents=()
)


@pytest.mark.parametrize(("result", "label", "length"), [(SOLVED, "hfs/goal_count", 2), (UNSOLVED, "bfs", None)])
def test_round_trip(result: SearchResult, label: str, length: int | None) -> None:
    data = json.loads(json.dumps(result.to_dict()))
    assert SearchResult.from_dict(data) == result
    assert (data["status"], data["plan_length"], result.label) == (str(result.status), length, label)
    assert (data["costs"]["peak_bytes"], data["size"]["fluents"]) == (1 << 20, 2)


def test_a_plan_that_is_not_valid_has_no_length() -> None:
    assert replace(SOLVED, status=SearchStatus.ERROR).plan_length is None
    assert SOLVED.costs.total_seconds == 0.9375


@pytest.mark.parametrize(("status", "code"), list(zip(SearchStatus, (0, 11, 12, 12, 12, 70), strict=True)), ids=str)
def test_the_verdict_says_which_question_was_answered_and_the_exit_code_how(status: SearchStatus, code: int) -> None:
    assert int(ExitCode.of(status)) == code
    assert replace(SOLVED, status=status, consistent_beliefs=False).verdict == str(status)
    question = " (with consistent beliefs)" if code in (0, 11) else ""
    assert replace(SOLVED, status=status).verdict == f"{status}{question}"
