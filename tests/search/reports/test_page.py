"""The page of a report: one well-formed file with the right numbers, that needs nothing else."""

import re
from base64 import b64encode
from pathlib import Path
from typing import Any

import pytest

from search.agents.result import SearchStatus
from search.reports.outcomes import LeftOut, SearchOutcome, SearchOutcomes
from search.reports.page import render_page
from search.reports.tables import list_left_out, make_overview
from search.reports.writing import choose_for_page, make_tables
from tests.helpers.html import Page

ODD = '<b>&"odd"</script>{{ data }}'
SOLVED, UNSOLVABLE, TIME_LIMIT = SearchStatus.SOLVED, SearchStatus.UNSOLVABLE, SearchStatus.TIME_LIMIT


MEASURES = ["coverage", "expanded", "time", "length"]


class Reader(Page):
    """Reads the tables of a page as well, as texts and by what their cells are sorted, and what is said elsewhere."""

    def __init__(self, found: SearchOutcomes, folder: Path) -> None:
        self.tables: list[list[list[str]]] = []
        self.sorted_by: list[list[list[str | None]]] = []
        self.texts: list[str] = []
        pair = (found.configurations[0], found.configurations[-1])
        tables = choose_for_page(make_tables(found, [pair], MEASURES))
        folder.mkdir(exist_ok=True)
        on_page = [make_overview(found, MEASURES), *tables, list_left_out(found)]
        self.source = render_page(on_page, {"a & b": "<svg/>"}, folder, title="Report of <a>", command="report 'a b'")
        super().__init__(self.source)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        super().handle_starttag(tag, attributes)
        for found, empty in ((self.tables, ""), (self.sorted_by, dict(attributes).get("data-value"))):
            if tag == "table":
                found.append([])
            elif tag == "tr":
                found[-1].append([])
            elif tag in ("td", "th"):
                found[-1][-1].append(empty)

    def handle_data(self, data: str) -> None:
        super().handle_data(data)
        if "td" in self.open or "th" in self.open:
            self.tables[-1][-1][-1] += data
        else:
            self.texts.append(data)

    def values(self, name: str) -> list[str | None]:
        return [found[name] for found in self.attributes if name in found]


def make_solved(name: str, problem: str, nodes: float, ms: float, **more: Any) -> SearchOutcome:
    return SearchOutcome(problem.partition("/")[0], problem, name, SOLVED, 4, nodes, ms / 2, ms, 40.0, **more)


def outcomes(second: str = "hfs/gnn") -> SearchOutcomes:
    first = {
        "x_y/1": make_solved("bfs", "x_y/1", 10, 0.25),
        "x_y/2": SearchOutcome("x_y", "x_y/2", "bfs", UNSOLVABLE, None, 30, 1, 9, consistent_beliefs=True),
        "z/1": SearchOutcome("z", "z/1", "bfs", TIME_LIMIT, None, None, 1, 600),
    }
    other = {"x_y/1": make_solved(second, "x_y/1", 5, 50), "z/1": make_solved(second, "z/1", 7, 1234.5)}
    return SearchOutcomes({"bfs": first, second: other})


