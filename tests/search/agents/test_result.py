"""Results survive the way to a file and back."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from epigym.cli.codes import ExitCode
from epigym.io.files import write_json
from search.agents.result import SearchResult, SearchStatus

SOLVED = SearchResult(
    status=SearchStatus.SOLVED,
    agent="hfs",
    problem="coin_in_the_box/pl_2",
    plan=("open_a", "peek_a"),
    expanded=2,
    generated=5,
    distinct=5,
    search_seconds=0.25,
    heuristic="open_goals",
    load_seconds=0.0625,
    build_seconds=0.5,
    validation_seconds=0.125,
    peak_bytes=1 << 20,
    collapsed_agents=("b",),
    optimal=True,
    history=((4, 0.75), (2, 1.5)),
    consistent_beliefs=True,
)
UNSOLVED = replace(SOLVED, status=SearchStatus.TIME_LIMIT, agent="bfs", plan=None, heuristic=None, collapsed_agents=())


@pytest.mark.parametrize("result", [SOLVED, UNSOLVED])
def test_round_trip(result: SearchResult, tmp_path: Path) -> None:
    file = tmp_path / "run" / "result.json"
    write_json(file, result.to_dict())
    assert SearchResult.from_dict(json.loads(file.read_text())) == result
    assert [path.name for path in file.parent.iterdir()] == ["result.json"]


def test_the_file_names_what_users_look_for() -> None:
    data = SOLVED.to_dict()
    assert data["status"] == "solved"
    assert data["plan_length"] == 2
    assert UNSOLVED.to_dict()["plan_length"] is None
    assert replace(SOLVED, status=SearchStatus.ERROR).to_dict()["plan_length"] is None
    assert (SOLVED.label, UNSOLVED.label) == ("hfs/open_goals", "bfs")
    assert SOLVED.total_seconds == 0.9375


def test_the_verdict_says_which_question_was_answered() -> None:
    without = [replace(SOLVED, status=status).verdict for status in SearchStatus]
    assert without == [
        "solved (without collapse)",
        "unsolvable (without collapse)",
        "expansion_limit",
        "time_limit",
        "memory_limit",
        "error",
    ]
    assert [replace(SOLVED, status=status, consistent_beliefs=False).verdict for status in SearchStatus] == [
        *SearchStatus
    ]


def test_exit_codes_say_how_a_search_ended() -> None:
    codes = {status: int(ExitCode.of(status)) for status in SearchStatus}
    assert codes == {
        "solved": 0,
        "unsolvable": 11,
        "expansion_limit": 12,
        "time_limit": 12,
        "memory_limit": 12,
        "error": 70,
    }
