"""Processes start from any process, and their start does not count for their time limits."""

import os
import subprocess
import sys
from pathlib import Path
from time import monotonic

import pytest

from search.agents.result import SearchStatus
from search.processes import supervisor
from search.processes.supervisor import GRACE_SECONDS, Job, JobResult, supervise, watch
from tests.helpers import jobs
from tests.helpers.benchmark_files import ROOT


def run(script: str, folder: Path, *, from_file: bool = True) -> subprocess.CompletedProcess[str]:
    """Run a script without `if __name__ == "__main__"`."""
    (folder / "script.py").write_text(script)
    return subprocess.run(
        [sys.executable, "script.py" if from_file else "-"],
        input=script,
        cwd=folder,
        env={**os.environ, "PYTHONPATH": f"{folder}:{ROOT}"},
        capture_output=True,
        text=True,
        timeout=300,
    )


def test_the_time_limit_begins_with_the_call(tmp_path: Path) -> None:
    """Unpickling the argument takes longer than the time limit."""
    pipe, limit = tmp_path / "pipe", 0.5
    os.mkfifo(pipe)
    assert [ending.value for ending in supervise([Job("first", len, ("",))], parallel=1)] == [0]  # there is a server
    job = Job("late", len, (jobs.Awaited(str(pipe)),), time_limit=limit)
    start = monotonic()
    for each in watch([job], parallel=1):
        if monotonic() > start + limit + 2 * GRACE_SECONDS and each is None:
            pipe.write_text("late")
            start = float("inf")
    assert isinstance(each, JobResult)
    assert (each.failure, each.value) == (None, 4)
    assert each.seconds < limit + GRACE_SECONDS  # of the call


def test_a_process_that_does_not_start_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    os.mkfifo(tmp_path / "pipe")
    assert [ending.value for ending in supervise([Job("first", len, ("",))], parallel=1)] == [0]
    job = Job("late", len, (jobs.Awaited(str(tmp_path / "pipe")),))
    [ending] = supervise([job], parallel=1, wall_limit=0.3)
    assert ending.failure is SearchStatus.TIME_LIMIT
    monkeypatch.setattr(supervisor, "START_SECONDS", 0.3)
    [ending] = supervise([job], parallel=1)
    assert (ending.failure, ending.detail) == (SearchStatus.ERROR, "")
    assert ending.message == "the process did not start within 0.3 s: the machine may be too busy"


SLOW = """
from pathlib import Path
from epigym.errors import EpigymError
from search.processes import supervisor
from tests.helpers import jobs
supervisor.START_SECONDS = {bound}
waits = 0
try:
    job = supervisor.Job("double", jobs.double, (21,), time_limit=0.5)
    for each in supervisor.watch([job], parallel=1, preload=["slow"]):
        waits += each is None
        if waits == 10 and {bound} > 1:
            Path("pipe").write_text("")
    print(each.value)
except EpigymError as error:
    print(error)
"""


@pytest.mark.parametrize(
    ("bound", "printed"),
    [(60.0, "42"), (0.5, "the fork server did not start within 0.5 s: the machine may be too busy")],
)
def test_the_server_of_processes_has_its_own_time_to_start(bound: float, printed: str, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "slow.py").write_text("open('pipe').read()")
    done = run(SLOW.format(bound=bound), tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, f"{printed}\n", "")


SEARCHES = """
import multiprocessing, sys, threading
from search.agents.limits import Limits
from search.planning.configuration import Configuration
from search.planning.options import SearchOptions
from search.planning.planner import find_plan
from search.processes.supervisor import Job, supervise
from tests.helpers.tasks import coin

def statuses():
    if {threads}:
        threading.Thread(target=threading.Event().wait, daemon=True).start()
    if {torch}:
        sys.modules["torch"] = threading
    deaf = {{"_target_": "tests.helpers.stuck.Deaf", "started": "started"}}
    return [
        str(find_plan(coin(), Configuration.of(agent), SearchOptions(limits)).status)
        for agent, limits in (
            ("bfs", Limits(time_limit=60.0)),
            (deaf, Limits(time_limit=0.1)),
            ({{**deaf, "fills": 1}}, Limits(time_limit=None, memory_limit=1 << 28)),
        )
    ]

print("begun")
if {daemon}:
    if {served}:
        list(supervise([Job("first", len, ("",))], parallel=1))
    with multiprocessing.get_context("fork").Pool(1) as pool:
        print(*pool.apply(statuses))
else:
    print(*statuses())
"""


@pytest.mark.parametrize("from_file", [True, False])
@pytest.mark.parametrize("place", ["", "threads", "torch", "daemon", "daemon threads", "daemon served torch"])
def test_limits_hold_in_any_process(place: str, from_file: bool, tmp_path: Path) -> None:
    """Separate processes do not run the main script again."""
    switches = {name: name in place.split() for name in ("threads", "torch", "daemon", "served")}
    done = run(SEARCHES.format(**switches), tmp_path, from_file=from_file)
    assert (done.returncode, done.stdout) == (0, "begun\nsolved time_limit memory_limit\n"), done.stderr
