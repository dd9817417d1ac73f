"""Ordinary tests detect each deliberate fault of the core; validation detects wrong plans at run time."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from epigym.cli.codes import ExitCode
from epigym.io.files import read_plan
from epigym.reference import semantics as reference
from search.agents.result import SearchStatus
from search.agents.run import SearchRun
from search.planning.configuration import Configuration
from search.planning.plan_files import make_unverified_path
from search.planning.planner import find_plan
from tests.faults.faults import FAULTS, build, find_stale
from tests.helpers.benchmark_files import ROOT
from tests.helpers.tasks import COIN, coin

NUMBERS = {name: number for number, name in enumerate(FAULTS, start=1)}


@pytest.fixture(scope="module")
def core(tmp_path_factory: pytest.TempPathFactory, pytestconfig: pytest.Config) -> Path:
    if not pytestconfig.getoption("full"):
        pytest.skip("builds a core: --full")
    return build(tmp_path_factory.mktemp("faults"))


def outcome(core: Path, number: int, test: str) -> tuple[int, str]:
    """Run an ordinary test with a fault, given by its number; returns the exit code and the output."""
    environment = {**os.environ, "EPI_CORE": str(core), "EPI_FAULT": str(number), "OMP_NUM_THREADS": "1"}
    plugins = ("tests.tools.other_core", "no:cacheprovider")
    options = [option for plugin in plugins for option in ("-p", plugin)]
    command = [sys.executable, "-m", "pytest", "-qx", "-m", "not slow", "--hypothesis-profile=first", *options, test]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout


def test_every_fault_names_an_existing_test_and_place() -> None:
    assert find_stale() == []


@pytest.mark.parametrize("name", FAULTS)
def test_each_fault_of_the_core_is_detected(core: Path, name: str) -> None:
    code, output = outcome(core, NUMBERS[name], FAULTS[name].test)
    assert (code, "failed" in output) == (1, True), output


@pytest.mark.parametrize("test", sorted({fault.test for fault in FAULTS.values()}))
def test_without_a_fault_the_same_tests_pass(core: Path, test: str) -> None:
    code, output = outcome(core, 0, test)
    assert (code, "passed" in output) == (0, True), output


SOLVES = """
import tests.tools.other_core
import sys
from search.solve import main
sys.argv = ["solve", "problem=coin.txt", "agent=bfs", "plan_file=plan.json"]
main()
"""


@pytest.mark.parametrize("name", FAULTS)
def test_no_fault_of_the_core_gives_a_wrong_answer(core: Path, name: str, tmp_path: Path) -> None:
    """The reference shares no code with the core: plans that it accepts are right, and so are its proofs of no plan."""
    (tmp_path / "coin.txt").write_text(COIN)
    environment = {**os.environ, "EPI_CORE": str(core), "EPI_FAULT": str(NUMBERS[name]), "PYTHONPATH": str(ROOT)}
    environment["OMP_NUM_THREADS"] = "1"
    command = [sys.executable, "-c", SOLVES]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    plan = tmp_path / "plan.json"
    print(name, done.returncode, done.stderr.strip())
    assert done.returncode in (ExitCode.SUCCESS, ExitCode.FAILURE), done.stdout + done.stderr
    assert plan.exists() == (done.returncode == ExitCode.SUCCESS)
    assert not plan.exists() or reference.validate(coin(), read_plan(plan)).valid


WRONG: dict[str, Callable[[tuple[str, ...]], tuple[str, ...]]] = {
    "without the first action": lambda plan: plan[1:],
    "without the last action": lambda plan: plan[:-1],
    "reversed": lambda plan: plan[::-1],
    "another action": lambda plan: (*plan[:-1], "look"),
    "an unknown action": lambda plan: (*plan, "fly"),
    "nothing": lambda plan: (),
}


@pytest.mark.parametrize("configuration", ["bfs", "dfs", "hfs/goal_count", "lazy/h_ff", "bfws/goal_count"])
@pytest.mark.parametrize("wrong", WRONG)
def test_wrong_plans(wrong: str, configuration: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    extract = SearchRun.plan
    monkeypatch.setattr(SearchRun, "plan", lambda run: (plan := extract(run)) and WRONG[wrong](plan))
    file = tmp_path / "plan.json"
    result = find_plan(coin(), Configuration.parse(configuration), plan_file=file)
    assert result.status is SearchStatus.ERROR
    assert "returned a plan that is not valid" in result.message
    assert not file.exists()
    assert make_unverified_path(file).exists()