def test_the_tables_hold_the_numbers_and_are_sorted_by_their_values(tmp_path: Path) -> None:
    found = Reader(outcomes(), tmp_path)
    overview, summary, paired, instances = (
        rows[-count:] for rows, count in zip(found.tables, (3, 4, 2, 4), strict=True)
    )
    assert [len(rows) for rows in found.tables] == [3, 5, 2, 5]
    assert found.tables[1][0] == ["", "bfs", "hfs/gnn"]
    assert found.tables[3][0] == ["", "", "bfs", "hfs/gnn"]
    assert overview[1:] == [
        ["bfs", "2/3", "1", "21 to 94 %", "10", "0.25"],
        ["hfs/gnn", "2/2", "0", "34 to 100 %", "5", "50"],
    ]
    assert summary[0][:3] == ["domain", "coverage", "expanded"]
    labels = [label for label in found.values("aria-label") if str(label).startswith("hfs/gnn ")]
    assert labels[:2] == ["hfs/gnn coverage", "hfs/gnn expanded"]
    assert [row[:3] for row in summary[1:]] == [
        ["x_y", "1/2 (50.00%)", "10 ± 0"], ["z", "0/1 (0.00%)", "–"], ["All", "1/3 (33.33%)", "10 ± 0"],
    ]  # fmt: skip
    assert [row[:7] for row in paired[1:]] == [["bfs", "hfs/gnn", "2", "1", "0", "1", "1"]]
    assert paired[1][8:] == ["1", "2", "1"]
    assert [row[4:] for row in instances[1:]] == [
        ["solved", "10", "0.25", "4", "solved", "5", "50", "4"],
        ["unsolvable with consistent beliefs", "30", "9", "–", "–", "–", "–", "–"],
        ["TO", "–", "600", "–", "solved", "7", "1234", "4"],
    ]
    values = found.sorted_by[3][1:]
    assert values[1][4:] == [None, "10", "0.25", "4", None, "5", "50", "4"]
    assert values[2][5:] == ["30", "9", None, None, None, None, None]
    assert [one["tag"] for one in found.attributes].count("button") == sum(len(table[-1]) for table in found.tables)
    assert len(found.values("data-text")) == 1 + 1 + 2 + 1


def test_the_title_and_the_command(tmp_path: Path) -> None:
    found = Reader(outcomes(), tmp_path)
    assert found.texts.count("Report of <a>") == 2
    assert "report 'a b'" in found.texts


def test_labels_are_escaped(tmp_path: Path) -> None:
    plain, odd = Reader(outcomes(), tmp_path / "plain"), Reader(outcomes(ODD), tmp_path / "odd")
    assert "<b>" not in odd.source
    assert odd.source.count("</script>") == plain.source.count("</script>")
    assert odd.tables[0][2][0] == ODD
    assert odd.tables[1][0][2] == ODD


def test_the_page_needs_no_other_file(tmp_path: Path) -> None:
    found = Reader(outcomes(), tmp_path)
    pictures = found.values("src")
    assert pictures == [f"data:image/svg+xml;base64,{b64encode(b'<svg/>').decode()}"]
    assert found.values("href") == []
    assert not {one["tag"] for one in found.attributes} & {"link", "iframe", "base"}
    without = re.sub(r"base64,[^\"]+", "", found.source)
    assert not re.search(r"\w+://|@import|url\(|fetch\(|XMLHttpRequest|import\(", without)


def test_what_is_kept_of_a_search_is_linked_where_it_is(tmp_path: Path) -> None:
    kept = tmp_path / "run" / "records" / "x #1" / "bfs.json"
    kept.parent.mkdir(parents=True)
    kept.write_text("{}")
    found = {
        "x/1": make_solved("bfs", "x/1", 1, 1, file=kept),
        "x/2": make_solved("bfs", "x/2", 1, 1, file=tmp_path / "gone.json"),
    }
    for folder, link in (("run", "records/x%20%231/bfs.json"), ("report", "../run/records/x%20%231/bfs.json")):
        assert Reader(SearchOutcomes({"bfs": found}), tmp_path / folder).values("href") == [link]


@pytest.mark.parametrize("entries", [(), (LeftOut("bfs", "z/1", False, 2),)])
def test_what_is_left_out_is_said(entries: tuple[LeftOut, ...], tmp_path: Path) -> None:
    texts = Reader(SearchOutcomes(outcomes().table, entries), tmp_path).texts
    said = [text for text in texts if text.startswith("Left out: 1 searches without an outcome, and 2 outcomes under")]
    assert len(said) == len(entries)


def test_a_single_configuration_is_a_report_too(tmp_path: Path) -> None:
    found = Reader(SearchOutcomes({"bfs": outcomes().table["bfs"]}), tmp_path)
    assert len(found.tables) == 4
