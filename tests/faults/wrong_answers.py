"""No fault of the core gives a wrong answer: `tests.faults.run` runs this with a core that contains all."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from epigym.cli.codes import ExitCode
from epigym.io.files import read_plan
from epigym.reference import semantics as reference
from tests.faults.faults import CORE_FAULTS
from tests.helpers.tasks import COIN, coin


@pytest.mark.parametrize("name", CORE_FAULTS)
def test_no_fault_of_the_core_gives_a_wrong_answer(name: str, tmp_path: Path) -> None:
    """The reference shares no code with the core: plans that it accepts are right, and so are its proofs of no plan."""
    (tmp_path / "coin.txt").write_text(COIN)
    environment = {**os.environ, "EPI_FAULT": str(CORE_FAULTS.index(name) + 1)}
    command = [sys.executable, "-m", "search.solve", "problem=coin.txt", "agent=bfs", "plan_file=plan.json"]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    plan = tmp_path / "plan.json"
    assert done.returncode in (ExitCode.SUCCESS, ExitCode.FAILURE), done.stdout + done.stderr
    assert plan.exists() == (done.returncode == ExitCode.SUCCESS)
    assert not plan.exists() or reference.validate(coin(), read_plan(plan)).valid
