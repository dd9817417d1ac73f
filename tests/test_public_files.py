"""The plug-in that leaves out the tests of public files where these are missing."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.helpers.benchmark_files import ROOT

TESTS = """
import pytest

def test_own(): pass

@pytest.mark.reference
@pytest.mark.parametrize("row", ["a", "b[c"])
def test_rows(row): pass

@pytest.mark.reference
@pytest.mark.parametrize("row", [])
def test_no_rows(row): pass

@pytest.mark.reference
@pytest.mark.slow
def test_slow(): pass
"""


@pytest.mark.parametrize(
    ("folder", "options", "passed", "line"),
    [
        (".", ["-n", "2"], 1, "2 test functions need public files, and {missing} is missing: set EPIGYM_SHARED to"),
        ("shared", [], 3, ""),
    ],
    ids=["missing", "present"],
)
def test_without_the_files_their_tests_are_counted_in_one_line(
    folder: str, options: list[str], passed: int, line: str, tmp_path: Path
) -> None:
    (tmp_path / "conftest.py").write_text('pytest_plugins = "tests.public_files"')
    (tmp_path / "test_files.py").write_text(TESTS)
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers =\n  slow\n  reference\n")
    (tmp_path / "shared" / "benchmarks").mkdir(parents=True)
    environment = {
        **os.environ, "PYTHONPATH": str(ROOT), "EPIGYM_SHARED": str(tmp_path / folder),
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
    }  # fmt: skip
    command = [sys.executable, "-m", "pytest", "-m", "not slow", "-p", "no:cacheprovider", "-p", "xdist", *options]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    found = [one for one in done.stdout.splitlines() if "need public files" in one]
    assert f"{passed} passed" in done.stdout, done.stdout
    assert [one.startswith(line.format(missing=tmp_path / "benchmarks")) for one in found] == [True] * bool(line)
    assert ("skipped" in done.stdout) == (folder == "shared")  # the test without rows
