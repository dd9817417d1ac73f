"""Terminals that are not UTF-8 show what they can."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.helpers.marks import slow_but
from tests.helpers.runs import PAPER

COMMANDS = (
    "domains",
    "domains show coin_in_the_box",
    "epigym --help",
    "epigym show coin_in_the_box out=out.png",
    "learn.train --help",
    "search.solve coin_in_the_box/pl_3 agent=bfs run_dir=out",
    "search.validate coin_in_the_box/pl_3 plan=[open_a]",
)
CASES = [
    *(("ascii", command) for command in COMMANDS),
    *((encoding, COMMANDS[0]) for encoding in ("latin-1", "cp437", "cp850")),
    ("cp437", "learn.train --help"),
]


def call(folder: Path, encoding: str, command: str) -> tuple[int, str, str]:
    """Run a command in a folder: its exit code, output and errors."""
    done = subprocess.run(
        [sys.executable, "-m", *command.split()],
        cwd=folder,
        env=os.environ | {"PYTHONIOENCODING": encoding, "COLUMNS": "200"},
        capture_output=True,
    )
    return done.returncode, done.stdout.decode(encoding), done.stderr.decode(encoding)


@pytest.mark.parametrize(
    ("encoding", "command"), slow_but(CASES, ("ascii", "domains"), ("cp437", "learn.train --help"))
)
def test_a_command_ends_as_with_utf_8(tmp_path: Path, encoding: str, command: str) -> None:
    code, output, errors = call(tmp_path, encoding, command)
    expected, whole, _ = call(tmp_path, "utf-8", command)
    assert (code, errors) == (expected, "")
    assert len(output.splitlines()) == len(whole.splitlines())
    assert "\x1b" not in output


@pytest.mark.slow
def test_tables_of_training_are_shown_in_ascii(tmp_path: Path) -> None:
    train = " ".join(("learn.train", *PAPER, "trainer.max_epochs=1", "run_dir=runs/first"))
    assess = "learn.assess problem=coin_in_the_box/pl_3 model=runs/first run_dir=assessed"
    rollouts = "learn.rollouts problem=coin_in_the_box/pl_3 run_dir=rollouts outputs=sets"
    for command, title in (
        (train, ""),
        (assess, "R?"),
        ("learn.compare runs=runs run_dir=compared", "validation"),
        (rollouts, "samples"),
    ):
        code, output, errors = call(tmp_path, "ascii", command)
        assert code == 0, errors
        assert title in output
        assert "+---" in output
