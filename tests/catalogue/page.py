"""The page of the catalogue, whose inputs are read there: `python -m tests.catalogue.page` writes the answers anew."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterable
from html import escape
from itertools import groupby

from epigym.cli.codes import ExitCode
from tests.catalogue.files import FILES
from tests.catalogue.running import PAGE, Outcome
from tests.helpers.benchmark_files import ROOT

_HEAD = """# What epigym answers to wrong input

Every line below is run by `pytest tests/catalogue --full` and its answer held against this page; without `--full` it is
every fifth one of the commands whose settings are composed. No input leads to a traceback, to the exit code {failure},
or to a file that a refused command has written. Where there is no answer, the input is extreme but right. The files
are at the end.

A message names the place and what to do; what Python raises derives from `epigym.errors.EpigymError`, but for ids that
do not exist, which are an `IndexError`, names and seeds that Gymnasium itself refuses, and the `DomainError` of
`domains`.

| exit code | meaning |
| --- | --- |
{codes}
"""
_NAMES = """In Python, `task` is `coin.txt`, `space` its state space, `env` its environment after a reset, and `hidden`
the same task where both agents believe everything at the start.
"""


def run(stride: int) -> list[Outcome]:
    """Run the catalogue in a process of its own; of the commands that compose settings, every so many."""
    command = [sys.executable, "-m", "tests.catalogue.running", str(stride)]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "COLUMNS": "200", "EPIGYM_SHARED": ""}
    done = subprocess.run(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True, check=True)
    return [Outcome(**json.loads(line)) for line in done.stdout.splitlines()]


def format_page(outcomes: Iterable[Outcome]) -> str:
    """The page."""
    codes = "\n".join(f"| {code.value} | {code.meaning} |" for code in ExitCode)
    parts = [_HEAD.format(codes=codes, failure=int(ExitCode.FAILURE)), _NAMES]
    for group, members in groupby(outcomes, key=lambda outcome: outcome.group):
        parts.append(
            f"## {group}\n\n| input | answer | end |\n| --- | --- | --- |\n" + "".join(map(format_row, members))
        )
    files = "".join(f"| `{name}` | {what} |\n" for name, (what, _) in FILES.items())
    parts.append(f"## Files\n\n| file | what it is |\n| --- | --- |\n{files}")
    return "\n".join(parts)


def format_row(outcome: Outcome) -> str:
    """A line of a table."""
    return f"| {_code(outcome.input)} | {' <br> '.join(map(_code, outcome.said))} | {outcome.end} |\n"


def _code(words: str) -> str:
    """Words as they are, whatever they mean in Markdown."""
    if "`" in words:
        return f"<code>{escape(words).replace('`', '&#96;').replace('|', '&#124;')}</code>"
    return f"`{words.replace('|', chr(92) + '|')}`" if words else ""


if __name__ == "__main__":
    PAGE.write_text(format_page(run(1)), encoding="utf-8")
