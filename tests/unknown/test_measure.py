"""The program that measures a configuration on the unknown domains."""

from pathlib import Path

import pytest

from epigym.io.files import read_rows
from tests.unknown import measure
from tests.unknown.test_problems import TABLE


def test_it_prints_and_writes_a_line_for_each_chosen_problem(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "table.csv"
    measure.main(["agent=bfs", "time_limit=60", "domain=light_bulb", "size=small", f"out={out}"])
    header, *lines, summary = capsys.readouterr().out.splitlines()
    rows = read_rows(out, header.split())
    known = [row for problem, row in TABLE.items() if (problem.domain, problem.size) == ("light_bulb", "small")]
    timed = {"cpu_seconds"}
    assert [{key: row[key] for key in row.keys() - timed} for row in rows] == [
        {key: row[key] for key in row.keys() - timed} for row in known
    ]
    assert [line.split() for line in lines] == [list(row.values()) for row in rows]
    assert summary == "2 of 2 solved"
