"""The progress of a search on the terminal."""

import os
import pty
import subprocess
import sys
from io import StringIO

import pytest
from rich.console import Console

from search.agents.result import SearchResult, SearchStatus
from search.agents.run import Counts
from search.processes.channel import may_be_copied
from search.reports.display import show_results
from search.reports.progress_line import ProgressLine, describe_progress
from tests.helpers.benchmark_files import ROOT

NONE = SearchResult(SearchStatus.UNSOLVABLE, "bfs", "coin")


@pytest.mark.parametrize(
    ("progress", "text"),
    [
        (Counts(1234, 9999, 5678), "searching: 1,234 e-states expanded, 5,678 reached"),
        (NONE, "no plan: the reference has checked nothing yet"),
        (
            SearchResult(SearchStatus.UNSOLVABLE, "bfs", "coin", proof="checked 3 of 64 e-states"),
            "no plan: the reference has checked 3 of 64 e-states",
        ),
        (
            SearchResult(SearchStatus.SOLVED, "bfs", "coin", plan=("lift", "look")),
            "searching for a plan of fewer than 2 actions",
        ),
        (SearchResult(SearchStatus.TIME_LIMIT, "bfs", "coin"), "time_limit"),
    ],
)
def test_a_running_search_is_described(progress: Counts | SearchResult, text: str) -> None:
    assert describe_progress(progress) == text


def draw(*, is_terminal: bool) -> str:
    console = Console(file=StringIO(), force_terminal=is_terminal, width=40)
    could_be_copied = may_be_copied()
    with ProgressLine(console) as line:
        line.show(Counts(1, 2, 3))
        line.show(NONE)
        assert may_be_copied() == could_be_copied  # no thread draws
    return console.file.getvalue()


def test_the_line_replaces_itself_on_a_terminal_only() -> None:
    written = draw(is_terminal=True)
    assert "searching: 1 e-states expanded, 3 reach…\r\x1b[2Kno plan: the reference has checked noth…" in written
    assert written.endswith("\r\x1b[1A\x1b[2K")  # erased
    assert draw(is_terminal=False) == ""


def test_a_search_on_a_terminal_shows_its_progress() -> None:
    main, terminal = pty.openpty()
    words = ["-m", "search.solve", "problem=coin_in_the_box/pl_3", "agent=bfs"]
    subprocess.run([sys.executable, *words], cwd=ROOT, stdin=terminal, stdout=terminal, stderr=terminal, check=True)
    os.close(terminal)
    assert "searching: 0 e-states expanded, 1 reached" in os.read(main, 1 << 16).decode()
    os.close(main)


@pytest.mark.parametrize(
    ("proof", "hint"),
    [
        ("checked 3 of 64 e-states, stopped after 1.0 s", ["verify=whole checks all e-states"]),
        ("confirmed: all 64 e-states", []),
    ],
)
def test_a_result_names_its_check_and_how_to_make_it_whole(proof: str, hint: list[str]) -> None:
    console = Console(file=StringIO(), width=80)
    show_results(console, [SearchResult(SearchStatus.UNSOLVABLE, "bfs", "coin", proof=proof)])
    lines = console.file.getvalue().splitlines()
    assert lines[lines.index(f"bfs: {proof}") + 1 :] == hint
