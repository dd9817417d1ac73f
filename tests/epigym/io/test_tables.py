"""Tables on the terminal: whatever its width, no cell is lost or broken."""

from __future__ import annotations

from collections.abc import Sequence
from io import StringIO

import pytest
from rich.console import Console

from epigym.io.tables import ScreenTable
from learn.training.fitting import metrics_table

NAME = "selective_communication_enriched/10_10_pl_17"
COLUMNS = ("problem", "encoding", "samples", "steps", "R²", "MAE", "rank", "SUB MAE", "SUB rank")
ROWS = [[NAME, "bitmask", str(100_000 + number), "17", "-0.123", "0.500", "0.999", "1.250", "nan"] for number in (1, 2)]


def lines(table: ScreenTable, width: int) -> list[str]:
    console = Console(file=StringIO(), width=width)
    console.print(table)
    return console.file.getvalue().splitlines()


@pytest.mark.parametrize("width", [40, 60, 80, 100])
def test_a_table_that_is_too_wide_is_a_block_for_each_row(width: int) -> None:
    printed = lines(ScreenTable("errors in steps", COLUMNS, ROWS, texts=(0, 1)), width)
    assert max(map(len, printed)) <= width
    words = " ".join(printed).replace(" ", "") if width < len(NAME) else printed
    for row in ROWS:
        assert row[0] in words
    for title, cell in zip(COLUMNS[1:], ROWS[0][1:], strict=True):
        assert f"  {title:<8}  {cell}" in printed


def test_a_table_that_fits_has_a_line_for_each_row() -> None:
    printed = lines(ScreenTable("errors in steps", COLUMNS, ROWS, texts=(0, 1)), 130)
    cells = [[cell.strip() for cell in line.strip("│").split("│")] for line in printed if line.startswith("│")]
    assert cells == ROWS


def compared(count: int) -> ScreenTable:
    labels = [f"hfs_preferred/divided_goals_{number}" for number in range(count)]
    rows: Sequence[Sequence[str]] = [["expanded nodes", *["1,234,567"] * count]]
    return ScreenTable("grapevine/3_pl_4", ["", *labels], rows)


def test_six_configurations_beside_each_other_need_more_than_80_columns() -> None:
    printed = lines(compared(6), 80)
    assert printed[2:] == [
        "expanded nodes",
        *(f"  hfs_preferred/divided_goals_{number}  1,234,567" for number in range(6)),
    ]
    assert any(line.startswith("│ expanded nodes") for line in lines(compared(2), 90))


def test_the_summary_of_a_training_keeps_its_numbers_whole() -> None:
    names = ("mae", "rmse", "r2", "within_half")
    metrics = {f"{key}/{name}": 1234.5678 for key in ("val", "median", "open_goals") for name in names}
    printed = "\n".join(lines(metrics_table(metrics), 30))
    assert printed.count("1234.568") == 9
    assert printed.count("123456.8%") == 3
