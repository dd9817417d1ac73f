"""Two commands do not write into one folder at once; a lock leaves nothing behind."""

import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from epigym.errors import UsageError
from epigym.io.locking import LOCK, locking

HOLD = """
import sys
from pathlib import Path
from epigym.io.locking import locking

with locking(Path(sys.argv[1])):
    print("locked", flush=True)
    sys.stdin.read()
"""
Hold = Callable[[Path], "subprocess.Popen[str]"]


@pytest.fixture
def hold() -> Iterator[Hold]:
    """Starts a process that locks a folder until its standard input ends."""
    started: list[subprocess.Popen[str]] = []

    def start(folder: Path) -> "subprocess.Popen[str]":
        process = subprocess.Popen(
            [sys.executable, "-c", HOLD, str(folder)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        started.append(process)
        assert process.stdout is not None
        assert process.stdout.readline() == "locked\n"
        return process

    yield start
    for process in started:
        process.communicate()


def test_a_second_process_is_refused_in_one_line(hold: Hold, tmp_path: Path) -> None:
    folder = tmp_path / "new" / "run"
    first = hold(folder)
    with pytest.raises(UsageError) as caught, locking(folder):
        pytest.fail("two processes hold the lock")
    assert str(caught.value) == (
        f"run_dir={folder}: another command is running there: wait for its end, or name another"
    )
    with locking(tmp_path / "other"):
        pass
    first.communicate()
    assert first.returncode == 0
    assert list(tmp_path.iterdir()) == []
    with locking(folder):
        assert (folder / LOCK).exists()


def test_a_killed_process_leaves_no_lock(hold: Hold, tmp_path: Path) -> None:
    first = hold(tmp_path / "run")
    first.send_signal(signal.SIGKILL)
    first.communicate()
    assert (tmp_path / "run" / LOCK).exists()
    with locking(tmp_path / "run"):
        pass
    assert list((tmp_path / "run").iterdir()) == []


def test_what_was_there_or_was_written_stays(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with locking(tmp_path / "empty"):
        pass
    with locking(tmp_path / "run" / "one"):
        (tmp_path / "run" / "one" / "result").touch()
    with pytest.raises(KeyError), locking(tmp_path / "failed"):
        raise KeyError
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["empty", "one", "result", "run"]


@pytest.mark.parametrize("name", ["RANK", "LOCAL_RANK", "SLURM_PROCID"])
def test_the_processes_of_a_distributed_training_share_a_folder(
    hold: Hold, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    hold(tmp_path)
    monkeypatch.setenv(name, "1")
    with locking(tmp_path):
        pass
    monkeypatch.setenv(name, "0")
    with pytest.raises(UsageError), locking(tmp_path):
        pass
