"""The command lines and the calling convention of planning competitions: outputs, files and exit codes."""

import json
import os
import re
import subprocess
import sys
from dataclasses import dataclass
from importlib.metadata import entry_points
from pathlib import Path

import pytest

from epigym.cli.codes import ExitCode
from epigym.errors import UsageError
from epigym.problem import load_problem
from epigym.reference.semantics import validate
from search import competition
from search.agents.result import SearchResult, SearchStatus
from search.solve import Solve, solve
from search.validate import Validate, check
from tests.helpers.commands import compose
from tests.helpers.epddl_problem import PLANS, PROBLEM, Files, write_problem
from tests.helpers.marks import slow_but
from tests.helpers.tasks import COIN, COUNTER, DELUDED

SHOUT = "executable shout if B(a, tail), tail"


@dataclass
class Call:
    """A command that runs in a folder of its own."""

    folder: Path
    module: str
    arguments: tuple[str, ...]

    def __post_init__(self) -> None:
        self.folder.mkdir()
        command = [sys.executable, "-m", self.module, *self.arguments]
        self.process = subprocess.Popen(
            command, cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )

    def outcome(self) -> tuple[int, str]:
        output, _ = self.process.communicate()
        return self.process.returncode, output

    def result(self) -> SearchResult:
        return SearchResult.from_dict(json.loads((self.folder / "run" / "result.json").read_text()))

    def compared(self) -> list[SearchResult]:
        return [SearchResult.from_dict(one) for one in json.loads((self.folder / "run" / "compare.json").read_text())]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("commands")
    (folder / "coin.txt").write_text(COIN)
    (folder / "hopeless.txt").write_text(COIN.replace(SHOUT, "executable shout if tail, -tail"))
    (folder / "wrong.txt").write_text(COIN.replace("goal B(b, tail)", "goal B(b, tale)"))
    (folder / "deluded.txt").write_text(DELUDED)
    (folder / "done.txt").write_text(COUNTER.replace("goal r; goal -p;", "goal -p;"))
    (folder / "short.json").write_text('["lift", "look"]')
    (folder / "early.json").write_text('["lift", "shout"]')
    return folder


@pytest.fixture(scope="module")
def solved(folder: Path) -> Call:
    arguments = (
        "problem=../coin.txt",
        "agent=hfs_star",
        "heuristic=goal_count",
        "compare=[bfs,hfs/h_ff]",
        "plan_file=p.json",
        "run_dir=run",
    )
    return Call(folder / "solved", "search.solve", arguments)


def test_solve_prints_and_writes_all_results_and_the_plan(solved: Call) -> None:
    code, output = solved.outcome()
    assert code == 0, output
    for text in ("hfs_star/goal_count", "bfs", "expanded nodes", "1. lift", "2. look", "3. shout"):
        assert text in output
    assert json.loads((solved.folder / "p.json").read_text()) == ["lift", "look", "shout"]
    result, (other, relaxed) = solved.result(), solved.compared()
    assert (result.status, result.label, result.plan_length) == (SearchStatus.SOLVED, "hfs_star/goal_count", 3)
    assert (other.status, other.label, other.plan_length) == (SearchStatus.SOLVED, "bfs", 3)
    assert (relaxed.status, relaxed.label) == (SearchStatus.SOLVED, "hfs/h_ff")
    assert result.costs.peak_bytes > 0


