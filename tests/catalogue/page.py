"""The page of the catalogue. `python -m tests.catalogue.page` reads its inputs and renews the answers."""

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

`python -m tests.catalogue.page` runs every line below and renews the answers; the slow tests run every tenth input of
commands that compose settings, and all others. No input leads to a traceback or the exit code {failure}, and no
refused command leaves a file. Inputs without an answer are extreme but valid. The input files are listed at the end.

Messages have the place of the error and a suggested fix. Exceptions in Python derive from `epigym.errors.EpigymError`,
except `IndexError` for ids that do not exist, errors of Gymnasium for some names and seeds, and `DomainError` of
`domains`.

| exit code | meaning |
| --- | --- |
{codes}
"""
_NAMES = """In Python, `task` is `coin.txt`, `space` its state space, `env` its environment after a reset, and `hidden`
the same task with inconsistent beliefs of both agents in the initial e-state.
"""


def run(stride: int) -> list[Outcome]:
    """Run the catalogue in another process; of commands that compose settings, only every stride-th input."""
    command = [sys.executable, "-m", "tests.catalogue.running", str(stride)]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "COLUMNS": "200", "EPIGYM_SHARED": ""}
    done = subprocess.run(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True, check=True)
    return [Outcome(**json.loads(line)) for line in done.stdout.splitlines()]


def format_page(outcomes: Iterable[Outcome]) -> str:
    """Format the page."""
    codes = "\n".join(f"| {code.value} | {code.meaning} |" for code in ExitCode)
    parts = [_HEAD.format(codes=codes, failure=int(ExitCode.FAILURE)), _NAMES]
    for group, members in groupby(outcomes, key=lambda outcome: outcome.group):
        parts.append(
            f"## {group}\n\n| input | answer | end |\n| --- | --- | --- |\n" + "".join(map(format_row, members))
        )
    files = "".join(f"| `{name}` | {what} |\n" for name, (what, _) in FILES.items())
    parts.append(f"## Files\n\n| file | content |\n| --- | --- |\n{files}")
    return "\n".join(parts)


def format_row(outcome: Outcome) -> str:
    """Format a line of a table."""
    return f"| {_code(outcome.input)} | {' <br> '.join(map(_code, outcome.said))} | {outcome.end} |\n"


def _code(words: str) -> str:
    """Format words as code, with special characters of Markdown escaped."""
    if "`" in words:
        return f"<code>{escape(words).replace('`', '&#96;').replace('|', '&#124;')}</code>"
    return f"`{words.replace('|', chr(92) + '|')}`" if words else ""


def main() -> None:
    """Renew the page; fail if it changes."""
    before, page = PAGE.read_text(encoding="utf-8"), format_page(run(1))
    PAGE.write_text(page, encoding="utf-8")
    sys.exit(page != before)


if __name__ == "__main__":
    main()
