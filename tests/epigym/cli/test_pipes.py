"""Pipes: output that nobody reads any more, and pipes in place of files."""

import logging
import os
import subprocess
import sys
import threading
from collections.abc import Sequence
from pathlib import Path

import pytest

from domains.output import CLOSED_PIPE
from epigym.__main__ import main
from epigym.cli.codes import ExitCode
from epigym.cli.logs import ConsoleLog
from epigym.errors import EpigymError
from epigym.problem import load_problem
from learn.models import open_model
from tests.helpers.benchmark_files import ROOT
from tests.helpers.marks import slow_but
from tests.helpers.tasks import COIN

REFUSED = "{} is a pipe, which can be read only once: write its content to a file"
NAME = "problem=coin_in_the_box/pl_3"
CHEAP = [
    ["domains"],
    ["epigym"],
    ["search.solve", "--help"],
    ["search.validate", NAME, "plan=[open_a]"],
]
OTHERS = [
    ["domains", "show", "gossip"],
    ["domains", "write", "gossip"],
    ["epigym", "--version"],
    ["epigym", "show", "gossip", "out=gossip.svg"],
    ["epigym", "convert", "gossip", "out=gossip.json"],
    ["search.solve", NAME, "agent=bfs"],
    ["search.evaluate", f"problems={NAME.partition('=')[2]}", "agents=bfs"],
    ["search.competition", str(ROOT / "docs/epddl/coin-1.json"), "plan.json"],
    ["learn.sample", "domain=grapevine", "instances=1"],
]


def end(words: Sequence[str], folder: Path, *, with_errors: bool) -> tuple[int, str]:
    """The exit code and errors of a command whose output is a pipe without a reader."""
    reader, writer = os.pipe()
    os.close(reader)
    errors = writer if with_errors else subprocess.PIPE
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])}
    done = subprocess.run(
        [sys.executable, "-m", *words], cwd=folder, env=environment, stdout=writer, stderr=errors, text=True
    )
    os.close(writer)
    return done.returncode, done.stderr or ""


@pytest.mark.parametrize("words", CHEAP, ids=lambda words: words[0])
def test_a_closed_pipe_ends_a_command_quietly(words: list[str], tmp_path: Path) -> None:
    assert end(words, tmp_path, with_errors=False) == (CLOSED_PIPE, "")


@pytest.mark.slow
@pytest.mark.parametrize("words", CHEAP, ids=lambda words: words[0])
def test_a_closed_pipe_of_errors_ends_a_command(words: list[str], tmp_path: Path) -> None:
    assert end(words, tmp_path, with_errors=True) == (CLOSED_PIPE, "")


@pytest.mark.slow
@pytest.mark.parametrize("words", OTHERS, ids=" ".join)
def test_a_closed_pipe_ends_every_command_quietly(words: list[str], tmp_path: Path) -> None:
    assert end(words, tmp_path, with_errors=False) == (CLOSED_PIPE, "")


class Closed:
    """A stream that nobody reads."""

    def write(self, text: str) -> None:
        raise BrokenPipeError

    def flush(self) -> None:
        raise BrokenPipeError


def test_a_log_ends_at_a_closed_pipe() -> None:
    record = logging.LogRecord("learn", logging.INFO, __file__, 1, "trained", (), None)
    with pytest.raises(BrokenPipeError):
        ConsoleLog(Closed()).emit(record)  # type: ignore[arg-type]


PIPES = [
    ["solve", "problem={}", "agent=bfs"],
    ["evaluate", "problems={}", "agents=bfs"],
    ["validate", "problem={}", "plan=[lift]"],
    ["show", "{}"],
    ["convert", "{}", "out=coin.json"],
    ["rollouts", "problem={}"],
]


@pytest.mark.parametrize("words", slow_but(PIPES, PIPES[0], PIPES[3]), ids=lambda words: words[0])
def test_a_pipe_in_place_of_a_problem_is_refused(
    words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    os.mkfifo("pipe")
    code = main([word.format("pipe") for word in words])
    assert (code, capfd.readouterr().err) == (ExitCode.BAD_INPUT, f"error: {REFUSED.format('pipe')}\n")


@pytest.mark.parametrize("name", ["pipe", "pipe.txt", "pipe.json", "pipe.epddl", "pipe.safetensors"])
def test_a_pipe_in_place_of_a_file_is_refused(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    os.mkfifo(name)
    for read in (load_problem, open_model):
        with pytest.raises(EpigymError) as caught:
            read(name)
        assert str(caught.value) == REFUSED.format(name)


@pytest.mark.parametrize("command", ["show", "validate"])
def test_a_plan_is_read_from_a_pipe(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("coin.txt").write_text(COIN)
    os.mkfifo("plan.json")
    writer = threading.Thread(target=lambda: Path("plan.json").write_text('["lift", "look", "shout"]'))
    writer.start()
    assert main([command, "problem=coin.txt", "plan=plan.json", *(["out=x.svg"] if command == "show" else [])]) == 0
    writer.join()
    assert "B(b, tail)" in capfd.readouterr().out or command == "validate"
