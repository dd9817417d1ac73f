"""What all tests share: plug-ins, the hypothesis profile and a browser."""

import gc
import logging
import shutil
import signal
import sys
import warnings
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, settings

pytest_plugins = ("tests.cpu_time", "tests.public_files")
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)

# Tests send Ctrl-C to what they start, which a shell lets its background jobs ignore, and these all that they start.
signal.signal(signal.SIGINT, signal.default_int_handler)

settings.register_profile(
    "ci", deadline=None, derandomize=True, print_blob=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("first", settings.get_profile("ci"), phases=(Phase.explicit, Phase.generate))  # not shrunk
settings.load_profile("ci")


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Chromium, driven by Playwright; the test is skipped where there is none."""
    playwright = pytest.importorskip("playwright.sync_api", reason="needs Playwright")
    with playwright.sync_playwright() as started:
        try:
            opened = started.chromium.launch(executable_path=CHROMIUM)
        except playwright.Error as error:
            pytest.skip(f"no browser: {str(error).splitlines()[0]}")
        yield opened
        opened.close()


@pytest.fixture
def open_page(browser: Any) -> Iterator[Any]:
    """Opens addresses; in the end no page has complained about anything, or asked another server than its own."""
    complaints: list[str] = []
    opened: list[Any] = []

    def start(address: str, **options: Any) -> Any:
        own = ("data:", "file:", address.partition("?")[0])
        page = browser.new_page(**options)
        page.set_default_timeout(60_000)
        page.on("console", lambda message: complaints.append(message.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("request", lambda request: complaints.extend([] if request.url.startswith(own) else [request.url]))
        page.goto(address)
        opened.append(page)
        return page

    yield start
    for page in opened:
        page.close()
    assert complaints == []


@pytest.fixture(autouse=True)
def restored(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """What commands that a test calls in this process change there is as it was."""
    for owner, name in ((sys, "argv"), (sys, "path"), (logging.root, "handlers")):
        monkeypatch.setattr(owner, name, getattr(owner, name)[:])
    monkeypatch.setattr(warnings, "formatwarning", warnings.formatwarning)
    monkeypatch.setenv("HYDRA_FULL_ERROR", "")
    signals = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    level = logging.root.level
    yield
    logging.root.setLevel(level)
    for number, handler in signals.items():
        signal.signal(number, handler)
    gc.unfreeze()
