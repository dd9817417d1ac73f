"""The runner: the grid, the records it keeps, and going on after it was killed."""

import itertools
import json
import os
import platform
import signal
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from io import StringIO
from pathlib import Path
from typing import Any

import psutil
import pytest
from rich import get_console
from rich.console import Console

from epigym import _core, language
from epigym.cli.codes import ExitCode
from epigym.errors import EpigymError, MissingError, ProblemWarning, UsageError
from epigym.language import Reading
from epigym.problem import load_problem
from epigym.reference.semantics import Validation
from epigym.space import space
from learn.models import shipped
from search import evaluate
from search.agents import best_first
from search.agents.result import SearchResult, SearchStatus
from search.evaluate import Evaluate
from search.evaluation import batch, fingerprint, running
from search.evaluation import record as record_module
from search.evaluation.grid import make_configurations, write_table
from search.evaluation.progress_table import ProgressTable
from search.evaluation.record import Record
from search.evaluation.suites import Problem
from search.heuristics import learned
from search.planning import planner
from search.processes.supervisor import Job, JobResult
from search.solve import Solve
from tests.helpers.benchmark_files import ROOT
from tests.helpers.commands import compose
from tests.helpers.epddl_problem import PLANS, PROBLEM, write_problem
from tests.helpers.records import LIMITS, batch_of, read_outcomes, read_table, record_of
from tests.helpers.tasks import COIN, COUNTER, DELUDED
from tests.helpers.trained import PAPER, SMALL, random_model

OWN = """
import numpy as np
from search.agents.best_first import BestFirst
from search.heuristics import Heuristic

class Mine(Heuristic):
    def __init__(self, space, scale: int):
        self.scale = scale
    def score(self, ids):
        return self.scale * ids.astype(np.float64)

class Deep(BestFirst):
    def _make_priority(self, space):
        return lambda ids, parents, depths, scores: -depths
"""


PUBLISHED = Problem("1-basic/vine/vine-1", "1-basic/vine", "grapevine/3_pl_5", Reading())
"""An instance under the name of a file."""


@pytest.fixture
def record(coin: str) -> Record:
    return record_of(coin)


def read_result(record: Record, folder: Path) -> SearchResult:
    result = record.read(folder)
    assert result is not None
    return result


def evaluate_all(records: Sequence[Record], folder: Path) -> list[tuple[str, str]]:
    """Configuration and status of each row of the table that an evaluation in this process writes."""
    running.compute_results(batch_of(records, folder), cluster=None, retry=False)
    return [(row["configuration"], row["status"]) for row in read_table(folder)]


def test_configurations_and_their_labels() -> None:
    found = make_configurations(["bfs", "hfs", {"name": "wa_star", "weight": 5}], ["goal_count", "l_pg"])
    labels = [configuration.label for configuration in found]
    assert labels == ["bfs", "hfs/goal_count", "hfs/l_pg", "wa_star/goal_count", "wa_star/l_pg"]
    assert (found[3].agent["name"], found[3].agent["weight"], found[3].agent["symmetry"]) == ("wa_star", 5, False)
    twice = [{"name": "wa_star", "weight": 2}, {"name": "wa_star", "weight": 5}]
    with pytest.raises(UsageError, match="'wa_star/l_pg'; give one of them a label"):
        make_configurations(twice, ["l_pg"])
    twice[1]["label"] = "wa5"
    found = make_configurations(twice, ["l_pg"])
    assert [configuration.label for configuration in found] == ["wa_star/l_pg", "wa5/l_pg"]
    assert found[1].make_agent().name == "wa_star"
    found = make_configurations([{"name": "lazy", "heuristic": "h_ff"}, "hfs", "bfs"], ["h_add", "l_pg"])
    assert [configuration.label for configuration in found] == ["lazy/h_ff", "hfs/h_add", "hfs/l_pg", "bfs"]


