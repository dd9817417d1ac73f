"""Plug-in of the tests: measures their CPU time, and says which functions, or that all together, take too much.

Nothing fails by it: the same tests take up to 1.5 times as long on another processor.
"""

import os
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

FUNCTION_LIMIT = 2.0
"""CPU seconds that the cases of a function without the mark `slow` may take together."""
SUITE_LIMIT = 450.0
"""CPU seconds that the tests without the mark `slow` may take together."""

_PROPERTY = "cpu_seconds"


def count_cpu_seconds(*, with_children: bool = True) -> float:
    """CPU seconds of this process, and of its child processes, also of those that have not ended (on Linux)."""
    if not with_children:
        return sum(os.times()[:2])
    living = 0.0
    for children in Path("/proc/self/task").glob("*/children"):
        with suppress(OSError):
            for number in children.read_text().split():
                with suppress(psutil.Error):
                    living += sum(psutil.Process(int(number)).cpu_times()[:4])
    return sum(os.times()[:4]) + living


class CpuTimes:
    """The CPU time of test functions: measured in each process that runs tests, added up in the one that reports.

    Args:
        count: counts CPU seconds as `count_cpu_seconds`.
    """

    def __init__(self, count: Callable[..., float] = count_cpu_seconds) -> None:
        self.total = 0.0
        self._count = count
        self._functions: Counter[str] = Counter()
        self._last = 0.0

    def list_expensive(self) -> list[tuple[str, float]]:
        """The functions above the limit, most expensive first, with their CPU seconds."""
        return [(name, seconds) for name, seconds in self._functions.most_common() if seconds > FUNCTION_LIMIT]

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self) -> Iterator[None]:
        self._last = self._count()
        return (yield)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self) -> Iterator[None]:
        report = yield
        start, self._last = self._last, self._count()
        report.user_properties = [*report.user_properties, (_PROPERTY, self._last - start)]
        return report

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if "slow" not in report.keywords:
            self._functions[report.nodeid.partition("[")[0]] += dict(report.user_properties).get(_PROPERTY, 0.0)

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: object) -> None:
        self.total += getattr(node, "workeroutput", {}).get(_PROPERTY, 0.0)

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        self.total += self._count(with_children=not self.total)  # workers have reported theirs
        if hasattr(session.config, "workeroutput"):
            session.config.workeroutput[_PROPERTY] = self.total

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
        for name, seconds in self.list_expensive():
            terminalreporter.write_line(
                f"{name} took {seconds:.1f} s of CPU, more than {FUNCTION_LIMIT:g}: should it be slow?"
            )
        terminalreporter.write_line(f"CPU time of the tests: {self.total:.1f} s")
        if config.option.markexpr == "not slow" and self.total > SUITE_LIMIT:
            terminalreporter.write_line(f"more than {SUITE_LIMIT:g} s of CPU: mark tests slow, or shorten them")


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(CpuTimes(), "cpu_times")
