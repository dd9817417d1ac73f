"""Progress of long stages: lines of the log where there is no terminal, a bar where there is one."""

import io
import logging
import os
import threading
from collections.abc import Callable, Iterator
from types import SimpleNamespace

import pytest
import rich
from rich.console import Console

from epigym.io import progress
from epigym.io.progress import Stage, track

NAME = progress.logger.name


class Lines(logging.Handler):
    """Keeps the lines of stages."""

    def __init__(self) -> None:
        super().__init__()
        self.texts: list[str] = []
        self._written = threading.Semaphore(0)

    def emit(self, record: logging.LogRecord) -> None:
        self.texts.append(record.getMessage())
        self._written.release()

    def wait(self) -> str:
        """The second line from now on: the first one may have been begun before."""
        self._written = threading.Semaphore(0)
        for _ in range(2):
            assert self._written.acquire(timeout=60), "no line is written"
        return self.texts[-1]


@pytest.fixture(autouse=True)
def no_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rich, "get_console", lambda: Console(file=io.StringIO()))


@pytest.fixture
def lines(monkeypatch: pytest.MonkeyPatch) -> Iterator[Lines]:
    """The lines of stages that are written every millisecond, while the clock stands still."""
    monkeypatch.setattr(progress, "INTERVAL", 1e-3)
    monkeypatch.setattr(progress, "time", SimpleNamespace(monotonic=lambda: 0.0))
    handler, level = Lines(), progress.logger.level
    progress.logger.addHandler(handler)
    progress.logger.setLevel(logging.INFO)
    yield handler
    progress.logger.removeHandler(handler)
    progress.logger.setLevel(level)


@pytest.fixture
def draw(monkeypatch: pytest.MonkeyPatch) -> Callable[[], str]:
    """What a terminal shows, with all that was there before."""
    file = io.StringIO()
    monkeypatch.setattr(rich, "get_console", lambda: Console(file=file, force_terminal=True, width=100))
    return file.getvalue


def count_threads() -> int:
    """The number of threads that write lines."""
    targets = (getattr(thread, "_target", None) for thread in threading.enumerate())
    return sum(getattr(target, "__func__", None) is Stage._write_lines for target in targets)


def test_an_item_that_takes_long_writes_lines(lines: Lines) -> None:
    seen = [lines.wait() for _ in track(["a", "b", "c"], "comparing")]
    assert seen == [f"comparing: {done} of 3 problems; 0 s" for done in range(3)]


def test_half_a_minute_is_the_time_between_two_lines_and_shorter_stages_write_none(
    caplog: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    waited: list[float | None] = []

    class Event(threading.Event):
        def wait(self, timeout: float | None = None) -> bool:
            waited.append(timeout)
            return super().wait(timeout)

    monkeypatch.setattr(progress.threading, "Event", Event)
    with caplog.at_level(logging.INFO), Stage("training", 1, stays=True) as stage:
        stage.update(1, "step 1")
    assert progress.INTERVAL == 30 in waited
    assert (caplog.text, *capsys.readouterr()) == ("", "", "")


def test_a_stage_within_another_shares_its_line(lines: Lines) -> None:
    with Stage("training", 2) as stage:
        stage.update(1, "epoch 1 of 2")
        for _ in track(iter("ab"), "asking", "questions", total=2):
            both = lines.wait()
        alone = lines.wait()
    assert both == "training: epoch 1 of 2; asking: 1 of 2 questions; 0 s"
    assert alone == "training: epoch 1 of 2; 0 s"


@pytest.mark.usefixtures("lines")
def test_errors_end_the_lines() -> None:
    before = count_threads()
    items = track(range(3), "left open")

    def fail() -> None:
        with Stage("training", 1):
            assert count_threads() == before + 1
            next(items)
            raise ValueError("wrong")

    with pytest.raises(ValueError, match="wrong"):
        fail()
    assert count_threads() == before
    assert not progress._open, "the inner one ends with the outer one"
    items.close()
    for _ in track(range(3), "broken off"):
        break
    assert count_threads() == before


@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded")
def test_a_copy_of_the_process_shows_its_own_stages_only(lines: Lines) -> None:
    with Stage("training", 1) as stage:
        child = os.fork()
        if not child:  # no assertion, no exception: this process ends here
            stage.__exit__()
            stages = [lines.wait() for _ in track("a", "comparing")]
            os._exit(0 if stages == ["comparing: 0 of 1 problems; 0 s"] else 1)
        assert os.waitpid(child, 0)[1] == 0
        assert lines.wait().startswith("training")


def test_a_closed_pipe_ends_the_lines_without_a_traceback(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    tried = threading.Event()

    def fail(*_: object) -> None:
        tried.set()
        raise BrokenPipeError

    monkeypatch.setattr(progress, "INTERVAL", 1e-3)
    monkeypatch.setattr(progress.logger, "info", fail)
    with Stage("training", 1):
        assert tried.wait(60)
    assert capsys.readouterr().err == ""


def test_a_terminal_shows_bars(draw: Callable[[], str], lines: Lines) -> None:
    with Stage("exploring", 2, stays=True) as stage:
        for _ in track("ab", "validating [all]"):
            stage.update(1, "1 of 2 problems, 13 e-states")
        stage.update(2, "2 of 2 problems, 20 e-states")
    earlier, _, last = draw().rpartition("exploring")
    assert "validating [all]" in earlier
    assert "validating" not in last
    assert "2 of 2 problems, 20 e-states" in last
    assert not lines.texts
    for thread in threading.enumerate():
        if type(thread).__module__ == "rich.live":
            thread.join(60)
            assert not thread.is_alive()


def test_the_bar_of_items_is_wiped_off(draw: Callable[[], str]) -> None:
    list(track("ab", "comparing"))
    assert "comparing" in draw()
    assert draw().endswith("\x1b[1A\x1b[2K"), "up one line, and clear it"


def test_further_processes_of_a_training_show_nothing(draw: Callable[[], str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOCAL_RANK", "1")
    assert list(track("ab", "comparing")) == ["a", "b"]
    assert draw() == ""
