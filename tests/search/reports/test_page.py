"""The page of a report: one well-formed file with the right numbers, that needs nothing else."""

import re
from pathlib import Path
from typing import Any

import pytest

from search.agents.result import SearchStatus
from search.reports.outcomes import LeftOut, SearchOutcome, SearchOutcomes
from search.reports.page import render_page
from tests.helpers.html import Page

ODD = '<b>&"odd"</script>{{ data }}'
SOLVED, UNSOLVABLE, TIME_LIMIT = SearchStatus.SOLVED, SearchStatus.UNSOLVABLE, SearchStatus.TIME_LIMIT


MEASURES = ["coverage", "expanded", "time", "length"]


class Reader(Page):
    """Reads the tables of a page as well, as texts and by what their cells are sorted, and what is said elsewhere."""

    def __init__(self, found: SearchOutcomes, folder: Path = Path()) -> None:
        self.tables: list[list[list[str]]] = []
        self.sorted_by: list[list[list[str | None]]] = []
        self.texts: list[str] = []
        self.source = render_page(found, [(found.configurations[0], found.configurations[-1])], folder, MEASURES)
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


def test_the_tables_hold_the_numbers_and_are_sorted_by_their_values() -> None:
    found = Reader(outcomes())
    overview, domains, paired, searches = found.tables
    assert overview[1:] == [
        ["bfs", "2/3", "1", "0 to 100 %", "10", "0.25"],
        ["hfs/gnn", "2/2", "0", "100 to 100 %", "5", "50"],
    ]
    assert domains == [["domain", "bfs", "hfs/gnn"], ["x_y", "2/2", "1/1"], ["z", "0/1", "1/1"], ["All", "2/3", "2/2"]]
    assert [row[:7] for row in paired[1:]] == [["bfs", "hfs/gnn", "2", "1", "0", "1", "1"]]
    assert paired[1][8:] == ["1", "2", "1"]
    assert searches[1:] == [
        ["x_y/1", "bfs", "solved", "10", "0.25", "4"],
        ["x_y/1", "hfs/gnn", "solved", "5", "50", "4"],
        ["x_y/2", "bfs", "unsolvable with consistent beliefs", "30", "9", "–"],
        ["z/1", "bfs", "time limit", "–", "600", "–"],
        ["z/1", "hfs/gnn", "solved", "7", "1234", "4"],
    ]
    _, shares, _, values = found.sorted_by
    assert shares[1:] == [[None, "1.0", "1.0"], [None, "0.0", "1.0"], [None, str(2 / 3), "1.0"]]
    assert values[5] == [None, None, None, "7", "1234.5", "4"]
    assert values[3][-1] is None
    assert [one["tag"] for one in found.attributes].count("button") == sum(len(table[0]) for table in found.tables)
    assert len(found.values("data-text")) == 1 + 1 + 2 + 3


def test_the_drawings_have_a_value_for_each_problem() -> None:
    found = Reader(outcomes()).content
    assert found["configurations"] == ["bfs", "hfs/gnn"]
    assert [(problem["name"], problem["domain"]) for problem in found["problems"]] == [
        ("x_y/1", "x_y"), ("x_y/2", "x_y"), ("z/1", "z"),
    ]  # fmt: skip
    assert found["values"] == {  # -1: not answered, null: no outcome
        "expanded nodes": [[10, 30, -1], [5, None, 7]],
        "total time [ms]": [[0.25, 9, -1], [50, None, 1234.5]],
        "plan length": [[4, None, -1], [4, None, 4]],
    }
    assert (found["chosen"], list(found["sentences"])) == ([0, 1], ["0 1"])
    assert found["sentences"]["0 1"][0] == "bfs answered 1 of 2 problems and hfs/gnn 2; 0 only bfs, 1 only hfs/gnn."


def test_labels_are_escaped() -> None:
    plain, odd = Reader(outcomes()), Reader(outcomes(ODD))
    assert "<b>" not in odd.source
    assert odd.source.count("</script>") == plain.source.count("</script>")
    assert odd.tables[0][2][0] == ODD
    assert odd.tables[1][0] == ["domain", "bfs", ODD]
    assert odd.content["configurations"] == ["bfs", ODD]


def test_the_page_needs_no_other_file() -> None:
    found = Reader(outcomes())
    assert found.values("src") == found.values("href") == []
    assert not {one["tag"] for one in found.attributes} & {"link", "img", "iframe", "base"}
    addresses = set(re.findall(r"\w+://[^\s\"')]+", found.source))
    assert addresses == {"http://www.w3.org/2000/svg"}  # a name, which nobody fetches
    assert not re.search(r"@import|url\(|fetch\(|XMLHttpRequest|import\(", found.source)
    used = set(re.findall(r'(?:find|choices)\("([\w-]+)"', found.source)) | {"data"}
    assert used <= set(found.values("id"))


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
def test_what_is_left_out_is_said(entries: tuple[LeftOut, ...]) -> None:
    texts = Reader(SearchOutcomes(outcomes().table, entries)).texts
    said = [text for text in texts if text.startswith("Left out: 1 searches without an outcome, and 2 outcomes under")]
    assert len(said) == len(entries)


def test_a_single_configuration_is_a_report_too() -> None:
    text = render_page(SearchOutcomes({"bfs": outcomes().table["bfs"]}), [], Path())
    assert text.count("<table") == 3
    assert Page(text).content["chosen"] == [0, 0]
