"""The site of the documents: nothing in it leads nowhere, it names every page, and takes nothing from another host."""

import base64
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from html.parser import HTMLParser
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
import yaml
from PIL import Image, ImageStat

from search.agents import AGENTS
from search.heuristics import HEURISTICS
from tests.helpers.benchmark_files import ROOT
from tests.helpers.serving import in_thread
from tests.helpers.words import BROKEN

pytestmark = pytest.mark.slow

RESOURCES = {"script": "src", "link": "href", "img": "src", "source": "src", "iframe": "src", "object": "data"}
"""What a page loads by itself: the tags, and the attribute that says from where."""


class Loaded(HTMLParser):
    """The addresses from which a page loads something."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.addresses: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.addresses += [value or "" for name, value in attrs if RESOURCES.get(tag) == name]


def pages(nav: Any) -> Iterator[str]:
    """The pages that a part of the navigation names."""
    match nav:
        case str():
            yield nav
        case dict():
            for part in nav.values():
                yield from pages(part)
        case list():
            for part in nav:
                yield from pages(part)


def list_pages(site: Path) -> list[Path]:
    """The pages of a site but that of unknown addresses, which needs a server."""
    return sorted(path for path in site.rglob("*.html") if path.name != "404.html")


def build(*arguments: str) -> subprocess.CompletedProcess[str]:
    """As `make site` does."""
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    [command] = re.findall(r"^site: .+\n\tNO_MKDOCS_2_WARNING=1 \$\(BIN\)/python (.+)$", makefile, flags=re.MULTILINE)
    return subprocess.run(
        [sys.executable, *command.split(), *arguments],
        capture_output=True,
        text=True,
        cwd=ROOT,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
    )


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the site."""
    folder = tmp_path_factory.mktemp("site")
    built = build("--site-dir", str(folder))
    assert (built.returncode, built.stdout) == (0, "")
    assert [line for line in built.stderr.splitlines() if not line.startswith("INFO")] == []
    return folder


@pytest.fixture(scope="module")
def served(site: Path) -> Iterator[str]:
    """The address of the site on a server: searches need one."""
    handler = partial(QuietHandler, directory=str(site))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server, in_thread(server):
        yield f"http://127.0.0.1:{server.server_port}/"


class QuietHandler(SimpleHTTPRequestHandler):
    """Does not log."""

    def log_message(self, *_: object) -> None:
        """Nothing."""


def test_the_navigation_names_every_document_once() -> None:
    nav = yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))["nav"]
    found = [path.relative_to(ROOT / "docs") for kind in ("md", "ipynb") for path in (ROOT / "docs").rglob(f"*.{kind}")]
    assert sorted(pages(nav)) == sorted(str(path.with_suffix(".md")) for path in found)


def test_nothing_is_loaded_from_another_host(site: Path) -> None:
    texts = {path: path.read_text(encoding="utf-8") for path in site.rglob("*.html")}
    loaded = {address for text in texts.values() for address in Loaded(text).addresses}
    assert "pictures/coin_in_the_box_after_three_steps.svg" in loaded
    assert any(address.endswith(".js") for address in loaded)
    assert {address for address in loaded if re.match(r"(?:\w+:)?//", address)} == set()
    styles = [path.read_text(encoding="utf-8") for path in site.rglob("*.css")] + [*texts.values()]
    assert [found for one in styles for found in re.findall(r"(?:@import|url\()\s*[\"']?(?:https?:)?//\S+", one)] == []


def test_notebooks_are_pages_that_show_what_cells_print_and_draw(site: Path) -> None:
    page = (site / "notebooks" / "environment.html").read_text(encoding="utf-8")
    assert "<h1" in page
    assert "peek_b 4 worlds, goal: True" in page
    [picture] = re.findall(r'src="data:image/svg\+xml;base64,([^"]+)"', page)
    assert "looking_a" in base64.b64decode(picture).decode()
    assert 'href="notebooks/environment.html"' in (site / "index.html").read_text(encoding="utf-8")


def test_titles_and_neighbours(site: Path) -> None:
    index = (site / "index.html").read_text(encoding="utf-8")
    assert "<title>Multi-agent epistemic planning - epigym</title>" in index
    assert "md-footer__link--next" in index
    assert r"outputs/&lt;command" in (site / "reference" / "commands.html").read_text(encoding="utf-8")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
def test_pages_fit_the_width_and_the_colour_scheme(open_page: Any, served: str, width: int, scheme: str) -> None:
    """Code of 120 columns is seen whole where there is room; no page is wider than its window."""
    page = open_page(served, viewport={"width": width, "height": 900}, color_scheme=scheme)
    for name in (
        "index",
        "domains",
        "departures",
        "architecture",
        "results",
        "reference/search",
        "tutorials/train_and_use",
    ):
        page.goto(f"{served}{name}.html")
        assert page.evaluate("document.documentElement.scrollWidth") <= width, name
    assert page.locator(".md-footer-meta").is_hidden()
    ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (sum(map(int, re.findall(r"\d+", ground)[:3])) < 200) == (scheme == "dark")
    code = page.locator("pre > code").first
    code.evaluate("one => { one.textContent = 'x'.repeat(120); }")
    assert code.evaluate("one => one.scrollWidth <= one.clientWidth") == (width == 1280)


