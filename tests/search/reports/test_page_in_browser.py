"""The page of a report in a browser: widths, hints at what is beyond them, and sorting by keys."""

from pathlib import Path
from typing import Any

import pytest

from search.reports.writing import write_report
from tests.search.reports.test_page import outcomes

pytestmark = pytest.mark.slow

NARROW, WIDE = {"width": 390, "height": 844}, {"width": 1280, "height": 800}
SEEN = "box => [box.scrollWidth > box.clientWidth, getComputedStyle(box, '::after').content]"


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder: Path = tmp_path_factory.mktemp("report")
    write_report(folder, outcomes())
    return (folder / "report.html").as_uri()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", [NARROW, WIDE], ids=["narrow", "wide"])
def test_tables_fit_or_say_that_they_go_on(open_page: Any, address: str, size: dict[str, int], scheme: str) -> None:
    page = open_page(address, viewport=size, color_scheme=scheme)
    assert page.evaluate("document.documentElement.scrollWidth") <= size["width"]
    boxes = [box.evaluate(SEEN) for box in page.locator(".wide").all()]
    assert {wide for wide, _ in boxes} == ({True, False} if size == WIDE else {True})
    assert all(("scroll" in hint) == wide for wide, hint in boxes)
    rows = page.locator("table").evaluate_all("tables => tables.map(table => table.tBodies[0].rows.length)")
    assert min(rows) > 0


def test_a_table_that_is_too_high_says_so(open_page: Any, address: str) -> None:
    page = open_page(address, viewport=NARROW | {"height": 150})
    assert "down" in page.locator(".wide").last.get_attribute("data-hint")


def test_titles_sort_by_keys(open_page: Any, address: str) -> None:
    page = open_page(address, viewport=WIDE)
    page.get_by_role("button", name="hfs/gnn expanded").last.focus()
    page.keyboard.press("Enter")
    assert page.locator("table").last.locator("td:first-child").all_inner_texts() == ["x_y/1", "z/1", "x_y/2"]
    page.keyboard.press("Enter")
    assert page.locator("table").last.locator("td:first-child").all_inner_texts() == ["z/1", "x_y/1", "x_y/2"]
    page.get_by_role("button", name="hfs/gnn outcome").last.click()
    titles = page.locator("table").last.locator("tr").first.locator("th")
    column = 1 + titles.evaluate_all("titles => titles.findIndex(title => title.ariaSort)")
    outcomes = page.locator("table").last.locator(f"tbody tr td:nth-child({column})")
    assert outcomes.all_inner_texts() == ["–", "solved", "solved"]
    page.get_by_role("button", name="hfs/gnn outcome").last.click()
    assert outcomes.all_inner_texts() == ["solved", "solved", "–"]
