"""The runner: the grid, the cells it keeps, and going on after it was killed."""

from __future__ import annotations

import csv
import json
import os
import signal
import subprocess
import sys
from dataclasses import asdict, replace
from pathlib import Path

import psutil
import pytest

from epigym.errors import EpigymError, ProblemWarning
from epigym.problem import Reading, load_problem
from epigym.reference import Validation
from search.agents.limits import peak_bytes
from search.agents.result import SearchStatus
from search.evaluation import grid
from search.evaluation.grid import MEASURED, Cell, shard, write_table
from search.evaluation.running import configurations_of
from search.evaluation.suites import EpddlFiles
from search.planning import planner
from search.planning.configuration import Configuration
from search.planning.processes import Ending, Job
from tests.helpers.epddl_problem import PLANS, PROBLEM, write_problem
from tests.helpers.tasks import COIN, COUNTER

BFS = Configuration.of("bfs")


@pytest.fixture
def cell(tmp_path: Path) -> Cell:
    (tmp_path / "coin.txt").write_text(COIN)
    return Cell(str(tmp_path / "coin.txt"), BFS, "default", None, 60.0, 1 << 30)


def test_informed_agents_meet_every_heuristic_and_blind_ones_none() -> None:
    found = configurations_of(["bfs", "hfs", {"name": "wa_star", "weight": 5}], ["open_goals", "l_pg"])
    labels = [configuration.label for configuration in found]
    assert labels == ["bfs", "hfs/open_goals", "hfs/l_pg", "wa_star/open_goals", "wa_star/l_pg"]
    assert found[3].agent == {"name": "wa_star", "weight": 5, "expansions_per_batch": 1}


def test_labels_tell_settings_apart() -> None:
    twice = [{"name": "wa_star", "weight": 2}, {"name": "wa_star", "weight": 5}]
    with pytest.raises(EpigymError, match="two configurations are called 'wa_star/l_pg'; give one of them a label"):
        configurations_of(twice, ["l_pg"])
    twice[1]["label"] = "wa5"
    assert [configuration.label for configuration in configurations_of(twice, ["l_pg"])] == ["wa_star/l_pg", "wa5/l_pg"]
    assert configurations_of(twice, ["l_pg"])[1].make_agent().name == "wa_star"


def test_shards_are_a_partition(cell: Cell) -> None:
    cells = [replace(cell, max_expanded=number) for number in range(7)]
    parts = [shard(cells, f"{number}/3") for number in range(3)]
    assert sorted(len(part) for part in parts) == [2, 2, 3]
    assert sorted(c.max_expanded for part in parts for c in part) == list(range(7))
    assert shard(cells, None) == cells
    for wrong in ("3/3", "1", "a/b"):
        with pytest.raises(EpigymError, match="must be written i/n"):
            shard(cells, wrong)


def test_a_cell_is_kept_until_something_about_it_changes(cell: Cell, tmp_path: Path) -> None:
    assert cell.read(tmp_path) is None
    result = cell.search()
    assert result.status is SearchStatus.SOLVED
    cell.write(tmp_path, result)
    assert cell.read(tmp_path) == result
    assert replace(cell, time_limit=61.0).read(tmp_path) is None
    assert replace(cell, semantics="efp").read(tmp_path) is None
    cell.file(tmp_path).write_text(cell.file(tmp_path).read_text()[:100])
    assert cell.read(tmp_path) is None


@pytest.fixture
def epddl_cell(tmp_path: Path) -> Cell:
    written = write_problem(tmp_path, PROBLEM.replace(":modal-goals", ":modal-goals :equality"))  # which warns
    files = EpddlFiles(str(written.problem), str(written.domain), (str(written.library),), plank_compat=False)
    return Cell("easy/coin/coin-1", BFS, "default", None, 60.0, 1 << 30, files)


@pytest.mark.filterwarnings("error::epigym.errors.ProblemWarning")
def test_a_cell_of_epddl_files(epddl_cell: Cell, tmp_path: Path) -> None:
    files = asdict(epddl_cell.files)
    problem, reading = files.pop("problem"), Reading(**files)
    with pytest.raises(ProblemWarning, match=":equality"):
        load_problem(problem, reading)
    result = epddl_cell.search()
    assert (result.status, list(result.plan)) == (SearchStatus.SOLVED, PLANS[0])
    assert (result.actions, result.fluents, result.initial_worlds) == (6, 2, 2)
    assert result.load_seconds > 0
    epddl_cell.write(tmp_path, result)
    assert epddl_cell.read(tmp_path) == result
    assert replace(epddl_cell, files=replace(epddl_cell.files, plank_compat=True)).read(tmp_path) is None
    row = epddl_cell.row(result)
    assert (row["domain"], row["problem"]) == ("easy/coin", "easy/coin/coin-1")
    assert (row["actions"], row["fluents"], row["initial_worlds"]) == ("6", "2", "2")


