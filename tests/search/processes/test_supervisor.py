"""Processes with limits enforced from outside start from any process, without counting their start."""

import itertools
import multiprocessing
import os
import re
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import closing
from multiprocessing.context import ForkProcess, ForkServerProcess
from multiprocessing.process import BaseProcess
from pathlib import Path
from time import monotonic

import psutil
import pytest

from search.agents.result import SearchStatus
from search.processes import starting, supervisor
from search.processes.supervisor import Job, JobResult, supervise, watch
from tests.helpers import jobs
from tests.helpers.benchmark_files import ROOT
from tests.helpers.clocks import Clock
from tests.helpers.marks import slow_but


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


def test_limits_from_outside() -> None:
    [ending] = supervise([Job("fill", jobs.fill_memory, (1 << 29,))], parallel=1, memory_limit=1 << 28)
    assert ending.failure is SearchStatus.MEMORY_LIMIT
    assert ending.peak_bytes >= 1 << 28
    job = Job("burn", jobs.burn_then_fill_memory, (0.6, 1 << 29))  # more than below: clocks of the kernel differ
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
    assert [ending.value for ending in supervise([Job("first", len, ("",))], parallel=1)] == [0]  # there is a server
    kind = ForkProcess if copies else ForkServerProcess
    begin = kind.start
    over, started = threading.Event(), []
    other = threading.Thread(target=over.wait)
    other.start()
    heard, told = socket.socketpair()
    told.setblocking(False)
    before = signal.set_wakeup_fd(told.fileno())

    def start(process: BaseProcess) -> None:
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


def test_the_named_tests_of_races_exist() -> None:
    named = re.findall(r"`(test_\w+)`", str(supervisor.__doc__))
    assert len(named) == 9
    assert [name for name in named if name not in globals()] == []


