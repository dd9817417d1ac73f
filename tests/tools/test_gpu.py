"""The program that measures a GPU: what it says without one, and all that it does, on the CPU."""

import csv
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.helpers.benchmark_files import ROOT

TINY = ("domain=[grapevine]", "trainer.max_steps=4", "minutes=1", "repeats=2")


def run(folder: Path, *arguments: str) -> str:
    command = [sys.executable, "-m", "tests.benchmarks.gpu", *arguments]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "CUDA_VISIBLE_DEVICES": "", "COLUMNS": "200"}
    return subprocess.run(command, cwd=folder, env=environment, check=True, capture_output=True, text=True).stdout


@pytest.mark.slow
def test_without_a_gpu_nothing_is_measured(tmp_path: Path) -> None:
    said = run(tmp_path)
    assert said.startswith("nothing was measured: PyTorch finds no GPU")
    assert (said.count("\n"), list(tmp_path.iterdir())) == (1, [])


@pytest.mark.slow
def test_the_whole_program_runs_on_the_cpu(tmp_path: Path) -> None:
    said = run(tmp_path, "accelerator=cpu", *TINY)
    folder = tmp_path / "outputs" / "gpu"
    with (folder / "batches.csv").open(newline="") as file:
        scored = list(csv.DictReader(file))
    assert [row["batch"] for row in scored] == ["1", "8", "16", "32", "64", "128", "256", "512"]
    assert all(float(value) > 0 for row in scored for value in row.values())
    assert float(scored[1]["projected"]) == 1.3413
    assert (folder / "batches.svg").stat().st_size > 0
    trained = [line.strip("│").split("│") for line in said.splitlines() if line.startswith("│ cpu")]
    assert len(trained) == 2
    assert all(float(cell) > 0 for cells in trained for cell in cells[1:4])
    assert "a general network of width 64" in said
    for name in ("baseline", "measured", "general"):
        assert (folder / name / "model.safetensors").is_file()
