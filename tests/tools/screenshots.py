"""Take the pictures of pages in the documents anew, in Chromium.

python -m tests.tools.screenshots             writes docs/pictures/*.png, each with the text of its page
"""

from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from PIL import Image
from PIL.PngImagePlugin import PngInfo

from epigym.drawing.page import write_page
from epigym.problem import load_problem
from epigym.space.space import StateSpace
from search.agents.limits import Limits
from search.exploring.app import make_app
from search.exploring.exploration import Exploration
from search.exploring.server import find_address, serve
from search.heuristics import make_heuristic
from search.planning.configuration import Configuration
from search.reports.outcomes import SearchOutcomes
from search.reports.published import read_published
from search.reports.writing import write_report
from tests.conftest import CHROMIUM
from tests.helpers.benchmark_files import ROOT
from tests.helpers.serving import in_thread

PICTURES = ROOT / "docs" / "pictures"
PROBLEM, STEP = "coin_in_the_box/pl_7", 3
PLAN = ["open_a", "signal_a_c", "peek_a", "shout_tail_a", "signal_a_b", "distract_b_a", "shout_tail_c"]
HEIGHTS = {"explore_wide": 800, "page_wide": 800, "report": 1400}
WIDTH = 1280


@contextmanager
def open_addresses(folder: Path) -> Iterator[dict[str, str]]:
    """The addresses of the pages by the names of their pictures."""
    space = StateSpace(load_problem(PROBLEM))
    write_page(space, PLAN, folder / "plan.html")
    found: dict[str, Any] = {}
    for outcome in read_published(["standard"]):
        found.setdefault(outcome.configuration, {})[outcome.problem] = outcome
    pairs, measures = [sorted(found)], ["coverage", "expanded", "time", "length"]
    write_report(folder, SearchOutcomes(found), None, pairs, measures)
    exploration = Exploration(space, make_heuristic("h_ff", space))
    app = make_app(exploration, Configuration.of("interleaved"), Limits(time_limit=60.0))
    with serve(app, "127.0.0.1", 0) as server, in_thread(server):
        yield {
            "explore_wide": f"{find_address(server)}?after={','.join(PLAN[:STEP])}",
            "page_wide": f"{(folder / 'plan.html').as_uri()}#step={STEP}",
            "report": (folder / "report.html").as_uri(),
        }


def read_text(page: Any) -> str:
    """The text of a page once it is complete."""
    page.wait_for_selector("#actions:empty", state="detached")
    return str(page.inner_text("body"))


def main() -> None:
    """Write the pictures."""
    from playwright.sync_api import sync_playwright

    with TemporaryDirectory() as folder, open_addresses(Path(folder)) as addresses, sync_playwright() as started:
        browser = started.chromium.launch(executable_path=CHROMIUM)
        for name, address in addresses.items():
            page = browser.new_page(viewport={"width": WIDTH, "height": HEIGHTS[name]}, color_scheme="light")
            page.goto(address)
            about = PngInfo()
            about.add_itxt("text", read_text(page), zip=True)
            picture = Image.open(BytesIO(page.screenshot())).convert("RGB").quantize(colors=128)
            picture.save(PICTURES / f"{name}.png", pnginfo=about, optimize=True)
        browser.close()


if __name__ == "__main__":
    main()
