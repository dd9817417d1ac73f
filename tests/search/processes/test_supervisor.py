"""Processes with limits enforced from outside."""

import itertools
import os
import signal
import socket
import subprocess
import sys
import threading
from contextlib import closing
from multiprocessing.context import ForkProcess, ForkServerProcess
from multiprocessing.process import BaseProcess
from pathlib import Path
from time import monotonic

import psutil
import pytest

from search.agents.result import SearchStatus
from search.processes.supervisor import Job, supervise
from tests.helpers import jobs
from tests.helpers.benchmark_files import ROOT


def test_values_come_back_and_failures_are_rows() -> None:
    calls = [
        Job("double", jobs.double, (21,)),
        Job("fail", jobs.fail, ("no such thing",)),
        Job("crash", jobs.crash, ()),
    ]
    endings = {ending.job.key: ending for ending in supervise(calls, parallel=2)}
    assert (endings["double"].value, endings["double"].failure) == (42, None)
    assert endings["fail"].failure is SearchStatus.ERROR
    assert endings["fail"].message == "ValueError: no such thing"
    assert "in fail" in endings["fail"].detail
    assert endings["crash"].failure is SearchStatus.ERROR
    assert endings["crash"].message == "the process died with exit code -11"


@pytest.mark.parametrize("copies", [False, True])
def test_copies_start_from_this_process_and_others_from_a_server(copies: bool) -> None:
    [ending] = supervise([Job("parent", os.getppid, ())], parallel=1, copies=copies)
    assert (ending.value == os.getpid()) is copies


def test_no_more_processes_at_a_time_than_allowed() -> None:
    calls = [Job(index, jobs.span, ()) for index in range(4)]
    spans = sorted(ending.value for ending in supervise(calls, parallel=1))
    assert all(end <= start for (_, end), (start, _) in itertools.pairwise(spans))


def test_a_process_past_its_wall_clock_limit_is_killed(tmp_path: Path) -> None:
    started, limit = tmp_path / "started", 0.5
    started.touch()
    while not started.read_text():  # on a busy machine it is killed before it has begun
        limit *= 2
        start = monotonic()
        [ending] = supervise([Job(0, jobs.wait_forever, (str(started),))], parallel=1, wall_limit=limit)
        assert ending.failure is SearchStatus.TIME_LIMIT
        assert monotonic() >= start + limit
    assert not psutil.pid_exists(int(started.read_text()))


def test_a_process_that_dies_while_it_sends_is_a_failure() -> None:
    [ending] = supervise([Job(0, jobs.die_while_sending, ())], parallel=1)
    assert ending.failure is SearchStatus.ERROR
    assert ending.message == "the process died with exit code -9"


def test_memory_is_limited_from_outside() -> None:
    [ending] = supervise([Job("fill", jobs.fill_memory, (1 << 29,))], parallel=1, memory_limit=1 << 28)
    assert ending.failure is SearchStatus.MEMORY_LIMIT
    assert ending.peak_bytes >= 1 << 28


def test_the_cpu_time_of_children_counts() -> None:
    job = Job("burn", jobs.burn_then_fill_memory, (0.3, 1 << 29))
    [ending] = supervise([job], parallel=1, memory_limit=1 << 28)
    assert ending.failure is SearchStatus.MEMORY_LIMIT
    assert ending.cpu_seconds >= 0.3


def test_closing_kills_what_still_runs(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "started")
    calls = [Job("waits", jobs.wait_forever, (str(tmp_path / "started"),)), Job("returns", jobs.double, (1,))]
    found: list[int] = []
    with closing(supervise(calls, parallel=2)) as endings:
        reader = threading.Thread(target=lambda: found.append(int((tmp_path / "started").read_text())))
        reader.start()
        assert next(endings).job.key == "returns"
        reader.join()
        assert psutil.pid_exists(found[0])
    assert not psutil.pid_exists(found[0])


PARENT = """
import sys
sys.path.insert(0, {folder!r})
from tests.helpers import jobs
from tests.helpers.benchmark_files import ROOT
from search.processes.supervisor import Job, supervise
if __name__ == "__main__":
    for ending in supervise([Job("waits", jobs.wait_forever, ({fifo!r},))], parallel=1):
        pass
"""


def test_processes_die_with_their_parent_even_when_it_is_killed(tmp_path: Path) -> None:
    fifo = tmp_path / "started"
    os.mkfifo(fifo)
    script = tmp_path / "parent.py"
    script.write_text(PARENT.format(folder=str(ROOT), fifo=str(fifo)))
    parent = subprocess.Popen([sys.executable, str(script)])
    child = psutil.Process(int(fifo.read_text()))
    parent.kill()
    parent.wait()
    child.wait(timeout=30)
    assert not child.is_running()


SERVED = """
from tests.helpers import jobs
from search.processes.supervisor import Job, supervise
if __name__ == "__main__":
    for ending in supervise([Job("double", jobs.double, (21,))], parallel=1, preload=["interrupted"]):
        print(ending.value)
"""


def test_ctrl_c_does_not_reach_the_server_of_processes_while_it_imports(tmp_path: Path) -> None:
    (tmp_path / "interrupted.py").write_text("import os, signal\nos.kill(os.getpid(), signal.SIGINT)\n")
    (tmp_path / "served.py").write_text(SERVED)
    done = subprocess.run(
        [sys.executable, "served.py"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": f"{tmp_path}:{ROOT}"},
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "42\n", "")


@pytest.mark.parametrize("copies", [False, True])
def test_signals_wait_until_a_process_has_received_its_job(copies: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another thread, such as that of a progress bar, receives the signal, which the starting thread cannot block."""
    kind = ForkProcess if copies else ForkServerProcess
    begin = kind.start
    over, started = threading.Event(), []
    other = threading.Thread(target=over.wait)
    other.start()
    heard, told = socket.socketpair()
    told.setblocking(False)
    before = signal.set_wakeup_fd(told.fileno())

    def start(process: BaseProcess) -> None:
        assert other.ident is not None
        signal.pthread_kill(other.ident, signal.SIGINT)
        heard.recv(1)
        begin(process)
        started.append(process)

    monkeypatch.setattr(kind, "start", start, raising=False)
    try:
        with pytest.raises(KeyboardInterrupt):
            list(supervise([Job("double", jobs.double, (21,))], parallel=1, copies=copies))
    finally:
        signal.set_wakeup_fd(before)
        over.set()
        other.join()
        heard.close()
        told.close()
    [process] = started
    process.join(30)
    assert process.exitcode in (0, -signal.SIGKILL)
