"""The page of a report in a browser: widths, hints at what is beyond them, figures, and sorting by keys."""

import re
from base64 import b64decode
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from PIL import Image, ImageStat

from search.reports.writing import write_report
from tests.helpers.words import BROKEN
from tests.search.reports.test_page import outcomes

pytestmark = pytest.mark.slow

NARROW, WIDE = {"width": 390, "height": 844}, {"width": 1280, "height": 800}
SEEN = "box => [box.scrollWidth > box.clientWidth, getComputedStyle(box, '::after').content]"


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder: Path = tmp_path_factory.mktemp("report")
    write_report(folder, outcomes("hfs_star/goal_count"), title="Report of standard, 29 November 2026")
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


@pytest.mark.parametrize("size", [NARROW, WIDE], ids=["narrow", "wide"])
def test_headings_break_between_words(open_page: Any, address: str, size: dict[str, int]) -> None:
    page = open_page(address, viewport=size)
    assert page.evaluate(BROKEN, "h1, h2, th, figcaption") == []
    if size == WIDE:
        assert page.evaluate(BROKEN, "td") == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_figures_fill_the_page_and_have_its_colours(open_page: Any, address: str, scheme: str) -> None:
    page = open_page(address, viewport=WIDE, color_scheme=scheme)
    boxes = [figure.bounding_box() for figure in page.locator("figure").all()]
    assert len(boxes) == 6  # coverage, means, both cactus plots, ratios, one pair
    assert (min(box["x"] for box in boxes), max(box["x"] + box["width"] for box in boxes)) == (16, WIDE["width"] - 16)
    for image in page.locator("figure img").all():
        [grey] = ImageStat.Stat(Image.open(BytesIO(image.screenshot())).convert("L")).mean
        assert (grey > 128) == (scheme == "light")


def test_labels_of_figures_are_legible_on_a_phone(open_page: Any, address: str) -> None:
    """Matplotlib scales its glyphs, drawn at 100 units, by the size of the text in points."""
    page = open_page(address, viewport=NARROW)
    for image in page.locator("figure img").all():
        text = b64decode(image.get_attribute("src").partition("base64,")[2]).decode()
        [width] = re.findall(r'<svg [^>]*width="([\d.]+)pt"', text)
        sizes = [100 * float(scale) for scale in re.findall(r"scale\(([\d.]+) -", text)]
        assert min(sizes) * image.bounding_box()["width"] / float(width) >= 9.9


def test_a_table_that_is_too_high_says_so(open_page: Any, address: str) -> None:
    page = open_page(address, viewport=NARROW | {"height": 150})
    assert "down" in page.locator(".wide").last.get_attribute("data-hint")


def test_titles_sort_by_keys(open_page: Any, address: str) -> None:
    page = open_page(address, viewport=WIDE)
    page.get_by_role("button", name="hfs_star/goal_count expanded").last.focus()
    page.keyboard.press("Enter")
    assert page.locator("table").last.locator("tbody td:first-child").all_inner_texts() == ["x_y/1", "z/1", "x_y/2"]
    page.keyboard.press("Enter")
    assert page.locator("table").last.locator("tbody td:first-child").all_inner_texts() == ["z/1", "x_y/1", "x_y/2"]
    page.get_by_role("button", name="hfs_star/goal_count outcome").last.click()
    titles = page.locator("table").last.locator("thead tr").last.locator("th")
    column = 1 + titles.evaluate_all("titles => titles.findIndex(title => title.ariaSort)")
    outcomes = page.locator("table").last.locator(f"tbody tr td:nth-child({column})")
    assert outcomes.all_inner_texts() == ["–", "solved", "solved"]
    page.get_by_role("button", name="hfs_star/goal_count outcome").last.click()
    assert outcomes.all_inner_texts() == ["solved", "solved", "–"]