@pytest.mark.parametrize("copies", [False, True])
def test_a_signal_right_after_the_start_kills_the_process(
    copies: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert [ending.value for ending in supervise([Job("first", len, ("",))], parallel=1)] == [0]  # there is a server
    kind = ForkProcess if copies else ForkServerProcess
    begin, started = kind.start, []

    def start(process: BaseProcess) -> None:
        begin(process)
        started.append(process)
        signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(kind, "start", start, raising=False)
    job = Job("waits", jobs.wait_forever, (str(tmp_path / "started"),))
    with pytest.raises(KeyboardInterrupt):
        list(supervise([job], parallel=1, copies=copies))
    [process] = started
    try:
        process.join(30)
        assert process.exitcode == -signal.SIGKILL
    finally:
        process.kill()


class Lock:
    """Calls a function when a thread has to wait for the lock."""

    def __init__(self, on_wait: Callable[[], None]) -> None:
        self._lock, self._on_wait = threading.RLock(), on_wait

    def __enter__(self) -> None:
        if not self._lock.acquire(blocking=False):
            self._on_wait()
            self._lock.acquire()

    def __exit__(self, *_: object) -> None:
        self._lock.release()


def test_threads_start_processes_one_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first start goes on once the second thread waits for it, or has started a process meanwhile."""
    assert [ending.value for ending in supervise([Job("first", len, ("",))], parallel=1)] == [0]  # there is a server
    begin, is_starting, other_came = ForkServerProcess.start, threading.Event(), threading.Event()
    overlaps = []

    def start(process: BaseProcess) -> None:
        overlaps.append(is_starting.is_set())
        is_starting.set()
        if len(overlaps) == 1:
            other_came.wait(30)
        other_came.set()
        begin(process)
        is_starting.clear()

    monkeypatch.setattr(ForkServerProcess, "start", start, raising=False)
    monkeypatch.setattr(starting, "_STARTING", Lock(lambda: is_starting.is_set() and other_came.set()))
    values: list[int] = []

    def run_job(number: int) -> None:
        values.extend(ending.value for ending in supervise([Job(number, jobs.double, (number,))], parallel=1))

    threads = [threading.Thread(target=run_job, args=(number,)) for number in (1, 2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(values) == [2, 4]
    assert overlaps == [False, False]


def test_a_result_sent_in_time_counts_though_it_is_received_late(monkeypatch: pytest.MonkeyPatch) -> None:
    """The supervisor looks at the process when it has ended and its time limit is long over."""
    before = {child.pid for child in multiprocessing.active_children()}
    with closing(watch([Job("double", jobs.double, (21,), time_limit=60.0)], parallel=1, copies=True)) as endings:
        assert next(endings) is None
        for child in multiprocessing.active_children():
            if child.pid not in before:
                child.join()
        Clock(monkeypatch).ahead = 1000.0
        ending = next(each for each in endings if isinstance(each, JobResult))
    assert (ending.value, ending.failure) == (42, None)


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


def test_the_time_limit_begins_with_the_call(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Unpickling the argument takes longer than the time limit."""
    pipe, limit = tmp_path / "pipe", 100.0
    os.mkfifo(pipe)
    assert [ending.value for ending in supervise([Job("first", len, ("",))], parallel=1)] == [0]  # there is a server
    monkeypatch.setattr(starting, "START_SECONDS", 10 * limit)
    job = Job("late", len, (jobs.Awaited(str(pipe)),), time_limit=limit)
    clock = Clock(monkeypatch)
    with closing(watch([job], parallel=1)) as received:
        clock.ahead = -5 * limit
        assert next(received) is None  # the process has started
        clock.ahead = 0.0
        assert next(received) is None  # its limits have been checked
        pipe.write_text("late")
        *_, ending = received
    assert isinstance(ending, JobResult)
    assert (ending.failure, ending.value) == (None, 4)
    assert ending.seconds < limit  # of the call


def test_a_process_that_does_not_start_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    os.mkfifo(tmp_path / "pipe")
    assert [ending.value for ending in supervise([Job("first", len, ("",))], parallel=1)] == [0]
    job = Job("late", len, (jobs.Awaited(str(tmp_path / "pipe")),))
    [ending] = supervise([job], parallel=1, wall_limit=0.3)
    assert ending.failure is SearchStatus.TIME_LIMIT
    monkeypatch.setattr(starting, "START_SECONDS", 0.3)
    [ending] = supervise([job], parallel=1)
    assert (ending.failure, ending.detail) == (SearchStatus.ERROR, "")
    assert ending.message == "the process did not start within 0.3 s: the machine may be too busy"


SLOW = """
from pathlib import Path
from time import monotonic
from epigym.errors import EpigymError
from search.processes import starting, supervisor
from tests.helpers import jobs
starting.START_SECONDS, ahead = {bound}, -500.0
starting.monotonic = supervisor.monotonic = lambda: monotonic() + ahead
try:
    job = supervisor.Job("double", jobs.double, (21,), time_limit=100.0)
    for waits, each in enumerate(supervisor.watch([job], parallel=1, preload=["slow"])):
        if waits == 0:
            ahead = 0.0  # 500 s later
        if waits == 1:
            Path("pipe").write_text("")
    print(each.value)
except EpigymError as error:
    print(error)
"""


@pytest.mark.parametrize(
    ("bound", "printed"),
    [(1000.0, "42"), (400.0, "the fork server did not start within 400 s: the machine may be too busy")],
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


@pytest.mark.parametrize("from_file", slow_but([True, False], True))
@pytest.mark.parametrize(
    "place", slow_but(["", "threads", "torch", "daemon", "daemon threads", "daemon served torch"], "", "daemon")
)
def test_limits_hold_in_any_process(place: str, from_file: bool, tmp_path: Path) -> None:
    """Separate processes do not run the main script again."""
    switches = {name: name in place.split() for name in ("threads", "torch", "daemon", "served")}
    done = run(SEARCHES.format(**switches), tmp_path, from_file=from_file)
    assert (done.returncode, done.stdout) == (0, "begun\nsolved time_limit memory_limit\n"), done.stderr
