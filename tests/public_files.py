"""Plug-in of the tests: without the public benchmark files, leaves out the tests that read them and counts these."""

import pytest

from tests.helpers.benchmark_files import BENCHMARKS

_COUNT = "tests_of_public_files"


class PublicFiles:
    """The test functions with the mark `reference` that are left out: counted in each process, shown in one line."""

    def __init__(self) -> None:
        self.left_out = 0

    @pytest.hookimpl(trylast=True)  # after those that the options deselect
    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        needing = [item for item in items if item.get_closest_marker("reference")]
        if needing:
            config.hook.pytest_deselected(items=needing)
            items[:] = [item for item in items if item not in needing]
        self.left_out = len({item.nodeid.partition("[")[0] for item in needing})

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if hasattr(session.config, "workeroutput"):
            session.config.workeroutput[_COUNT] = self.left_out

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: object) -> None:
        self.left_out = max(self.left_out, getattr(node, "workeroutput", {}).get(_COUNT, 0))

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        if self.left_out:
            terminalreporter.write_line(
                f"{self.left_out} test functions need public files, and {BENCHMARKS} is missing: set EPIGYM_SHARED to "
                "the folder that docs/measuring.md describes"
            )


def pytest_configure(config: pytest.Config) -> None:
    if not BENCHMARKS.is_dir():
        config.pluginmanager.register(PublicFiles(), "public_files")