def test_reading_and_grounding_count_within_the_limits(epddl_cell: Cell, monkeypatch: pytest.MonkeyPatch) -> None:
    times = iter([100.0, 170.0])
    monkeypatch.setattr(grid, "perf_counter", lambda: next(times))
    result = epddl_cell.search()
    assert (result.status, result.expanded, result.load_seconds) == (SearchStatus.TIME_LIMIT, 0, 70.0)
    assert result.actions == 6
    tight = replace(epddl_cell, memory_limit=peak_bytes() // 2)
    monkeypatch.undo()
    assert tight.search().status is SearchStatus.MEMORY_LIMIT


def test_peak_memory_is_that_of_all_processes(cell: Cell) -> None:
    result = cell.search()
    for outside, peak in ((result.peak_bytes * 3, result.peak_bytes * 3), (1, result.peak_bytes)):
        ending = Ending(Job(0, cell.search, ()), result, None, "", "", 1.0, outside)
        assert cell.outcome(ending) == replace(result, peak_bytes=peak)


@pytest.mark.parametrize("failure", [SearchStatus.ERROR, SearchStatus.TIME_LIMIT, SearchStatus.MEMORY_LIMIT])
def test_a_process_that_fails_is_a_row(cell: Cell, tmp_path: Path, failure: SearchStatus) -> None:
    ending = Ending(Job(0, cell.search, ()), None, failure, "it failed", "Traceback …", 3.5, 1 << 20)
    cell.write(tmp_path, cell.outcome(ending), ending.detail)
    write_table(tmp_path, [cell])
    [row] = read_table(tmp_path)
    assert (row["status"], row["message"]) == (str(failure), "it failed")
    assert (row["search_seconds"], row["peak_bytes"]) == ("3.500000", str(1 << 20))
    assert (row["plan_length"], row["expanded"]) == ("", "")


def test_a_plan_that_is_not_valid_is_never_solved(cell: Cell, monkeypatch: pytest.MonkeyPatch) -> None:
    verdict = Validation(valid=False, step=2, reason="step 2: no", collapsed=())
    monkeypatch.setattr(planner, "validate", lambda task, plan: verdict)
    result = cell.search()
    assert result.status is SearchStatus.ERROR
    assert result.message == "bfs returned a plan that is not valid: step 2: no"


def test_counts_that_depend_on_the_clock_stay_out_of_the_table(cell: Cell) -> None:
    result = cell.search()
    for status, expanded in (("solved", "3"), ("expansion_limit", "3"), ("time_limit", ""), ("memory_limit", "")):
        row = cell.row(replace(result, status=SearchStatus(status), expanded=3))
        assert row["expanded"] == expanded


def read_table(folder: Path) -> list[dict[str, str]]:
    with (folder / "results.csv").open(newline="") as file:
        return list(csv.DictReader(file))


def unmeasured(folder: Path) -> list[dict[str, str]]:
    return [{name: row[name] for name in row if name not in MEASURED} for row in read_table(folder)]


def start(folder: Path, *arguments: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "search.evaluate", "agents=[bfs,hfs]", "heuristics=[open_goals]"]
    problems = "problems=[coin.txt,counter.txt,wrong.txt,hopeless.txt,coin_in_the_box/pl_6]"
    return subprocess.Popen(
        [*command, problems, "memory_limit=2GiB", "hydra.verbose=search.evaluate", *arguments],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
        text=True,
    )


def finished(process: subprocess.Popen[str]) -> list[str]:
    """Wait for the end of a runner; the cells that it did."""
    output, _ = process.communicate()
    assert process.returncode == 0, output
    return [line.partition(" - finished ")[2] for line in output.splitlines() if " - finished " in line]


@pytest.fixture
def problems(tmp_path: Path) -> Path:
    (tmp_path / "coin.txt").write_text(COIN)
    (tmp_path / "counter.txt").write_text(COUNTER)
    (tmp_path / "wrong.txt").write_text("fluent p")
    (tmp_path / "hopeless.txt").write_text(COIN.replace("executable shout if B(a, tail)", "executable shout if -tail"))
    return tmp_path


def test_a_killed_run_goes_on_and_ends_with_the_same_table(problems: Path) -> None:
    killed = start(problems, "folder=killed")
    assert killed.stdout is not None
    before = []
    for line in killed.stdout:
        if " - finished " in line:
            before.append(line.partition(" - finished ")[2].strip())
        if len(before) == 3:
            break
    assert len(before) == 3
    killed.kill()
    killed.wait()
    killed.stdout.close()
    kept = {file: file.read_bytes() for file in problems.glob("killed/cells/**/*.json")}
    assert 3 <= len(kept) < 10

    rest = finished(start(problems, "folder=killed"))
    assert len(rest) == 10 - len(kept)
    assert not set(rest) & set(before)
    assert all(file.read_bytes() == content for file, content in kept.items())

    whole = finished(start(problems, "folder=whole", "parallel=2"))
    assert len(whole) == 10
    assert unmeasured(problems / "killed") == unmeasured(problems / "whole")
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
    assert not list(problems.glob("*/cells/**/.*"))

    (problems / "wrong.txt").write_text(COIN)
    assert finished(start(problems, "folder=killed")) == []
    assert len(finished(start(problems, "folder=killed", "retry=true"))) == 2
    assert {row["status"] for row in read_table(problems / "killed") if row["problem"] == "wrong.txt"} == {"solved"}


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_run_says_what_is_kept_and_leaves_no_process_behind(problems: Path, number: int) -> None:
    running = start(problems, "folder=cut", "agents=[bfs]", "problems=[coin.txt,epistemic_gossip/scaling_15]")
    assert running.stdout is not None
    next(line for line in running.stdout if " - finished " in line)
    children: list[psutil.Process] = []
    while not any(child.children() for child in children):  # the server of the processes has one
        children = psutil.Process(running.pid).children(recursive=True)
    if number == signal.SIGINT:
        os.killpg(running.pid, number)  # as a terminal does
    else:
        running.send_signal(number)
    rest = running.stdout.read()
    running.stdout.close()
    assert running.wait() == 130
    assert rest.partition("error: ")[2] == (
        "interrupted: what is finished is kept in cut: start the command again to go on, "
        "or see it with `python -m search.report cut`\n"
    )
    assert "Traceback" not in rest
    gone, alive = psutil.wait_procs(children, timeout=30)
    assert (len(gone) > 0, alive) == (True, [])


def test_limits_are_rows_too(problems: Path) -> None:
    finished(start(problems, "folder=m", "memory_limit=30MiB", "problems=[grapevine/5_pl_6]", "agents=[bfs]"))
    finished(start(problems, "folder=t", "time_limit=0", "problems=[coin.txt]", "agents=[bfs]"))
    assert [row["status"] for row in read_table(problems / "m")] == ["memory_limit"]
    assert [row["status"] for row in read_table(problems / "t")] == ["time_limit"]
    cell = json.loads((problems / "m/cells/grapevine/5_pl_6/bfs.json").read_text())["cell"]
    assert cell["memory_limit"] == 30 * 2**20


def test_a_suite_of_epddl_files(tmp_path: Path) -> None:
    write_problem(tmp_path)
    (tmp_path / "conf" / "suite").mkdir(parents=True)
    (tmp_path / "conf" / "suite" / "coins.yaml").write_text(
        "{name: coins, folder: ., plank_compat: false, domains: "
        "{coin: {problems: coin-*.epddl, domain_file: coin.epddl, libraries: [kinds.epddl]}}}"
    )
    chosen = ("problems=[]", "suite=coins", "hydra.searchpath=[file://conf]")
    assert len(finished(start(tmp_path, *chosen))) == 2
    rows = read_table(tmp_path / "outputs" / "evaluate" / "coins")
    assert [(row["configuration"], row["status"], row["plan_length"]) for row in rows] == [
        ("bfs", "solved", "2"),
        ("hfs/open_goals", "solved", "2"),
    ]
    assert finished(start(tmp_path, *chosen)) == []
    assert len(finished(start(tmp_path, *chosen, "suite.plank_compat=true"))) == 2
    missing = start(tmp_path, *chosen, "suite.folder=gone")
    output, _ = missing.communicate()
    assert missing.returncode == 65
    assert "suite coins: gone does not exist; set suite.folder" in output
