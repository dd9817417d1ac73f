"""The command runner: what is wrong is one line and an exit code, before any work is done."""

import errno
import logging
import re
import shlex
import signal
import subprocess
import sys
import tomllib
from collections.abc import Callable
from dataclasses import replace
from importlib import import_module
from importlib.machinery import PathFinder
from pathlib import Path
from unittest.mock import patch

import pytest
from hydra._internal.hydra import Hydra

import epigym
from domains import DOMAINS
from epigym.__main__ import main
from epigym.cli.codes import ExitCode, line
from epigym.cli.help import explain_interpolations, format_help, list_commands
from epigym.cli.logs import RunLog
from epigym.cli.runner import run
from epigym.cli.settings import Settings, TaskSettings
from epigym.config.packages import PLACE, check_place
from epigym.config.values import hints_of
from epigym.errors import EpigymError, MissingError
from search.solve import Solve
from tests.helpers.commands import settings_of
from tests.helpers.marks import slow_but
from tests.helpers.tasks import COIN

COMMANDS = [name for package in ("learn", "search") for name in list_commands(package) if name != "search.competition"]
COMMANDS += ["epigym.cli.show", "epigym.cli.convert"]
Outcome = tuple[int, str, str]
Call = Callable[..., Outcome]


@pytest.fixture
def call(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Call:
    """Runs a command in this process and in a folder of its own: its exit code, output and errors."""
    (tmp_path / "coin.txt").write_text(COIN)
    monkeypatch.chdir(tmp_path)

    def start(name: str, *arguments: str) -> Outcome:
        code = main([name, *arguments])
        output, errors = capfd.readouterr()
        return code, output, errors

    return start


def test_a_full_disk_is_one_line(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(path: Path, *arguments: object, **options: object) -> int:
        raise OSError(errno.ENOSPC, "No space left on device", str(path))

    monkeypatch.setattr(Path, "write_text", full)
    code, _, errors = call("solve", "problem=coin.txt", "agent=bfs", "run_dir=out")
    assert (code, errors.count("\n")) == (ExitCode.CANNOT_WRITE, 1)
    assert errors.startswith("error: cannot write out/")
    assert "No space left on device" in errors


@pytest.mark.parametrize("command", slow_but(COMMANDS, *sorted(COMMANDS)[::2]))
def test_a_refused_command_leaves_no_folder(call: Call, tmp_path: Path, command: str) -> None:
    code, _, errors = call(command.rpartition(".")[2], "debug=7")  # by the settings, after Hydra has composed them
    assert (code, errors.count("\n")) == (ExitCode.USAGE, 1)
    assert [path.name for path in tmp_path.iterdir()] == ["coin.txt"]


@pytest.mark.parametrize(
    ("line", "message"),
    {
        "solve": "problem is not given: add problem=…",
        "slove": "unknown command 'slove': did you mean 'solve'?",
        "show coin.txt plan=[fly]": "plan, step 1: unknown action 'fly'",
        "show grapevine plank_compat=true": "plank_compat do not apply to it",
        "convert gossip out=a.json consistent_beliefs=true": "consistent_beliefs=true: a file does not tell it",
        "solve coin.txt --config-name": "--config-name has no value: give --config-name NAME",
        "solve coin.txt --config-dir": "--config-dir has no value: give --config-dir FOLDER",
        "solve coin.txt --config-dir gone": "--config-dir gone: there is no such folder",
        "solve coin.txt --config-path coin": "--config-path coin: expected the full path of a folder",
        "solve coin.txt --config-name gone": "--config-name gone: there is no gone.yaml in conf: leave the option out",
        "solve --experimental-rerun gone": "--experimental-rerun gone: there is no such file",
        "solve --problem coin.txt": "unknown option '--problem': a setting has no dashes: give problem=coin.txt",
        "solve coin.txt -agent=bfs": "unknown option '-agent=bfs': a setting has no dashes: give agent=bfs",
        "evaluate --time-limit problems=a": "'--time-limit': a setting has no dashes: give time_limit=…",
        "train --experiment paper": "'--experiment': a setting has no dashes: give experiment=paper",
        "show grapevine --agents 4": "'--agents': a setting has no dashes: give agents=4",
        "solve coin.txt --mutlirun": "unknown option '--mutlirun': did you mean '--multirun'",
        "solve coin.txt --resolve": "--resolve is an option of showing a configuration: add --cfg job",
        "solve coin.txt policy_file=a.json": "policy_file=a.json: there is no policy to write",
        "solve coin.txt ~agnet": "unknown setting 'agnet': did you mean 'agent'?",
        "solve coin.txt max_expanded=${gone}": "max_expanded: ",
        "solve coin.txt [=1": "cannot be read as name=value",
        "evaluate agents={name:bfs}": "agents: a list is replaced by a list only",
        "convert ./coin.txt out=coin.txt": "out=coin.txt is the file of problem= and would be replaced: name another",
        "solve coin.txt policy=strong policy_file=p.xml": "p.xml: the name of a policy ends in .json, .html, .dot",
        "export model=coin.txt path=x.txt": "path=x.txt: the name of an ONNX file ends in .onnx",
        "evaluate problems=coin.txt domain=gossip": "domain=gossip: problems= names all that is searched",
        "solve coin.txt compare=dfs,bfs,dfs": "compare=dfs: it is named already: leave one out",
        "solve coin.txt time_limit=0": "time_limit=0: expected more than 0",
    }.items(),
)
def test_a_wrong_line_is_answered_in_one_and_leaves_nothing(call: Call, line: str, message: str) -> None:
    code, _, errors = call(*shlex.split(line))
    assert (code >= ExitCode.USAGE, errors.count("error: "), errors.count("\n")) == (True, 1, 1)
    assert message in errors
    assert [path.name for path in Path().iterdir()] == ["coin.txt"]


@pytest.mark.parametrize(
    ("line", "message"),
    {
        "solve coin.txt compare=[bfs, dfs]": "split a setting at its blanks: quote it as 'compare=[bfs, dfs]'",
        "train callbacks=[{_target_: m.C, every: 1}]": "quote it as 'callbacks=[{_target_: m.C, every: 1}]'",
        "train lr=0.1": "unknown setting 'lr': did you mean 'model.optimizer.lr'?",
        "train max_epochs=4": "did you mean 'trainer.max_epochs'?",
        "train callbacks=mine.C": "a class of yours is given as +callbacks.mine._target_=mine.C",
        "train domain=all without=all": "all is no domain: domain=all stands alone, and without= names domains",
        "solve coin.txt heuristic=mine.H": "a class of yours is given as heuristic._target_=mine.H",
        "solve coin.txt agent.weight=5": "it belongs to agent=wa_star: choose that, too",
        "solve coin.txt agent=wa_star agent.weigt=5": "unknown setting 'agent.weigt': did you mean 'agent.weight'",
        "solve coin.txt agent=BFS": "unknown agent 'BFS': did you mean 'bfs'?",
        "rollouts domain=gossip data.instances=2": "'data.instances': it belongs to data=sampled: choose that, too",
        "export out=x.onnx": "unknown setting 'out': did you mean 'path'?",
        "solve coin.txt agnet=bfs": "file and has no parameters: unknown setting 'agnet': did you mean 'agent'",
        "solve grapevine agnets=3": "unknown setting 'agnets': did you mean 'agents' or 'agent'?",
        "solve grapevine weight=5": "unknown setting 'weight': did you mean 'agent.weight' with agent=wa_star?",
        "validate grapvine agents=3 plan=a": "unknown domain 'grapvine': did you mean 'grapevine'?",
    }.items(),
)
def test_a_setting_in_another_place_or_form_is_suggested(call: Call, line: str, message: str) -> None:
    test_a_wrong_line_is_answered_in_one_and_leaves_nothing(call, line, message)


def test_commands_of_one_problem_take_parameters_of_a_domain(call: Call) -> None:
    assert call("solve", "gossip", "agents=3", "agent=bfs", "plan_file=plan.json")[0] == ExitCode.SUCCESS
    assert call("validate", "gossip", "agents=3", "plan=plan.json")[0] == ExitCode.SUCCESS
    assert call("validate", "gossip", "parameters.agents=4", "plan=plan.json")[0] == ExitCode.INVALID_PLAN
    code, output, _ = call("explain", "coin_in_the_box", "agents=4", "after=[open_a]", "top=0")
    assert (code, output.splitlines()[0].split(" by ")[0]) == (ExitCode.SUCCESS, "coin_in_the_box after open_a,")
    assert {kind for kind in map(settings_of, COMMANDS) if "problem" in hints_of(kind) and hints_of(kind)["problem"]
            is str} == {kind for kind in map(settings_of, COMMANDS) if issubclass(kind, TaskSettings)}  # fmt: skip


def test_a_setting_of_a_command_wins_over_a_parameter(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    own = replace(DOMAINS["grapevine"], problem=lambda *, top=0, **_: f"{'%' * top}\n{COIN}", base=None)
    monkeypatch.setattr("domains.registry._Domains.__getitem__", lambda _, name: own)
    lines = [call("explain", "grapevine", word)[1].splitlines() for word in ("top=2", "top=3", "parameters.top=9")]
    assert len(lines[0]) < len(lines[1]) < len(lines[2])


def test_a_command_that_meets_a_wrong_file_leaves_no_folder(call: Call, tmp_path: Path) -> None:
    (tmp_path / "wrong.txt").write_text("fluent;")
    assert call("solve", "wrong.txt", "run_dir=run")[0] == ExitCode.BAD_INPUT
    assert call("assess", "domain=coin_in_the_box", "model=gone")[0] == ExitCode.NO_INPUT
    assert {path.name for path in tmp_path.iterdir()} == {"coin.txt", "wrong.txt"}


@pytest.mark.slow  # PyTorch is imported
def test_a_training_without_a_goal_leaves_no_folder(call: Call, tmp_path: Path) -> None:
    (tmp_path / "hopeless.txt").write_text(COIN.replace("shout if B(a, tail)", "shout if -tail"))
    assert "nothing to learn from: no goal is among" in call("train", "hopeless.txt")[2]
    assert {path.name for path in tmp_path.iterdir()} == {"coin.txt", "hopeless.txt"}


def test_a_command_is_refused_where_another_one_is_running(call: Call, tmp_path: Path) -> None:
    script = "from epigym.io.locking import locking; from pathlib import Path; import sys\n"
    script += "with locking(Path('run')): print(flush=True); sys.stdin.read()"
    with subprocess.Popen([sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        assert other.stdout is not None
        other.stdout.readline()
        for command in (
            "solve coin.txt agent=bfs",
            "sample domain=gossip",
            "train_linear domain=gossip",
            "rollouts coin.txt",
        ):
            code, _, errors = call(*command.split(), "run_dir=run")
            assert code == ExitCode.USAGE
            assert errors == "error: run_dir=run: another command is running there: wait for its end, or name another\n"
        other.communicate()
    assert [path.name for path in tmp_path.iterdir()] == ["coin.txt"]
    assert call("solve", "coin.txt", "agent=bfs", "run_dir=run")[0] == ExitCode.SUCCESS
    assert {path.name for path in (tmp_path / "run").iterdir()} == {"result.json"}


def test_folders_of_runs(call: Call, tmp_path: Path) -> None:
    (tmp_path / "outputs").touch()  # nothing can be made below it, not even by root
    assert call("solve", "problem=coin.txt", "agent=bfs")[0] == 0
    assert call("validate", "problem=coin.txt", "plan=[lift,look,shout]")[0] == 0
    assert call("explain", "problem=coin_in_the_box/pl_5", "top=1")[0] == 0
    for name, place, path in (("solve", "run_dir", "run"), ("convert", "out", "a.json"), ("show", "out", "a.png")):
        code, _, errors = call(name, "problem=coin.txt", f"{place}=outputs/{path}")
        assert (code, errors.count("\n")) == (ExitCode.CANNOT_WRITE, 1)
        assert errors.startswith(f"error: cannot write outputs/{path}: ")
        assert errors.endswith(f": name another with {place}=\n")
    assert call("solve", "-m", "coin.txt", "agent=bfs,dfs")[2].endswith(": name another with hydra.sweep.dir=\n")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["coin.txt", "outputs"]
    log, folder = logging.Logger("run"), tmp_path / "run"
    log.addHandler(handler := RunLog(str(folder / "run.log")))
    log.info("first")
    assert not folder.exists()
    folder.mkdir()
    log.info("second")
    handler.close()
    assert (folder / "run.log").read_text() == "first\nsecond\n"


def test_what_a_run_writes_is_in_one_folder_with_its_log(call: Call, tmp_path: Path) -> None:
    assert call("sample", "domain=gossip", "split=[train]", "instances=1")[0] == 0
    [folder] = tmp_path.glob("outputs/sample/*")
    assert {path.name for path in folder.iterdir()} == {"gossip", "sample.log", "problems.csv", "sizes.csv", "sizes.md"}
    assert call("sample", "domain=gossip", "split=[train]", "instances=1", "hydra.run.dir=mine")[0] == 0
    assert (tmp_path / "mine" / "problems.csv").exists()


def fails(settings: Settings) -> None:
    raise ZeroDivisionError("by zero")


def test_a_program_error_is_one_line_and_a_traceback_on_demand(call: Call, capfd: pytest.CaptureFixture[str]) -> None:
    sys.argv = ["solve", "coin.txt"]
    with pytest.raises(SystemExit) as stop:
        run(fails, Solve, "search.solve")
    assert stop.value.code == ExitCode.FAILURE
    assert capfd.readouterr().err == "error: ZeroDivisionError: by zero (add debug=true for the traceback)\n"
    sys.argv = ["solve", "coin.txt", "debug=true"]
    with pytest.raises(ZeroDivisionError):
        run(fails, Solve, "search.solve")


def test_the_other_runs_of_a_sweep_are_done_before_an_error_is_raised(call: Call, tmp_path: Path) -> None:
    code, _, errors = call("solve", "-m", "problem=gone.txt,coin.txt", "agent=bfs")
    assert code == ExitCode.NO_INPUT
    assert "error: no such problem file: gone.txt\n" in errors
    assert "Traceback" not in errors
    assert [path.parent.name for path in tmp_path.glob("outputs/solve/*/*/result.json")] == ["1"]


@pytest.mark.slow
@pytest.mark.parametrize(("launcher", "plugin"), [("local", "joblib"), ("submitit_local", "submitit")])
def test_a_sweep_in_processes_names_a_bad_file_and_does_the_others(tmp_path: Path, launcher: str, plugin: str) -> None:
    pytest.importorskip(f"hydra_plugins.hydra_{plugin}_launcher")
    (tmp_path / "coin.txt").write_text(COIN)
    (tmp_path / "bad.txt").write_text("rubbish (\n")
    words = ("-m", "problem=bad.txt,coin.txt", "agent=bfs", f"hydra/launcher={launcher}")
    command = (sys.executable, "-m", "search.solve", *words)
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == ExitCode.BAD_INPUT
    assert "error: bad.txt:1:10: unexpected end of the text; expected a name\n" in done.stderr
    assert "Traceback" not in done.stderr
    assert [path.parent.name for path in tmp_path.glob("outputs/solve/*/*/result.json")] == ["1"]


def test_the_configuration_of_the_user_is_left_alone(call: Call, tmp_path: Path) -> None:
    (tmp_path / "conf").mkdir()
    (tmp_path / "conf" / "__init__.py").touch()
    (tmp_path / "conf" / "validate.yaml").write_text("nonsense: 1\n")
    code, output, _ = call("validate", "problem=coin.txt", "plan=[lift,look,shout]")
    assert (code, output) == (0, "valid: 3 actions reach the goal of coin\n")


@pytest.mark.parametrize("name", ["learn", "search", "domains"])
def test_a_package_that_hides_ours_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    (tmp_path / name).mkdir()
    (tmp_path / name / "__init__.py").touch()
    check_place(name)
    monkeypatch.delitem(sys.modules, name, raising=False)
    monkeypatch.setattr(sys, "meta_path", [PathFinder])
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(EpigymError, match=f"{tmp_path}/{name} hides the package '{name}' of epigym, .* rename it"):
        check_place(name)


@pytest.mark.parametrize("command", COMMANDS)
def test_help_tells_everything_about_a_command(command: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    text, module = format_help(command), import_module(command)
    assert text.startswith(module.__doc__.strip())
    assert re.search(rf"\n  (python -m|epigym) ({re.escape(command)}|{command.rpartition('.')[2]}) ", text)
    for name in {*hints_of(settings_of(command))} - {
        "suffix",
        "per_domain",
    }:  # which the group `size` holds
        assert f"\n  {name}:" in text
    for code in ExitCode:
        assert f" {code.value}  {code.meaning}" in text
    assert "hydra:" not in text
    assert "${" not in text


@pytest.mark.parametrize(
    ("text", "meaning"),
    [
        ("${job_folder:${hydra:sweep.dir}}", "outputs/<command>/<time>"),
        ("run_dir: ${job_folder:null}  # the folder", "run_dir: null  # the folder"),
        ("${is_given:${policy}}", "<true with policy>"),
        ("${name_searches:${problems},${suite.name}}", "<suite.name>"),
        ("a/${name}${suffix}", "a/<name><suffix>"),
        ("without_${.domain}", "without_<domain>"),
        ("${oc.env:EPIGYM_SHARED,../shared}/x", "<EPIGYM_SHARED>/x"),
    ],
)
def test_help_says_what_interpolations_mean(text: str, meaning: str) -> None:
    assert explain_interpolations(text) == meaning


def test_help_is_as_wide_as_the_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    wide, narrow = [], []
    for columns, texts in (("200", wide), ("80", narrow)):
        monkeypatch.setenv("COLUMNS", columns)
        for command in COMMANDS:
            before, examples, after = re.split(r"(?s)(Examples:.*?)(?=\n\n)", format_help(command))
            assert max(map(len, (before + after).splitlines())) <= int(columns)
            texts.append([word for word in (before + after).split() if word != "#"] + [examples])
    assert wide == narrow


def test_help_lists_the_groups_of_its_command_only() -> None:
    groups = format_help("learn.train").partition("Groups")[2]
    assert "\n  encoding: bitmask, hash, map, relational (default hash)\n" in groups
    assert "\n  objective: distance, ranking (default distance)\n" in groups
    assert "agent" not in groups


def test_commands_answer_without_torch(tmp_path: Path) -> None:
    code = "\n".join(
        [
            "import sys",
            *(f"import {command}" for command in COMMANDS),
            "sys.argv = ['train', 'batch_size=abc', 'hydra.run.dir=.', 'hydra/job_logging=none']",
            "try: learn.train.main()",
            "except SystemExit as stop: print(stop.code)",
            "print(*{'torch', 'lightning', 'matplotlib', 'rich'} & set(sys.modules))",
        ]
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout == "64\n\n"


def test_one_command_has_all_the_others(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    lines = call("--help")[1].splitlines()
    names = {line.split()[1] for line in lines if line.startswith("  epigym ")}
    assert max(map(len, lines)) <= 80
    assert names == {command.rpartition(".")[2] for command in COMMANDS} | {"competition", "domains"}
    assert "grapevine" in call("domains", "list")[1]
    code, output, _ = call("validate", "coin.txt", "plan=lift,look")
    assert (code, output.startswith("not valid: ")) == (ExitCode.INVALID_PLAN, True)
    Path("beside.py").write_text("from search.agents.breadth_first import BreadthFirst as Mine")
    assert call("solve", "coin.txt", "agent={_target_: beside.Mine}")[0] == 0
    scripts = tomllib.loads((PLACE / "pyproject.toml").read_text())["project"]["scripts"]
    assert scripts["epigym"] == "epigym.__main__:main"


def test_exit_codes_follow_the_kind_of_an_error() -> None:
    assert ExitCode.after(MissingError()) == 66
    assert ExitCode.after(EpigymError()) == 65
    assert ExitCode.after(PermissionError()) == 73
    assert ExitCode.after(KeyboardInterrupt()) == 130
    assert ExitCode.after(ValueError()) == 70
    assert line(ValueError("one\ntwo")) == "ValueError: one (add debug=true for the traceback)"
    with pytest.raises(AssertionError) as raised:
        fail_silently()
    place = rf"at \S+test_command\.py:\d+ in {fail_silently.__name__}"
    assert re.fullmatch(rf"AssertionError: {place} \(add debug=true for the traceback\)", line(raised.value))


def fail_silently() -> None:
    """Raise an error without a message."""
    raise AssertionError


@pytest.mark.parametrize(
    ("command", "module"),
    [
        ("epigym show grapevine", "hydra"),
        ("search.solve", "hydra"),
        ("epigym show grapevine", "yaml"),
        ("search.solve", "psutil"),
        ("search.competition", "psutil"),
        ("learn.train", "hydra"),
    ],
)
def test_ctrl_c_while_a_command_imports_is_one_line(command: str, module: str, tmp_path: Path) -> None:
    (tmp_path / f"{module}.py").write_text("raise KeyboardInterrupt\n")
    stopped = subprocess.run(
        [sys.executable, "-m", *command.split()], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert (stopped.stdout, stopped.stderr) == ("", "error: interrupted\n")
    assert stopped.returncode == -signal.SIGINT  # which a shell calls 130


def test_programs_of_others_keep_their_tracebacks(tmp_path: Path) -> None:
    (tmp_path / "hydra.py").write_text("raise KeyboardInterrupt\n")
    (tmp_path / "search_all.py").write_text("import epigym, hydra\n")
    for words in (["search_all.py", "-m"], ["-m", "search_all"]):
        stopped = subprocess.run([sys.executable, *words], cwd=tmp_path, capture_output=True, text=True, check=False)
        assert stopped.stderr.startswith("Traceback")


@pytest.mark.parametrize("name", ["--version", *COMMANDS, "epigym.domains", "search.competition"])
def test_every_command_prints_the_version(name: str, call: Call) -> None:
    arguments = [] if name == "--version" else ["--version"]
    assert call(name.rpartition(".")[2], *arguments) == (ExitCode.SUCCESS, f"epigym {epigym.__version__}\n", "")


def test_a_run_composes_its_configuration_once(call: Call) -> None:
    with patch.object(Hydra, "compose_config", autospec=True, side_effect=Hydra.compose_config) as compose:
        assert call("solve", "coin.txt", "agent=bfs")[0] == ExitCode.SUCCESS
    assert compose.call_count == 1


@pytest.mark.parametrize("words", [["hydra.mode=MULTIRUN"], ["hydra.searchpath=[mine]", "+size=swept"]])
def test_hydra_mode_sweeps(words: list[str], call: Call, tmp_path: Path) -> None:
    (tmp_path / "mine" / "size").mkdir(parents=True)
    (tmp_path / "mine" / "size" / "swept.yaml").write_text("# @package hydra\nmode: MULTIRUN\n")
    assert call("solve", "coin.txt", "agent=bfs", "hydra.sweep.dir=jobs", *words)[0] == ExitCode.SUCCESS
    assert (tmp_path / "jobs" / "multirun.yaml").is_file()


@pytest.mark.parametrize("word", ["problem=glob(*)", "agent=glob(zz*)", "max_expanded=range(1,1)"])
def test_a_sweep_without_jobs_is_refused(word: str, call: Call) -> None:
    others = [other for other in ("problem=coin.txt", "agent=bfs") if other[:3] != word[:3]]
    code, output, errors = call("solve", "-m", word, *others)
    assert (code, output, errors.count("\n")) == (ExitCode.USAGE, "", 1)
    assert errors.startswith(f"error: {word}: no value for any job: ")


def test_an_interval_is_left_to_the_sweeper(call: Call) -> None:
    """Hydra's own refuses it, others sample from it."""
    answer = call("solve", "-m", "problem=coin.txt", "agent=bfs", "max_expanded=interval(1,5)")
    assert answer == (ExitCode.USAGE, "", "error: BasicSweeper does not support sweep type : INTERVAL_SWEEP\n")


@pytest.mark.parametrize("command", ["show", "validate"])
def test_a_plan_of_one_action_needs_no_brackets(command: str, call: Call) -> None:
    more = ["out=x.svg"] if command == "show" else []
    one, listed = (call(command, "problem=coin.txt", plan, *more) for plan in ("plan=lift", "plan=[lift]"))
    assert one == listed
    assert one[0] == (ExitCode.SUCCESS if command == "show" else ExitCode.INVALID_PLAN)
    code, _, errors = call(command, "problem=coin.txt", "plan=lfit", *more)
    assert code == ExitCode.NO_INPUT
    assert errors == "error: plan=lfit: there is no such file, and unknown action 'lfit': did you mean 'lift'?\n"
    Path("lift").write_text('["gone"]')  # a file has precedence
    assert "unknown action 'gone'" in "".join(call(command, "problem=coin.txt", "plan=lift", *more)[1:])