@pytest.mark.parametrize(
    ("agents", "heuristics", "message"),
    [
        ([{"name": "interleaved", "label": "mine", "heuristic": "h_ff"}], [], "agent 'mine' takes no heuristic"),
        (["bfs"], ["goal_cuont"], "unknown heuristic 'goal_cuont': did you mean 'goal_count'"),
        (["bfs"], [{"name": "goal_count", "weight": 2}], "unknown setting of heuristic 'goal_count' 'weight'"),
    ],
)
def test_unused_and_wrong_heuristics_are_refused(agents: list[Any], heuristics: list[Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        make_configurations(agents, heuristics)


def test_an_outcome_is_kept_for_this_very_record(record: Record, tmp_path: Path) -> None:
    assert record.read(tmp_path) is None
    result = record.search()
    assert result.status is SearchStatus.SOLVED
    record.write(tmp_path, result)
    assert record.read(tmp_path) == result
    assert record.key.startswith(record.file(tmp_path).suffixes[0].removeprefix("."))
    data = json.loads(record.file(tmp_path).read_text())
    assert (data["key"], data["host"]) == (record.key, platform.node())
    assert replace(record, key=record.key[:8] + "0" * 56).read(tmp_path) is None  # the file's own key decides


def test_records_of_another_key_are_kept_beside_and_counted(coin: str, tmp_path: Path) -> None:
    made, folder = [], tmp_path / "run"
    labelled = {"name": "bfs", "label": "bfs.00000000"}  # whose files look alike
    for text, limits in ((COIN, LIMITS), (COUNTER, LIMITS), (COUNTER, replace(LIMITS, time_limit=61.0))):
        Path(coin).write_text(text)
        record = record_of(coin, limits=limits)
        assert record.read(folder) is None
        assert record.row(folder)["other_outcomes"] == str(len(made))
        record.write(folder, record.search())
        record_of(coin, labelled, limits=limits).write(folder, record.search())
        made.append(record)
    assert len({record.file(folder) for record in made}) == 3
    assert [read_result(record, folder).plan_length for record in made] == [3, 4, 4]
    write_table(folder, made[2:])
    [row] = read_table(folder)
    assert (row["plan_length"], row["other_outcomes"]) == ("4", "2")


@pytest.mark.parametrize("label", ["../../x", "a|<img src=x>", "x" * 300])
def test_labels_stay_within_the_folder(coin: str, tmp_path: Path, label: str) -> None:
    file = record_of(coin, {"name": "bfs", "label": label}).file(tmp_path)
    assert file.resolve().is_relative_to(tmp_path / "records")
    assert len(file.name) < 256
    assert not set(file.name) & set("|<> ")


def write_model(path: Path, content: str) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content)
    return str(path)


def test_the_key_depends_on_all_that_decides(coin: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    own = "from search.agents.breadth_first import BreadthFirst\nclass Mine(BreadthFirst): "
    Path("foreign_agent.py").write_text(own + "pass")
    model = write_model(tmp_path / "mine", "weights")
    of_domain = write_model(tmp_path / "of" / "grapevine" / "model.safetensors", "weights")
    write_model(tmp_path / "of" / "gossip" / "model.safetensors", "weights")
    trained = {"name": "learned", "model": model}
    by_domain = {"name": "learned", "model": str(tmp_path / "of" / "{domain}")}
    instance = "grapevine/3_pl_2"
    described: dict[str, tuple[Any, ...]] = {
        "file": (coin,),
        "instance": (instance,),
        "agent": (coin, "dfs"),
        "symmetry": (coin, {"name": "bfs", "symmetry": True}),
        "setting": (coin, "wa_star", "l_pg"),
        "other setting": (coin, {"name": "wa_star", "weight": 4}, "l_pg"),
        "heuristic": (coin, "wa_star", "s_pg"),
        "model": (coin, "hfs", trained),
        "run": (coin, "hfs", {"name": "learned", "model": str(tmp_path / "of" / "gossip")}),
        "model of domain": (instance, "hfs", by_domain),
        "model of published": (PUBLISHED, "hfs", by_domain),
        "model of file": (coin, "hfs", by_domain),
        "interleaved": (coin, {"name": "interleaved", "components": [{"agent": "hfs", "heuristic": trained}]}),
        "own": (coin, {"_target_": "foreign_agent.Mine"}),
        "learned": (instance, "hfs", "learned"),
        **{name: (coin, "bfs", None, replace(LIMITS, **{name: 7})) for name in ("max_expanded", "time_limit")},
        "memory_limit": (coin, "bfs", None, replace(LIMITS, memory_limit=7)),
    }
    options: dict[str, dict[str, Any]] = {
        "semantics": {"reading": Reading("efp")},
        "determines": {"reading": Reading(determines="literals")},
        "verify": {"verify": "none"},
        "consistent_beliefs": {"consistent_beliefs": True},
        "anytime": {"anytime": True},
    }

    def keys() -> dict[str, str]:
        named = {name: record_of(*parts) for name, parts in described.items()}
        named |= {name: record_of(coin, **option) for name, option in options.items()}
        return {name: record.key for name, record in named.items()}

    first = before = keys()
    assert len(set(first.values())) == len(first)
    assert keys() == first
    assert record_of(coin, {"name": "bfs", "label": "other"}).key == first["file"]

    def find_changed() -> set[str]:
        nonlocal before
        earlier, before = before, keys()
        return {name for name, key in before.items() if earlier[name] != key}

    write_model(Path(model), "other weights")
    assert find_changed() == {"model", "interleaved"}
    monkeypatch.setattr(shipped, "SHIPPED", tmp_path / "shipped")
    assert find_changed() == {"learned"}
    write_model(tmp_path / "shipped" / "linear" / "general.safetensors", "weights")
    assert find_changed() == {"learned"}
    write_model(tmp_path / "shipped" / "choice.json", "{}")
    assert find_changed() == {"learned"}
    write_model(Path(of_domain), "other weights")
    assert find_changed() == {"model of domain", "model of published", "model of file"}
    write_model(tmp_path / "of" / "gossip" / "model.safetensors", "other weights")
    assert find_changed() == {"model of file", "run"}
    Path("foreign_agent.py").write_text(own + "...")
    assert find_changed() == {"own"}
    Path(coin).write_text(COUNTER)
    assert find_changed() == first.keys() - {"instance", "model of domain", "model of published", "learned"}
    monkeypatch.setattr(fingerprint, "digest_program", lambda: ["another program"])
    assert find_changed() == set(first)


def test_the_program_is_the_core_and_all_that_a_search_runs() -> None:
    read = set(fingerprint.list_program_files())
    assert {path.name for path in read if path.name.startswith("_core")} == {Path(_core.__file__).name}
    for module in (space, language, learned, best_first, planner, shipped):
        assert Path(module.__file__) in read


def test_nothing_is_kept_under_a_key_that_no_longer_holds(record: Record, coin: str) -> None:
    Path(coin).write_text(COUNTER)
    with pytest.raises(EpigymError, match="has changed since the start: start again"):
        record.search()


@pytest.fixture
def epddl_problem(tmp_path: Path) -> Problem:
    written = write_problem(tmp_path, PROBLEM.replace(":modal-goals", ":modal-goals :equality"))  # which warns
    reading = Reading(domain_file=str(written.domain), libraries=(str(written.library),))
    return Problem("easy/coin/coin-1", "easy/coin", str(written.problem), reading)


@pytest.mark.filterwarnings("error::epigym.errors.ProblemWarning")
def test_a_record_of_epddl_files(epddl_problem: Problem, tmp_path: Path) -> None:
    with pytest.raises(ProblemWarning, match=":equality"):
        load_problem(epddl_problem.source, epddl_problem.reading)
    record = record_of(epddl_problem)
    result = record.search()
    assert (result.status, list(result.plan or ())) == (SearchStatus.SOLVED, PLANS[0])
    record.write(tmp_path, result)
    compatible = replace(epddl_problem, reading=replace(epddl_problem.reading, plank_compat=True))
    assert record_of(compatible).read(tmp_path) is None
    row = record.row(tmp_path)
    assert (row["domain"], row["problem"]) == ("easy/coin", "easy/coin/coin-1")
    assert (row["actions"], row["fluents"], row["initial_worlds"]) == ("6", "2", "2")
    assert float(row["load_seconds"]) > 0


def test_limits_include_grounding(epddl_problem: Problem, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    records = [record_of(epddl_problem), record_of(epddl_problem, limits=replace(LIMITS, memory_limit=2**20))]
    times = iter([100.0, 170.0])
    monkeypatch.setattr(record_module, "perf_counter", lambda: next(times))
    records[0].write(tmp_path, records[0].search())
    row = records[0].row(tmp_path)
    assert (row["status"], row["load_seconds"], row["actions"]) == ("time_limit", "70.000000", "6")
    monkeypatch.undo()
    assert records[1].search().status is SearchStatus.MEMORY_LIMIT


@pytest.fixture
def endings(monkeypatch: pytest.MonkeyPatch) -> list[JobResult]:
    """How the processes of the next records end, in place of any process."""
    expected: list[JobResult] = []
    monkeypatch.setattr(batch, "supervise", lambda jobs, **_: (replace(expected.pop(0), job=job) for job in jobs))
    return expected


def ending(value: SearchResult | None, failure: SearchStatus | None = None, peak: int = 1 << 20) -> JobResult:
    return JobResult(Job(0, int, ()), value, failure, "it failed", "Traceback …", 3.5, peak, 2.5)


def test_costs_are_those_of_all_processes(record: Record, tmp_path: Path, endings: list[JobResult]) -> None:
    result = record.search()
    record.write(tmp_path / "inside", result)
    inside = int(record.row(tmp_path / "inside")["peak_bytes"])
    for number, (outside, peak) in enumerate(((inside * 3, inside * 3), (1, inside))):
        endings.append(ending(result, peak=outside))
        evaluate_all([record], tmp_path / str(number))
        [row] = read_table(tmp_path / str(number))
        assert (row["status"], row["peak_bytes"], row["cpu_seconds"]) == ("solved", str(peak), "2.500000")
        assert (row["host"], bool(row["processor"])) == (platform.node(), True)
        assert tmp_path / str(number) / row["file"] == record.file(tmp_path / str(number))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("heuristic", "needs_torch"),
    [
        ({"name": "learned", "model": "paper"}, True),
        ({"name": "learned", "model": "{domain}"}, True),
        ({"name": "learned", "model": "gine"}, False),
        ({"name": "learned", "model": "gine", "device": "cuda"}, True),
        ("learned", False),
        ("goal_count", False),
    ],
)
def test_libraries_of_networks_are_imported_once(
    coin: str, heuristic: Any, needs_torch: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name, settings in (("paper", PAPER), ("gine", SMALL)):
        random_model(settings).write(tmp_path / name / "model.safetensors")
    preloaded: list[str] = []
    monkeypatch.setattr(batch, "supervise", lambda jobs, preload, **_: preloaded.extend(preload) or (_ for _ in ()))
    assert list(batch_of([record_of(coin, "hfs", heuristic)], tmp_path).run([])) == []
    script = f"import sys, {', '.join(preloaded)}; print('torch_geometric.nn' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, cwd=ROOT)
    assert done.stdout.strip() == str(needs_torch)


@pytest.mark.parametrize("failure", [SearchStatus.ERROR, SearchStatus.TIME_LIMIT, SearchStatus.MEMORY_LIMIT])
def test_a_failed_process_is_a_row(coin: str, tmp_path: Path, failure: SearchStatus, endings: list[JobResult]) -> None:
    endings += [ending(None, failure)] * 2
    labelled = record_of(coin, {"name": "hfs", "label": "greedy"}, "l_pg", consistent_beliefs=True)
    assert evaluate_all([labelled, record_of(coin)], tmp_path) == [("greedy/l_pg", failure), ("bfs", failure)]
    [row, other] = read_table(tmp_path)
    assert (row["message"], row["search_seconds"], row["peak_bytes"]) == ("it failed", "3.500000", str(1 << 20))
    assert (row["plan_length"], row["expanded"]) == ("", "")
    assert (row["consistent_beliefs"], other["consistent_beliefs"]) == ("true", "false")
    result = read_result(labelled, tmp_path)
    assert (result.label, result.consistent_beliefs) == ("greedy/l_pg", True)


def test_a_record_with_consistent_beliefs_has_an_outcome_and_a_row_of_its_own(coin: str, tmp_path: Path) -> None:
    Path(coin).write_text(DELUDED)
    rows = []
    for value in ("false", "true"):
        settings = compose(Evaluate, "evaluate", f"problems={coin}", "agents=bfs", f"consistent_beliefs={value}")
        [record] = evaluate.records(settings)
        record.write(tmp_path, record.search())
        rows.append(record.row(tmp_path))
        assert read_result(record, tmp_path).consistent_beliefs == (value == "true")
    assert [(row["consistent_beliefs"], row["status"]) for row in rows] == [("false", "solved"), ("true", "unsolvable")]


def test_an_invalid_plan_is_never_solved(record: Record, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    verdict = Validation(valid=False, step=2, reason="step 2: no", inconsistent_agents=())
    monkeypatch.setattr(planner, "validate", lambda *_, **__: verdict)
    result = record.search()
    assert result.plan is not None
    record.write(tmp_path, replace(result, history=((5, 0.5),)))  # as after a longer one that is valid
    row = record.row(tmp_path)
    assert [row[name] for name in ("status", "plan_length", "first_length", "optimal")] == ["error", "", "", ""]
    assert row["message"] == "bfs returned a plan that is not valid: step 2: no"


def test_a_record_goes_on_for_shorter_plans_where_it_is_asked_to(coin: str, tmp_path: Path) -> None:
    once, anytime = (record_of(coin, "hfs", "goal_count", anytime=anytime) for anytime in (False, True))
    for record, optimal in ((once, False), (anytime, True)):
        result = record.search()
        assert (result.plan_length, result.optimal) == (3, optimal)
        record.write(tmp_path, replace(result, history=((5, 0.5), *result.history)))
        row = record.row(tmp_path)
        assert (row["plan_length"], row["first_length"], row["optimal"]) == ("3", "5", str(optimal).lower())
        assert row["expanded"] == str(result.expanded)
    # Where it is cut, and with what counts, is a matter of the clock.
    anytime.write(tmp_path, replace(result, optimal=False))
    assert (anytime.row(tmp_path)["status"], anytime.row(tmp_path)["expanded"]) == ("solved", "")
    anytime.write(tmp_path, replace(result, optimal=False, plan=None, history=(), status=SearchStatus.UNSOLVABLE))
    assert anytime.row(tmp_path)["expanded"] == str(result.expanded)
    assert (anytime.row(tmp_path)["first_length"], anytime.row(tmp_path)["optimal"]) == ("", "")


def test_counts_that_depend_on_the_clock_stay_out_of_the_table(record: Record, tmp_path: Path) -> None:
    result = record.search()
    for status, expanded in (("solved", "3"), ("expansion_limit", "3"), ("time_limit", ""), ("memory_limit", "")):
        record.write(tmp_path, replace(result, status=SearchStatus(status), expanded=3))
        assert record.row(tmp_path)["expanded"] == expanded


def test_plans_need_not_be_reexecuted(coin: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*arguments: object, **options: object) -> None:
        raise AssertionError("re-executed")

    monkeypatch.setattr(planner, "validate", refuse)
    unverified = record_of(coin, verify="none")
    unverified.write(tmp_path, unverified.search())
    row = unverified.row(tmp_path)
    assert [row[name] for name in ("status", "plan_length", "first_length", "optimal")] == ["solved", "3", "3", "true"]
    with pytest.raises(AssertionError, match="re-executed"):
        record_of(coin).search()
    with pytest.raises(UsageError, match=r"^anytime=true .*: leave out verify=none$"):
        evaluate.records(compose(Evaluate, "evaluate", "anytime=true", "verify=none"))


def test_missing_models_are_named_first(coin: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    of_domain = {"name": "learned", "model": "{domain}/model.safetensors"}
    gone = {"name": "learned", "model": "gone"}
    component = {"name": "interleaved", "components": [{"agent": "hfs", "heuristic": gone}]}
    for problem, heuristic, missing in (
        (coin, gone, "no model gone: train"),
        ("grapevine/3_pl_2", of_domain, r"grapevine/model\.safetensors"),
        (PUBLISHED, of_domain, r"no model grapevine/model\.safetensors"),
    ):
        with pytest.raises(MissingError, match=missing):
            evaluate_all([record_of(coin), record_of(problem, "hfs", heuristic)], tmp_path / "run")
    with pytest.raises(MissingError, match="no model gone"):
        evaluate_all([record_of(coin, component)], tmp_path / "run")
    assert not (tmp_path / "run").exists()
    # The domain of a file is known when it is read.
    assert evaluate_all([record_of(coin, "hfs", of_domain)], tmp_path / "run") == [("hfs/learned", "error")]


def test_own_classes_work_in_processes_of_records(coin: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "foreign_search.py").write_text(OWN)
    monkeypatch.syspath_prepend(str(tmp_path))
    agent = {"_target_": "foreign_search.Deep", "label": "deep"}
    record = record_of(coin, agent, {"_target_": "foreign_search.Mine", "scale": 2})
    assert evaluate_all([record], tmp_path) == [("deep/Mine", "solved")]


def start(folder: Path, *arguments: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "search.evaluate", "agents=[bfs,hfs]", "heuristics=[goal_count]"]
    problems = "problems=[coin.txt,counter.txt,wrong.txt,hopeless.txt,coin_in_the_box/pl_6]"
    return subprocess.Popen(
        [*command, problems, "memory_limit=2GiB", "hydra.verbose=search.evaluate", *arguments],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
        preexec_fn=heed_ctrl_c,
    )


def heed_ctrl_c() -> None:
    """Ctrl-C ends this process, although the tests may run in the background, where it is ignored."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def wait_for_end(process: subprocess.Popen[str], code: ExitCode = ExitCode.BAD_INPUT) -> list[str]:
    """Wait for the end of a runner, of which one problem cannot be read; the records that it did."""
    output, _ = process.communicate()
    assert process.returncode == code, output
    return [line.partition(" - finished ")[2] for line in output.splitlines() if " - finished " in line]


@pytest.fixture
def problems(coin: str, tmp_path: Path) -> Path:
    (tmp_path / "counter.txt").write_text(COUNTER)
    (tmp_path / "wrong.txt").write_text("fluent p")
    (tmp_path / "hopeless.txt").write_text(COIN.replace("executable shout if B(a, tail)", "executable shout if -tail"))
    return tmp_path


HANGS = """
import signal
from pathlib import Path
from search.agents.breadth_first import BreadthFirst

class Hangs(BreadthFirst):
    def search(self, run):
        while run.space.task.name == "hopeless" and Path("hang").exists():
            signal.pause()
        return super().search(run)
"""


@pytest.mark.slow
def test_a_killed_run_goes_on_and_ends_with_the_same_table(problems: Path) -> None:
    (problems / "foreign_hangs.py").write_text(HANGS)
    (problems / "hang").touch()
    agents = "agents=[hfs,{_target_: foreign_hangs.Hangs}]"
    killed = start(problems, "folder=killed", agents)
    finished = (line.partition(" - finished ")[2].strip() for line in killed.stdout if " - finished " in line)
    before = list(itertools.islice(finished, 7))
    killed.kill()
    killed.wait()
    killed.stdout.close()
    there = {file: file.read_bytes() for file in problems.glob("killed/records/**/*.json")}
    assert len(there) == len(before) == 7

    (problems / "hang").unlink()
    rest = wait_for_end(start(problems, "folder=killed", agents))
    assert len(rest) == 3
    assert not set(rest) & set(before)
    assert all(file.read_bytes() == content for file, content in there.items())
    assert len(wait_for_end(start(problems, "folder=whole", "parallel=2", agents))) == 10
    assert read_outcomes(problems / "killed") == read_outcomes(problems / "whole")
    statuses = {row["problem"]: row["status"] for row in read_table(problems / "whole")}
    assert statuses == {
        "coin.txt": "solved",
        "counter.txt": "solved",
        "wrong.txt": "error",
        "hopeless.txt": "unsolvable",
        "coin_in_the_box/pl_6": "solved",
    }
    [error] = {row["message"] for row in read_table(problems / "whole") if row["problem"] == "wrong.txt"}
    assert error.startswith("wrong.txt:1:")
    assert not list(problems.glob("*/records/**/.*"))

    assert wait_for_end(start(problems, "folder=killed", agents)) == []
    assert len(wait_for_end(start(problems, "folder=killed", agents, "retry=true"))) == 2
    (problems / "wrong.txt").write_text(COIN)  # another problem, and other records
    assert len(wait_for_end(start(problems, "folder=killed", agents), ExitCode.SUCCESS)) == 2
    corrected = [row for row in read_table(problems / "killed") if row["problem"] == "wrong.txt"]
    assert [(row["status"], row["other_outcomes"]) for row in corrected] == [("solved", "1")] * 2


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_an_interrupted_run_leaves_records_and_no_process(problems: Path, number: int, code: int) -> None:
    running = start(problems, "folder=cut", "agents=[bfs]", "problems=[coin.txt,epistemic_gossip/scaling_15]")
    next(line for line in running.stdout if " - finished " in line)
    children: list[psutil.Process] = []
    while not children:
        with suppress(psutil.NoSuchProcess):  # the process of the finished record goes as we look
            found = psutil.Process(running.pid).children(recursive=True)
            children = found if any(child.children() for child in found) else []  # the server of the processes has one
    if number == signal.SIGINT:
        os.killpg(running.pid, number)  # as a terminal does
    else:
        running.send_signal(number)
    rest = running.stdout.read()
    running.stdout.close()
    assert running.wait() == code
    assert rest.partition("error: ")[2] == (
        "interrupted: what is finished is kept in cut: start the command again to go on, "
        "or see it with `python -m search.report cut`\n"
    )
    assert [row["status"] for row in read_table(problems / "cut")] == ["solved", ""]
    gone, alive = psutil.wait_procs(children, timeout=30)
    assert (len(gone) > 0, alive) == (True, [])


def test_the_board_names_every_configuration_in_full(coin: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(get_console(), "get_time", lambda: 0.0)  # of progress bars
    labels = [f"hfs_preferred_with_some_long_name_{number}" for number in (1, 2)]
    records = [record_of(coin, {"name": "bfs", "label": label}) for label in labels]
    console = Console(file=StringIO(), width=60)
    with ProgressTable(console, records, {}):
        pass
    lines = console.file.getvalue().splitlines()
    assert max(map(len, lines)) <= 60
    assert [line for line in lines if line in labels] == labels
    assert [line.split() for line in lines if line.startswith("  ")] == [
        ["solved", "0"], ["unsolvable", "0"], ["limit", "0"], ["error", "0"], ["of", "1"],
    ] * 2 + [["0/2", "0:00:00", "left", "-:--:--"]]  # fmt: skip


def test_files_that_cannot_be_read_are_named_before_the_first_search(
    problems: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (problems / "other.txt").write_text("executable f\n")
    files = ",".join(str(problems / name) for name in ("wrong.txt", "coin.txt", "other.txt"))
    chosen = ("agents=[bfs]", f"problems=[{files}]", f"folder={problems / 'run'}")
    caplog.set_level("INFO")
    for known in (0, 3):
        caplog.clear()
        assert evaluate.evaluate(compose(Evaluate, "evaluate", *chosen)) is ExitCode.BAD_INPUT
        first, second, start, last = caplog.messages
        assert first.startswith(f"{problems / 'wrong.txt'}:1:")
        assert second.startswith(f"{problems / 'other.txt'}:1:")
        assert start.startswith(f"3 records, {known} of them finished before: ")
        assert last == f"2 of the files cannot be read, the first: {first}"
    assert [row["status"] for row in read_table(problems / "run")] == ["error", "solved", "error"]


def test_no_success_when_every_search_ended_with_an_error(
    coin: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "faulty_search.py").write_text(OWN.replace("-depths", "None"))
    monkeypatch.syspath_prepend(str(tmp_path))
    chosen = (
        "agents=[{_target_: faulty_search.Deep}]",
        "heuristics=[goal_count]",
        f"problems=[{coin}]",
        f"folder={tmp_path}",
    )
    assert evaluate.evaluate(compose(Evaluate, "evaluate", *chosen)) is ExitCode.FAILURE


def test_named_problems_have_a_folder_of_their_own(coin: str) -> None:
    folders = {chosen: compose(Evaluate, "evaluate", *chosen).folder.name for chosen in (
        (), ("suite=ipc",), (f"problems=[{coin}]",), (f"problems=[{coin}]", "name=mine", "suffix=_2"))}  # fmt: skip
    assert list(folders.values()) == ["standard", "ipc", "problems", "mine_2"]


def test_problems_are_read_as_the_settings_say(coin: str) -> None:
    for chosen in ([f"problems=[{coin}]"], ["suite.name=standard", "per_domain=1"]):
        settings = compose(Evaluate, "evaluate", *chosen, "semantics=efp", "determines=literals")
        readings = {record.problem.reading for record in evaluate.records(settings)}
        assert readings == {Reading("efp", "literals")}
    solve = compose(Solve, "solve", f"problem={coin}", "semantics=update_model", "determines=formula")
    assert solve.reading == Reading("update_model", "formula")


def test_limits_of_the_command_are_those_of_the_processes(coin: str, tmp_path: Path) -> None:
    for problem, limit in (("grapevine/5_pl_6", "memory_limit=30MiB"), (coin, "time_limit=1e-6")):
        status = limit.partition("=")[0]
        chosen = ("agents=[bfs]", f"problems=[{problem}]", f"folder={tmp_path / status}", limit)
        assert evaluate.evaluate(compose(Evaluate, "evaluate", *chosen)) is ExitCode.SUCCESS
        assert [row["status"] for row in read_table(tmp_path / status)] == [status]
    [file] = (tmp_path / "memory_limit/records/grapevine/5_pl_6").iterdir()
    assert '"memory_limit": 31457280' in file.read_text()


def test_a_suite_of_ones_own(tmp_path: Path) -> None:
    write_problem(tmp_path)
    (tmp_path / "conf" / "suite").mkdir(parents=True)
    (tmp_path / "conf" / "suite" / "coins.yaml").write_text(
        "{name: coins, folder: ., plank_compat: false, domains: "
        "{coin: {problems: coin-*.epddl, domain_file: coin.epddl, libraries: [kinds.epddl]}}}"
    )
    run = start(tmp_path, "problems=[]", "suite=coins", "hydra.searchpath=[file://conf]")
    assert len(wait_for_end(run, ExitCode.SUCCESS)) == 2
    rows = read_table(tmp_path / "outputs" / "evaluate" / "coins")
    assert [(row["configuration"], row["status"], row["plan_length"]) for row in rows] == [
        ("bfs", "solved", "2"),
        ("hfs/goal_count", "solved", "2"),
    ]
