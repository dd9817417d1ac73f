"""Files whose names are not UTF-8, or that the locale cannot say, are files as others."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.helpers.marks import slow_but
from tests.helpers.tasks import COIN

UTF_8 = {"LC_ALL": "C.UTF-8"}
ASCII = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
COMMANDS = (
    "epigym show NAME.txt out=out.html",
    "epigym show NAME.txt",
    "epigym convert NAME.txt out=out.json",
    "search.solve NAME.txt agent=bfs run_dir=NAME",
    "search.solve NAME.txt agent=bfs policy=strong policy_file=out.html run_dir=out",
    "search.evaluate problems=[NAME.txt] agents=bfs folder=out",
    "learn.rollouts problem=NAME.txt run_dir=out outputs=sets",
    "learn.train experiment=paper problem=NAME.txt trainer.accelerator=cpu trainer.max_epochs=1 run_dir=out",
)
CASES = [
    *((b"b\xe4d", UTF_8, command) for command in COMMANDS),
    *((b"b\xc3\xa4d", ASCII, command) for command in (COMMANDS[0], COMMANDS[3], COMMANDS[-1])),
]


@pytest.mark.parametrize(("name", "environment", "command"), slow_but(CASES, CASES[0], CASES[2]))
def test_a_command_ends_as_with_other_names(
    tmp_path: Path, name: bytes, environment: dict[str, str], command: str
) -> None:
    (tmp_path / f"{os.fsdecode(name)}.txt").write_text(COIN)
    done = subprocess.run(
        [sys.executable, "-m", *(word.encode().replace(b"NAME", name) for word in command.split())],
        cwd=tmp_path,
        env=os.environ | environment,
        capture_output=True,
    )
    assert (done.returncode, b"--- Logging error ---" in done.stderr) == (0, False), done.stderr
    written = [
        path for ending in ("html", "json", "csv", "log", "md", "yaml") for path in tmp_path.rglob(f"*.{ending}")
    ]
    for path in written:
        path.read_text(encoding="utf-8")
    assert written or "out=" not in command
