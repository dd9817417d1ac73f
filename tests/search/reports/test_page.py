"""The page of a report: one well-formed file with the right numbers, that needs nothing else."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from search.agents.result import SearchStatus
from search.reports.outcomes import LeftOut, Outcome, Outcomes
from search.reports.page import page

VOID = {"meta", "wbr"}
ODD = '<b>&"odd"</script><!-- data -->'
SOLVED, UNSOLVABLE, TIME_LIMIT = SearchStatus.SOLVED, SearchStatus.UNSOLVABLE, SearchStatus.TIME_LIMIT


class Reader(HTMLParser):
    """Reads a page: its tables as texts, its links, its data, and whether every element is closed in its place."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tables: list[list[list[str]]] = []
        self.sorted_by: list[list[list[str | None]]] = []
        self.attributes: list[tuple[str, str, str]] = []
        self.data: Any = None
        self.texts: list[str] = []
        self._open: list[str] = []
        self._is_data = False
        self.feed(text)
        self.close()
        assert self._open == []

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        known = {name: value or "" for name, value in attributes}
        self.attributes += [(tag, name, value) for name, value in known.items()]
        if tag == "table":
            self.tables.append([])
            self.sorted_by.append([])
        elif tag == "tr":
            self.tables[-1].append([])
            self.sorted_by[-1].append([])
        elif tag in ("td", "th"):
            self.tables[-1][-1].append("")
            self.sorted_by[-1][-1].append(known.get("data-value"))
        self._is_data = known.get("id") == "data"
        if tag not in VOID:
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self._is_data:
            self.data = json.loads(data)
            self._is_data = False
        elif "td" in self._open or "th" in self._open:
            self.tables[-1][-1][-1] += data
        else:
            self.texts.append(data)

    def values(self, name: str) -> list[str]:
        return [value for _, found, value in self.attributes if found == name]


def solved(name: str, problem: str, nodes: float, ms: float, **more: Any) -> Outcome:
    return Outcome(problem.partition("/")[0], problem, name, SOLVED, 4, nodes, ms / 2, ms, 40.0, **more)


def outcomes(second: str = "hfs/gnn") -> Outcomes:
    first = {
        "x_y/1": solved("bfs", "x_y/1", 10, 0.25),
        "x_y/2": Outcome("x_y", "x_y/2", "bfs", UNSOLVABLE, None, 30, 1, 9, consistent_beliefs=True),
        "z/1": Outcome("z", "z/1", "bfs", TIME_LIMIT, None, None, 1, 600),
    }
    other = {"x_y/1": solved(second, "x_y/1", 5, 50), "z/1": solved(second, "z/1", 7, 1234.5)}
    return Outcomes({"bfs": first, second: other})


def read(found: Outcomes, folder: Path = Path()) -> Reader:
    first, second = found.configurations
    return Reader(page(found, [(first, second)], folder))


def test_the_tables_hold_the_numbers() -> None:
    overview, domains, paired, cells = read(outcomes()).tables
    assert overview[1:] == [
        ["bfs", "2/3", "1", "0 to 100 %", "10", "0.25"],
        ["hfs/gnn", "2/2", "0", "100 to 100 %", "5", "50"],
    ]
    assert domains == [["domain", "bfs", "hfs/gnn"], ["x_y", "2/2", "1/1"], ["z", "0/1", "1/1"], ["All", "2/3", "2/2"]]
    assert [row[:7] for row in paired[1:]] == [["bfs", "hfs/gnn", "2", "1", "0", "1", "1"]]
    assert paired[1][8:] == ["1", "2", "1"]
    assert cells[1:] == [
        ["x_y/1", "bfs", "solved", "10", "0.25", "0.12", "4", "40"],
        ["x_y/1", "hfs/gnn", "solved", "5", "50", "25", "4", "40"],
        ["x_y/2", "bfs", "unsolvable without collapse", "30", "9", "1", "–", "–"],
        ["z/1", "bfs", "time limit", "–", "600", "1", "–", "–"],
        ["z/1", "hfs/gnn", "solved", "7", "1234", "617", "4", "40"],
    ]


