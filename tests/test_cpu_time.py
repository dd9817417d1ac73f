"""The plug-in that measures the tests: which functions it names, and when it says that all together take too much."""

import os
import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests import cpu_time
from tests.helpers.benchmark_files import ROOT

COUNTED = """
import pytest
from tests.cpu_time import CpuTimes

class Clock:
    seconds = 0.5  # of importing the tests

    def __call__(self, with_children=True):
        return self.seconds if with_children else 0.25  # of the process that reports

clock = Clock()

def pytest_configure(config):
    config.pluginmanager.register(CpuTimes(clock))

@pytest.fixture
def spend():
    def add(seconds):
        clock.seconds += seconds
    return add
"""
SPENT = """
import pytest

@pytest.mark.parametrize(("case", "seconds"), [("a", 1.0), ("b[c", 1.25)])
def test_cases(spend, case, seconds):
    spend(seconds)

def test_at_the_limit(spend):
    spend(2.0)

@pytest.fixture
def prepared(spend):
    spend(400.0)

def test_set_up(prepared): pass

@pytest.fixture
def cleaned(spend):
    yield
    spend(60.0)

def test_torn_down(cleaned): pass

@pytest.mark.slow
def test_slow(spend):
    spend(1000.0)
"""
MEASURED = """
from tests import cpu_time
cpu_time.FUNCTION_LIMIT = 1.0
pytest_plugins = "tests.cpu_time"
"""
WORK = """
import subprocess, sys, time
import pytest

CHILD = "import time\\nwhile time.process_time() < 3: pass\\nprint(1, flush=True)\\ninput()"

def start_child():
    child = subprocess.Popen([sys.executable, "-c", CHILD], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    child.stdout.read(1)
    return child

def test_child():
    start_child().communicate(b"1")

def test_child_that_outlives_the_tests():
    global child
    child = start_child()

@pytest.fixture
def prepared():
    end = time.process_time() + 3
    while time.process_time() < end:
        pass

def test_fixture(prepared): pass

def test_cheap(): pass
"""


def run(folder: Path, conftest: str, tests: str, *options: str) -> tuple[list[str], str]:
    """Run fast tests with a conftest; returns the functions that the report names and its last lines."""
    (folder / "conftest.py").write_text(conftest)
    (folder / "test_inner.py").write_text(tests)
    (folder / "pytest.ini").write_text("[pytest]\nmarkers = slow\n")
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-m", "not slow", *options]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    named = re.findall(r"^test_inner.py::(\w+) took .*: should it be slow\?$", done.stdout, flags=re.MULTILINE)
    return named, done.stdout[done.stdout.index("CPU time of the tests: ") :]


def test_expensive_functions_and_an_expensive_suite_are_named(tmp_path: Path) -> None:
    """Counted in a worker process, reported by the process that started it."""
    named, end = run(tmp_path, COUNTED, SPENT, "-p", "xdist", "-n", "1")
    assert named == ["test_set_up", "test_torn_down", "test_cases"]
    assert end.splitlines()[:2] == [
        "CPU time of the tests: 465.0 s",
        "more than 450 s of CPU: mark tests slow, or shorten them",
    ]


@pytest.mark.slow  # seconds of work, so that neither clock ticks nor starts of processes matter
def test_the_time_of_children_and_of_fixtures_counts(tmp_path: Path) -> None:
    before = cpu_time.count_cpu_seconds()
    named, end = run(tmp_path, MEASURED, WORK)
    spent = cpu_time.count_cpu_seconds() - before  # without the 3 s of the child that outlives its parent
    assert set(named) == {"test_child", "test_child_that_outlives_the_tests", "test_fixture"}
    assert 8 < float(end.split()[5]) < spent + 4


@pytest.mark.parametrize(
    ("total", "marks", "is_named"), [(451.0, "not slow", True), (449.0, "not slow", False), (451.0, "slow", False)]
)
def test_only_an_expensive_fast_set_is_named(total: float, marks: str, is_named: bool) -> None:
    lines: list[str] = []
    times = cpu_time.CpuTimes()
    times.total = total
    config = SimpleNamespace(option=SimpleNamespace(markexpr=marks))
    times.pytest_terminal_summary(SimpleNamespace(write_line=lines.append), config)
    summary, *named = lines
    assert summary == f"CPU time of the tests: {total} s"
    assert named == ["more than 450 s of CPU: mark tests slow, or shorten them"] * is_named