@pytest.mark.parametrize("width", [390, 1280])
def test_words_of_tables_and_headings_are_not_broken(open_page: Any, site: Path, width: int) -> None:
    page = open_page((site / "index.html").as_uri(), viewport={"width": width, "height": 900})
    for path in list_pages(site):
        page.goto(path.as_uri())
        assert page.evaluate(BROKEN, "td, th, h1, h2, h3, h4") == [], path.name


def test_pictures_are_dark_in_the_dark(open_page: Any, site: Path) -> None:
    """Their text is light then; pictures of pages stay as they are."""
    page = open_page((site / "index.html").as_uri(), viewport={"width": 1280, "height": 900}, color_scheme="dark")
    for path in list_pages(site):
        page.goto(path.as_uri())
        for image in page.locator(".md-content img:not([src$='_wide.png'])").all():
            grey = Image.open(BytesIO(image.screenshot())).convert("L")
            (low, high), [mean] = grey.getextrema(), ImageStat.Stat(grey).mean
            assert low < mean < 80 < 180 < high, image.get_attribute("src")


def test_pictures_are_legible_on_a_phone(open_page: Any, site: Path) -> None:
    """Their text is 14 pixels high in full size; they scroll, and fill the width of a wide page."""
    page = open_page((site / "domains.html").as_uri(), viewport={"width": 390, "height": 900})
    images = page.locator(".md-content img").all()
    assert len(images) > 10
    for image in images:
        width, full = image.evaluate("one => [one.getBoundingClientRect().width, one.naturalWidth]")
        assert width >= 0.69 * full
    page.set_viewport_size({"width": 1280, "height": 900})
    paragraphs = page.locator(".md-content p:has(> img)")
    assert paragraphs.evaluate_all("all => all.filter(one => one.scrollWidth > one.clientWidth).length") == 0


def test_the_reference_of_commands_has_no_raw_interpolations(site: Path) -> None:
    assert "${" not in (site / "reference" / "commands.html").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", ["index", "reference/commands"])
def test_pages_opened_from_files_can_be_searched(open_page: Any, site: Path, name: str) -> None:
    page = open_page((site / f"{name}.html").as_uri(), viewport={"width": 1280, "height": 900})
    assert page.locator(".md-search__form").is_visible()
    page.keyboard.press("s")
    page.keyboard.type("a network of your own")
    page.wait_for_function("document.querySelector('a[href*=\"?h=\"]')?.href.includes('own_network.html')")


@pytest.mark.parametrize("name", ["network", "agent", "heuristic"])
def test_the_search_finds_the_tutorial_first(open_page: Any, served: str, name: str) -> None:
    page = open_page(served, viewport={"width": 1280, "height": 900})
    page.keyboard.press("s")
    page.keyboard.type(f"a {name} of your own")
    page.wait_for_function(f"document.querySelector('a[href*=\"?h=\"]')?.href.includes('own_{name}.html')")


def test_what_a_page_loads_is_there(site: Path) -> None:
    missing = [
        (page.name, address)
        for page in list_pages(site)
        for address in Loaded(page.read_text(encoding="utf-8")).addresses
        if not address.startswith(("data:", "#")) and not page.parent.joinpath(address.partition("?")[0]).exists()
    ]
    assert missing == []


def test_lists_are_lists(site: Path) -> None:
    """Markdown takes those that follow a paragraph without an empty line for a part of it."""
    texts = {
        one.name: re.sub(r"<pre.*?</pre>", "", one.read_text("utf-8"), flags=re.DOTALL) for one in site.rglob("*.html")
    }
    paragraphs = [(name, one) for name, text in texts.items() for one in re.findall(r"<p>(.*?)</p>", text, re.DOTALL)]
    assert [(name, text) for name, text in paragraphs if "\n- " in text] == []


def test_the_tables_of_the_reference_name_every_agent_and_heuristic_with_a_file() -> None:
    """`gnn` and the like in the first column of a row."""
    page = (ROOT / "docs" / "reference" / "search.md").read_text(encoding="utf-8")
    rows = [row.split("|")[1] for row in page.splitlines() if row.startswith("| `")]
    names = re.findall(r"`(\w+)`", " ".join(rows))
    files = {path.stem for group in ("agent", "heuristic") for path in (ROOT / "conf" / group).glob("*.yaml")}
    assert len(names) == len(set(names))
    assert files <= set(names) <= {*AGENTS, *HEURISTICS}


def test_a_full_name_leads_to_the_reference(site: Path) -> None:
    page = (site / "reference" / "envs.html").read_text(encoding="utf-8")
    name = re.escape("epigym.envs.vector.EpistemicVectorEnv")
    assert re.search(rf'<a [^>]*href="#{name}"[^>]*><code>{name}</code>', page)
    assert "<autoref" not in page
