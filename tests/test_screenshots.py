"""The pictures of pages in the documents show the pages of today; `python -m tests.tools.screenshots` takes them."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from tests.helpers.benchmark_files import ROOT
from tests.tools.screenshots import HEIGHTS, PICTURES, WIDTH, open_addresses, read_text


@pytest.fixture(scope="module")
def addresses(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    with open_addresses(tmp_path_factory.mktemp("pages")) as found:
        yield found


@pytest.mark.slow
@pytest.mark.parametrize("name", HEIGHTS)
def test_a_picture_has_the_text_of_its_page(open_page: Any, addresses: dict[str, str], name: str) -> None:
    with Image.open(PICTURES / f"{name}.png") as picture:
        assert picture.size == (WIDTH, HEIGHTS[name])
        shown = picture.text["text"]  # type: ignore[attr-defined]
    page = open_page(addresses[name], viewport={"width": WIDTH, "height": HEIGHTS[name]})
    assert read_text(page) == shown, "take the pictures anew: python -m tests.tools.screenshots"


def test_every_picture_is_in_a_document() -> None:
    pages = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md"), *(ROOT / "docs").rglob("*.ipynb")]
    shown = {name for page in pages for name in re.findall(r"pictures/([\w.]+)", page.read_text(encoding="utf-8"))}
    assert {path.name for path in Path(PICTURES).iterdir()} == shown
    assert {name for name in shown if name.endswith(".png")} == {f"{name}.png" for name in HEIGHTS}
