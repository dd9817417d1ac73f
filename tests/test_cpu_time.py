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

PLUGIN = """
from tests import cpu_time
cpu_time.FUNCTION_LIMIT, cpu_time.SUITE_LIMIT = 0.1, 0.3
pytest_plugins = "tests.cpu_time"
"""
BURN = """
import subprocess, sys, time
import pytest

def burn(seconds):
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass

@pytest.mark.parametrize("case", ["a", "b[c"])
def test_cases(case):
    burn(0.06)

WORK = [sys.executable, "-c", "import time\\nwhile time.process_time() < 0.15: pass\\nprint(1, flush=True)\\ninput()"]

def test_child():
    subprocess.run(WORK, input=b"1", check=True)

def test_living_child():
    global child  # ends after the tests
    child = subprocess.Popen(WORK, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    child.stdout.read(1)

@pytest.fixture
def prepared():
    burn(0.12)

def test_fixture(prepared): pass

def test_cheap(): pass

@pytest.mark.slow
def test_slow():
    burn(0.12)
"""


def test_expensive_functions_and_an_expensive_suite_are_named(tmp_path: Path) -> None:
    """Measured in a worker process, reported by the process that started it."""
    (tmp_path / "conftest.py").write_text(PLUGIN)
    (tmp_path / "test_burn.py").write_text(BURN)
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers = slow\n")
    before = cpu_time.count_cpu_seconds()
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-m", "not slow", "-p", "xdist", "-n", "1"]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    named = {line.split("::")[1].split()[0] for line in done.stdout.splitlines() if "should it be slow" in line}
    assert named == {"test_cases", "test_child", "test_living_child", "test_fixture"}
    [total] = re.findall(r"CPU time of the tests: ([\d.]+) s", done.stdout)
    spent = cpu_time.count_cpu_seconds() - before
    assert spent / 2 < float(total) < 1.5 * spent  # without what a child that outlives its parent took
    assert (done.returncode, "more than 0.3 s of CPU: mark" in done.stdout) == (0, True)


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