def test_results_are_written_before_they_are_shown(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise BrokenPipeError

    monkeypatch.setattr("search.reports.display.show_results", fail)
    words = (f"problem={folder}/coin.txt", "agent=bfs", "compare=dfs", f"run_dir={tmp_path}")
    with pytest.raises(BrokenPipeError):
        solve(compose(Solve, "solve", *words))
    assert json.loads((tmp_path / "result.json").read_text())["status"] == "solved"
    assert len(json.loads((tmp_path / "compare.json").read_text())) == 1


def test_an_empty_plan_is_said_in_words(folder: Path) -> None:
    code, output = Call(folder / "done", "search.solve", ("problem=../done.txt", "agent=bfs")).outcome()
    assert code == 0
    assert "the goal holds at once: the plan is empty\n" in output
    assert "0 actions" not in output


def test_a_heuristic_that_nobody_asks_is_a_warning(folder: Path) -> None:
    blind = ("problem=../coin.txt", "agent=bfs", "heuristic=h_ff", "compare=dfs/h_add")
    informed = ("problem=../coin.txt", "agent=hfs", "heuristic=h_ff", "compare=bfs")
    calls = [Call(folder / "blind", "search.solve", blind), Call(folder / "informed", "search.solve", informed)]
    (code, output), (_, other) = (call.outcome() for call in calls)
    assert code == 0
    for agent in ("bfs", "dfs"):
        assert f"warning: agent '{agent}' takes no heuristic: leave it out\n" in output
    assert "warning" not in other


@pytest.mark.slow
def test_validate_says_whether_where_and_why(folder: Path, solved: Call) -> None:
    solved.process.wait()
    calls = {
        plan: Call(folder / name, "search.validate", ("problem=../coin.txt", f"plan={plan}"))
        for name, plan in {
            "v1": "../solved/p.json",
            "v2": "../early.json",
            "v3": "../short.json",
            "v4": "[lift,lok]",
        }.items()
    }
    outcomes = {plan: call.outcome() for plan, call in calls.items()}
    assert outcomes["../solved/p.json"] == (0, "valid: 3 actions reach the goal of coin\n")
    code, output = outcomes["../early.json"]
    assert (code, "not valid: step 2: action 'shout' is not applicable" in output) == (1, True)
    code, output = outcomes["../short.json"]
    assert (code, "these subgoals do not hold" in output) == (1, True)
    code, output = outcomes["[lift,lok]"]
    assert (code, "not valid: step 2: " in output and "did you mean 'look'?" in output) == (1, True)


def test_an_empty_text_is_no_plan_to_validate(folder: Path) -> None:
    done = f"problem={folder}/done.txt"
    assert check(compose(Validate, "validate", done, "plan=[]")) is ExitCode.SUCCESS
    with pytest.raises(UsageError, match="plan: expected a plan, or else a policy"):
        check(compose(Validate, "validate", done, "plan="))


@pytest.mark.slow
def test_plans_with_consistent_beliefs_are_another_question(folder: Path) -> None:
    flip, problem, forbid = "plan=[flip,shout]", "problem=../deluded.txt", "consistent_beliefs=true"
    calls = {
        "free": Call(folder / "f1", "search.solve", (problem, "agent=bfs", "run_dir=run")),
        "forbidden": Call(
            folder / "f2", "search.solve", (problem, "agent=bfs", "compare=interleaved", forbid, "run_dir=run")
        ),
        "valid": Call(folder / "f3", "search.validate", (problem, flip)),
        "not valid": Call(folder / "f4", "search.validate", (problem, flip, forbid)),
    }
    outcomes = {name: call.outcome() for name, call in calls.items()}
    code, output = outcomes["free"]
    assert code == 0
    assert 0 < output.index("inconsistent beliefs of these agents at its end: b") < output.index("  1. flip")
    code, output = outcomes["forbidden"]
    assert (code, output.count("unsolvable (with"), output.count("consistent beliefs)")) == (11, 2, 2), output
    assert calls["forbidden"].result().consistent_beliefs
    assert not calls["free"].result().consistent_beliefs
    assert outcomes["valid"] == (
        0,
        "valid: 2 actions reach the goal of deluded\nnote: it relies on inconsistent beliefs of b\n",
    )
    reason = "agent 'b' believes everything after action 'shout', which consistent_beliefs=true rules out"
    assert outcomes["not valid"] == (1, f"not valid: step 2: {reason}\n")


def test_exit_codes_say_how_a_search_ended(folder: Path) -> None:
    calls = [
        Call(folder / "c1", "search.solve", ("problem=../hopeless.txt", "agent=bfs")),
        Call(folder / "c2", "search.solve", ("problem=../coin.txt", "compare=bfs", "max_expanded=3")),
        Call(folder / "c3", "search.solve", ("problem=../wrong.txt",)),
    ]
    codes, texts = zip(*(call.outcome() for call in calls), strict=True)
    assert codes == (11, 12, 65)
    assert "wrong.txt:" in texts[2]
    assert "tale" in texts[2]


@pytest.mark.slow
def test_exit_codes_of_wrong_settings_and_of_sweeps(folder: Path) -> None:
    calls = [
        Call(folder / "c4", "search.solve", ("problem=../coin.txt", "agnet=bfs")),
        Call(folder / "c5", "search.solve", ()),
        Call(folder / "c6", "search.solve", ("-m", "agent=bfs", "problem=../hopeless.txt,../coin.txt")),
    ]
    assert [call.outcome()[0] for call in calls] == [64, 64, 0]
    assert len(list((folder / "c6").glob("outputs/solve/*/*/result.json"))) == 2


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
    for limit in ({"EPIGYM_TIME_LIMIT": "1e-6"}, {"EPIGYM_MEMORY_LIMIT": "1MiB"}):
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
def test_wrong_limits(
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


def test_usage_and_installation(capsys: pytest.CaptureFixture[str]) -> None:
    for words, code in ((["spec.json"], 64), (["--help"], 0)):
        with pytest.raises(SystemExit) as stop:
            competition.main(words)
        assert stop.value.code == code
    assert "EPIGYM_TIME_LIMIT" in capsys.readouterr().out
    [script] = entry_points(group="console_scripts", name="epigym-plan")
    assert script.load() is competition.main


@pytest.mark.parametrize("named", slow_but(["files", "specification"], "files"))
def test_solve_and_validate_take_epddl_files_and_specifications(named: str, files: Files, tmp_path: Path) -> None:
    by_files = (f"problem={files.problem}", f"domain_file={files.domain}", f"libraries=[{files.library}]")
    words = (*(by_files if named == "files" else (f"problem={files.spec}",)), f"hydra.run.dir={tmp_path}/run")
    plan = tmp_path / "plan.json"
    code, output = call("search.solve", *words, f"plan_file={plan}")
    assert code == 0, output
    assert json.loads(plan.read_text()) == PLANS[0]
    code, output = call("search.validate", *words, f"plan={plan}")
    assert (code, output) == (0, "valid: 2 actions reach the goal of coin-1\n")
    code, output = call("search.validate", *words, "plan=[lift_Ann,shout_Bob]")
    assert (code, "not valid: step 2: action 'shout_Bob' is not applicable" in output) == (1, True)


def test_an_unwritable_plan_file_is_refused_first(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        competition.main(["gone.json", str(tmp_path)])
    assert (stop.value.code, capsys.readouterr().err) == (
        73,
        f"error: cannot write {tmp_path}: {tmp_path.name} is a folder\n",
    )