def test_titles_are_buttons_and_numbers_are_sorted_by_their_values() -> None:
    found = read(outcomes())
    buttons = [tag for tag, name, _ in found.attributes if (tag, name) == ("button", "type")]
    assert len(buttons) == sum(len(table[0]) for table in found.tables)
    _, domains, _, cells = found.sorted_by
    assert domains[1:] == [[None, "1.0", "1.0"], [None, "0.0", "1.0"], [None, str(2 / 3), "1.0"]]
    assert cells[5] == [None, None, None, "7", "1234.5", "617.25", "4", "40.0"]
    assert cells[3][-1] is None
    texts = [tag for tag, name, _ in found.attributes if name == "data-text"]
    assert len(texts) == 1 + 1 + 2 + 3


def test_the_drawings_have_a_value_for_each_problem() -> None:
    found = read(outcomes()).data
    assert found["configurations"] == ["bfs", "hfs/gnn"]
    assert [problem["name"] for problem in found["problems"]] == ["x_y/1", "x_y/2", "z/1"]
    assert [problem["domain"] for problem in found["problems"]] == ["x_y", "x_y", "z"]
    assert found["values"] == {  # -1: not answered, null: no outcome
        "nodes": [[10, 30, -1], [5, None, 7]],
        "time [ms]": [[0.25, 9, -1], [50, None, 1234.5]],
    }
    assert found["chosen"] == [0, 1]
    assert list(found["sentences"]) == ["0 1"]
    assert found["sentences"]["0 1"][0] == "bfs answered 1 of 2 problems and hfs/gnn 2; 0 only bfs, 1 only hfs/gnn."


def test_labels_are_escaped() -> None:
    plain, odd = (page(outcomes(label), [("bfs", label)], Path()) for label in ("hfs/gnn", ODD))
    assert "<b>" not in odd
    assert odd.count("</script>") == plain.count("</script>")
    found = Reader(odd)
    assert found.tables[0][2][0] == ODD
    assert found.tables[1][0] == ["domain", "bfs", ODD]
    assert found.data["configurations"] == ["bfs", ODD]


def test_the_page_needs_no_other_file() -> None:
    text = page(outcomes(), [("bfs", "hfs/gnn")], Path())
    found = Reader(text)
    assert found.values("src") == found.values("href") == []
    assert not {tag for tag, _, _ in found.attributes} & {"link", "img", "iframe", "base"}
    addresses = set(re.findall(r"\w+://[^\s\"')]+", text))
    assert addresses == {"http://www.w3.org/2000/svg"}  # a name, which nobody fetches
    assert not re.search(r"@import|url\(|fetch\(|XMLHttpRequest|import\(", text)
    assert "<!--" not in text
    used = set(re.findall(r'(?:find|choices)\("([\w-]+)"', text)) | {"data"}
    assert used <= set(found.values("id"))


def test_what_is_kept_of_a_search_is_linked_where_it_is(tmp_path: Path) -> None:
    kept = tmp_path / "run" / "cells" / "x #1" / "bfs.json"
    kept.parent.mkdir(parents=True)
    kept.write_text("{}")
    found = {
        "x/1": solved("bfs", "x/1", 1, 1, file=kept),
        "x/2": solved("bfs", "x/2", 1, 1, file=tmp_path / "gone.json"),
    }
    for folder, link in (("run", "cells/x%20%231/bfs.json"), ("report", "../run/cells/x%20%231/bfs.json")):
        assert Reader(page(Outcomes({"bfs": found}), [], tmp_path / folder)).values("href") == [link]


@pytest.mark.parametrize("entries", [(), (LeftOut("bfs", "z/1", False, 2),)])
def test_what_is_left_out_is_said(entries: tuple[LeftOut, ...]) -> None:
    texts = read(Outcomes(outcomes().table, entries)).texts
    said = [text for text in texts if text.startswith("Left out: 1 searches without an outcome, and 2 outcomes under")]
    assert len(said) == len(entries)


def test_a_single_configuration_is_a_report_too() -> None:
    found = Reader(page(Outcomes({"bfs": outcomes().table["bfs"]}), [], Path()))
    assert len(found.tables) == 3
    assert (found.data["chosen"], found.data["sentences"]) == ([0, 0], {})
