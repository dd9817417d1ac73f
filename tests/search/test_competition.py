"""The calling convention of planning competitions, and EPDDL problems on the other command lines."""

import json
import os
import re
import subprocess
import sys
from importlib.metadata import entry_points
from pathlib import Path

import pytest

from epigym.problem import load_problem
from epigym.reference.semantics import validate
from search import competition
from tests.helpers.epddl_problem import PLANS, PROBLEM, Files, write_problem

UNREACHABLE = PROBLEM.replace("(not ([Bob] (tail)))", "(not (tail))")


@pytest.fixture
def files(tmp_path: Path) -> Files:
    return write_problem(tmp_path)


def call(*words: object, **environment: str) -> tuple[int, str]:
    finished = subprocess.run(
        [sys.executable, "-m", *map(str, words)], env=os.environ | environment, capture_output=True, text=True
    )
    return finished.returncode, finished.stdout + finished.stderr


def test_a_plan_is_written_that_is_valid(files: Files, tmp_path: Path) -> None:
    code, output = call("search.competition", files.spec, tmp_path / "plan.json")
    assert (code, output.startswith("coin-1: plan of 2 actions")) == (0, True), output
    plan = json.loads((tmp_path / "plan.json").read_text())
    assert plan in PLANS
    assert validate(load_problem(str(files.spec)), plan).valid


def test_without_a_plan_there_is_no_file(files: Files, tmp_path: Path) -> None:
    files.problem.write_text(UNREACHABLE)
    (tmp_path / "plan.json").write_text('["old"]')
    code, output = call("search.competition", files.spec, tmp_path / "plan.json")
    assert (code, output.startswith("coin-1: unsolvable")) == (11, True), output
    assert re.search(r", confirmed: all \d+ e-states$", output), output
    assert not (tmp_path / "plan.json").exists()


def test_limits_come_from_the_environment(files: Files, tmp_path: Path) -> None:
    for limit in ({"EPIGYM_TIME_LIMIT": "0.001"}, {"EPIGYM_MEMORY_LIMIT": "1MiB"}):
        code, output = call("search.competition", files.spec, tmp_path / "plan.json", **limit)
        assert (code, "limit" in output) == (12, True), output
    assert not (tmp_path / "plan.json").exists()


@pytest.mark.parametrize(
    ("limit", "message"),
    [
        ({"EPIGYM_TIME_LIMIT": "soon"}, "EPIGYM_TIME_LIMIT='soon' is not a positive number of seconds"),
        ({"EPIGYM_TIME_LIMIT": "nan"}, "EPIGYM_TIME_LIMIT='nan' is not a positive number of seconds"),
        ({"EPIGYM_MEMORY_LIMIT": "much"}, "EPIGYM_MEMORY_LIMIT: 'much' is not an amount of memory"),
    ],
)
def test_limits_that_are_none(
    limit: dict[str, str], message: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, value in limit.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(SystemExit) as stop:
        competition.main(["spec.json", "plan.json"])
    assert stop.value.code == 64
    assert message in capsys.readouterr().err


def test_bad_input_is_one_line_and_leaves_an_old_plan_alone(files: Files, tmp_path: Path) -> None:
    (tmp_path / "plan.json").write_text("[]")
    files.problem.write_text(PROBLEM.replace("([Ann] (tail))", "([Ann] (tale))"))
    code, output = call("search.competition", files.spec, tmp_path / "plan.json")
    assert code == 65
    assert "coin-1.epddl:6:" in output
    assert "did you mean 'tail'" in output
    assert (tmp_path / "plan.json").read_text() == "[]"
    assert call("search.competition", "gone.json", tmp_path / "plan.json") == (
        66,
        "error: no such problem file: gone.json\n",
    )


def test_wrong_usage_and_help(capsys: pytest.CaptureFixture[str]) -> None:
    for words, code in ((["spec.json"], 64), (["--help"], 0)):
        with pytest.raises(SystemExit) as stop:
            competition.main(words)
        assert stop.value.code == code
    assert "EPIGYM_TIME_LIMIT" in capsys.readouterr().out


def test_the_command_is_installed() -> None:
    [script] = entry_points(group="console_scripts", name="epigym-plan")
    assert script.load() is competition.main


def test_solve_and_validate_take_epddl_files_and_specifications(files: Files, tmp_path: Path) -> None:
    folder = f"hydra.run.dir={tmp_path}/run"
    by_files = (f"problem={files.problem}", f"domain_file={files.domain}", f"libraries=[{files.library}]", folder)
    by_spec = (f"problem={files.spec}", folder)
    plan = tmp_path / "plan.json"
    for words in (by_files, by_spec):
        code, output = call("search.solve", *words, f"plan_file={plan}")
        assert code == 0, output
        assert json.loads(plan.read_text()) == PLANS[0]
        code, output = call("search.validate", *words, f"plan={plan}")
        assert (code, output) == (0, "valid: 2 actions reach the goal of coin-1\n")
        plan.unlink()
    code, output = call("search.validate", *by_spec, "plan=[lift_Ann,shout_Bob]")
    assert (code, "not valid: step 2: action 'shout_Bob' is not applicable" in output) == (1, True)


def test_a_plan_file_that_cannot_be_written_is_refused_before_anything_is_read(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as stop:
        competition.main(["gone.json", str(tmp_path)])
    assert (stop.value.code, capsys.readouterr().err) == (
        73,
        f"error: cannot write {tmp_path}: {tmp_path.name} is a folder\n",
    )
