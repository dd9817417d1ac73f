"""Tables: no cell is lost or broken, whatever the width of the terminal, and none is more than text in any form."""

import csv
from io import StringIO
from pathlib import Path
from xml.etree.ElementTree import fromstring

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from markdown import markdown
from rich.console import Console

from epigym.io.tables import ALL, Numbers, Table

NAME = "selective_communication_enriched/10_10_pl_17"
TITLES = ("problem", "encoding", "samples", "R²", "MAE", "rank", "SUB MAE", "SUB rank")
ROWS = [[NAME, "bitmask", 100_000 + number, -0.1234, 0.5, 0.999, 1.25, float("nan")] for number in (1, 2)]
SHOWN = [[NAME, "bitmask", str(100_000 + number), "-0.123", "0.500", "0.999", "1.250", "nan"] for number in (1, 2)]
TABLE = Table.of("errors in steps", [dict(zip(TITLES, row, strict=True)) for row in ROWS])
GROUPED = Table("times ±", ["", "a", "b", "c"], [["x", "1", "2", "3"], [ALL, "4", "5", "6"]], 1, [("p%", 2), ("q", 1)])


def lines(table: Table, width: int) -> list[str]:
    console = Console(file=StringIO(), width=width)
    console.print(table)
    return console.file.getvalue().splitlines()


@pytest.mark.parametrize("width", [40, 60, 80, 100])
def test_a_table_that_is_too_wide_is_a_block_for_each_row(width: int) -> None:
    printed = lines(TABLE, width)
    assert max(map(len, printed)) <= width
    assert "".join(printed).count(NAME) == 2
    for title, cell in zip(TITLES[1:], SHOWN[0][1:], strict=True):
        assert f"  {title:<8}  {cell}" in printed


def test_lines_and_groups() -> None:
    printed = lines(TABLE, 130)
    cells = [[cell.strip() for cell in line.strip("│").split("│")] for line in printed if line.startswith("│")]
    assert cells == SHOWN
    assert "│ bitmask  │  100001 │ -0.123 │" in "".join(printed)
    assert GROUPED.headings == ["", "p% a", "p% b", "q c"]
    assert GROUPED.csv().splitlines()[0] == ",p% a,p% b,q c"
    assert GROUPED.markdown().splitlines()[2:4] == ["|  | p% a | p% b | q c |", "| --- | ---: | ---: | ---: |"]


def test_csv_has_all_digits_and_markdown_those_of_the_terminal(tmp_path: Path) -> None:
    assert TABLE.write(tmp_path / "a.b", "csv", "markdown") is TABLE
    assert {path.name for path in tmp_path.iterdir()} == {"a.b.csv", "a.b.md"}
    titles, *rows = csv.reader((tmp_path / "a.b.csv").read_text().splitlines())
    assert (titles, rows) == (list(TITLES), [list(map(str, row)) for row in ROWS])
    caption, _, _, marks, *rows = (tmp_path / "a.b.md").read_text().splitlines()
    assert (caption, marks) == ("**errors in steps**", "| --- | --- |" + " ---: |" * 6)
    assert rows[0] == "| " + " | ".join(SHOWN[0]) + " |"


def test_numbers_have_a_text_to_read_and_columns_of_their_own_in_csv() -> None:
    rows = [["x", Numbers("20 ± 10", {"mean": 20.25, "range": 10.0}), 3], ["y", Numbers("–", {"mean": None}), 4]]
    table = Table("costs", ["", "nodes", "n"], rows, note="a | b")
    assert table.csv().splitlines() == [",nodes mean,nodes range,n", "x,20.25,10.0,3", "y,,,4"]
    assert table.markdown().splitlines()[4:] == ["| x | 20 ± 10 | 3 |", "| y | – | 4 |", "", "a \\| b"]
    assert r"  \par\smallskip a \textbar{} b" in table.latex().splitlines()
    assert lines(table, 80)[-1] == "a | b"
    assert Table("", ["a", "b"], []).csv() == "a,b\n"


@given(st.lists(st.text("ab1 \\`*_[](){}<>&|!#~\"'\n", max_size=12), min_size=2, max_size=2))
@example(["[a](b)", "![a](b)"])
def test_markdown_shows_texts_as_they_are(texts: list[str]) -> None:
    made = Table(texts[0] + "x", ["y", *texts], [["z", *texts]])
    page = fromstring(f"<body>{markdown(made.markdown(), extensions=['tables'])}</body>")
    for row in page.iter("tr"):
        assert all(len(cell) == 0 for cell in row), "markup within a cell"
        assert [cell.text or "" for cell in row][1:] == [" ".join(text.split()) for text in texts]


def test_latex_has_the_layout_of_the_paper() -> None:
    written = GROUPED.latex()
    assert r"\begin{tabular}{lrr|r}" in written
    assert r" & \multicolumn{2}{c}{p\%} & \multicolumn{1}{c}{q} \\" in written
    assert r"\caption{times $\pm$}" in written
    assert written.count(r"\midrule") == 3  # under the groups, under the titles, above what sums up
    assert r"\begin{tabular}{llrrrrrr}" in TABLE.latex()


def test_latex_stacks_more_than_four_groups() -> None:
    """Else the table is wider than a page; a line for each group, which says what the groups have in common once."""
    names = ["p", "q", "r", "s", "t"]
    groups = [("", 1), *((name, 2) for name in names)]
    rows = [[domain, 7, *range(10)] for domain in ("x", "All")]
    four, five = (
        Table("c", ["d", "size", *"mn" * count], [row[: 2 + 2 * count] for row in rows], groups=groups[: 1 + count])
        for count in (4, 5)
    )
    assert r"\multicolumn{2}{c}{s}" in four.latex()
    written = five.latex().splitlines()
    assert r"  \begin{tabular}{llrrr}" in written
    assert r"    d & configuration & size & m & n \\" in written
    assert [line.strip() for line in written if " & q & " in line] == [r"& q &  & 2 & 3 \\"] * 2
    assert written[written.index(r"    All & p & 7 & 0 & 1 \\") - 1] == r"    \midrule"
    assert "multicolumn" not in five.latex()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (r"\input{/etc/passwd}", r"\textbackslash{}input\{/etc/passwd\}"),
        ("a_b & 5 % $x$ #1", r"a\_b \& 5 \% \$x\$ \#1"),
        ("~^|<>–", r"\textasciitilde{}\textasciicircum{}\textbar{}$<$$>$--"),
        ("[1ex]\n\nx", "{}[1ex] x"),  # else an argument of the line before
    ],
)
def test_latex_shows_texts_as_they_are(text: str, expected: str) -> None:
    assert f"\n    {expected} & 1 \\\\\n" in Table("", ["", "n"], [[text, 1]]).latex()
