"""Instructions of the core on four fixed workloads; run by hand: `pytest tests/benchmarks/test_instructions.py`.

Counted by callgrind while e-states are expanded, so that they depend on the compiler but not on what else the machine
does; printed beside those in `instructions.csv`, not asserted.
"""

import csv
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from tests.benchmarks.workloads import WORKLOADS

TABLE = Path(__file__).with_name("instructions.csv")
COUNTED = re.compile(r"Collected : (\d+)")


@pytest.mark.skipif(shutil.which("valgrind") is None, reason="callgrind counts, and is not here")
@pytest.mark.parametrize("name", WORKLOADS)
def test_instructions(name: str, benchmark: BenchmarkFixture, lines: list[str], tmp_path: Path) -> None:
    with TABLE.open(encoding="utf-8") as file:
        before = {row["workload"]: int(row["instructions"]) for row in csv.DictReader(file)}
    count = benchmark.extra_info["instructions"] = benchmark.pedantic(count_instructions, (name, tmp_path), rounds=1)
    lines.append(f"{name:20s} {count:14,d} instructions, {count / before[name]:.3f} times those of {TABLE.name}")


def count_instructions(name: str, folder: Path) -> int:
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
