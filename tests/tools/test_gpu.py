"""The program that measures a GPU: what it says without one, and all that it does, on the CPU."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.helpers.benchmark_files import ROOT

TINY = ("data.instances=2", "validation.problems=2", "validation.nodes=20", "trainer.max_epochs=2")


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
    said = run(tmp_path, "accelerator=cpu", "pieces=2", "steps=2", "largest=1024", "domain=[grapevine]", *TINY)
    [measured] = [line for line in said.splitlines() if line.startswith("│ measured")]
    cells = [cell.strip() for cell in measured.strip("│").split("│")]
    assert cells[1] == "trainer.accelerator=cpu"
    assert all(float(cell) > 0 for cell in cells[2:5])
    assert cells[5] == "1,024"
    assert "piece 2 of 2: validation score " in said
    for name in ("baseline", "measured", "general"):
        assert (tmp_path / "outputs" / "gpu" / name / "model.safetensors").is_file()
