"""Instructions of the core on four fixed workloads; run by hand: `pytest tests/benchmarks/test_instructions.py`.

Counted by callgrind while e-states are expanded, so that they depend on the compiler but not on what else the machine
does; printed beside those in `instructions.csv`, not asserted.
"""

from __future__ import annotations

import csv
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from tests.benchmarks.figures import show
from tests.benchmarks.workloads import WORKLOADS

TABLE = Path(__file__).with_name("instructions.csv")
COUNTED = re.compile(r"Collected : (\d+)")


@pytest.fixture(scope="module")
def counts(pytestconfig: pytest.Config) -> Iterator[dict[str, int]]:
    found: dict[str, int] = {}
    yield found
    with TABLE.open(encoding="utf-8") as file:
        before = {row["workload"]: int(row["instructions"]) for row in csv.DictReader(file)}
    lines = [
        f"{name:20s} {count:14,d} instructions, {count / before[name]:.3f} times those of {TABLE.name}"
        for name, count in found.items()
    ]
    show(pytestconfig, "\n".join(["", *lines]))


@pytest.mark.skipif(shutil.which("valgrind") is None, reason="callgrind counts, and is not here")
@pytest.mark.parametrize("name", WORKLOADS)
def test_instructions(name: str, benchmark: BenchmarkFixture, counts: dict[str, int], tmp_path: Path) -> None:
    counts[name] = benchmark.pedantic(counted, (name, tmp_path), rounds=1)
    benchmark.extra_info["instructions"] = counts[name]
    assert counts[name] > 0


def counted(name: str, folder: Path) -> int:
    """Run a workload under callgrind."""
    command = [
        "valgrind",
        "--tool=callgrind",
        f"--callgrind-out-file={folder / 'callgrind.out'}",
        "--instr-atstart=no",
        *(sys.executable, "-m", "tests.benchmarks.workloads", name),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    found = COUNTED.search(done.stderr)
    assert found is not None, done.stderr
    return int(found[1])
