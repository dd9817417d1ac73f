"""Fuzzes: executes random files one after another, in a process that may die, and keeps what shows something wrong.

    OMP_NUM_THREADS=1 python -m tests.tools.fuzz 1000000
    OMP_NUM_THREADS=1 python -m tests.tools.fuzz 1 --first 4711

Wrong is a process that dies, more than ten seconds of processor time, more than 2 GiB of memory, and any exception that
is none of `epigym.errors`. An execution depends on its number and the seed only, so that one can be had again.
"""

import argparse
import mmap
import os
import resource
import shutil
import signal
import sys
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

import numpy as np
from numpy.typing import NDArray

from tests.fuzz.target import execute_number

SECONDS = 10.0
BYTES = 2 << 30
REPORTED = 10_000
Execution = Callable[[int, int, Path], bool]


@dataclass(frozen=True, slots=True)
class Finding:
    """An execution that showed something wrong.

    Attributes:
        number: its number.
        what: the signal that ended the process, or the exception and the place that raised it.
    """

    number: int
    what: str


@dataclass(frozen=True, slots=True)
class Outcome:
    """What many executions showed.

    Attributes:
        executions: how many there were.
        accepted: in how many of them the file was read rather than refused.
        findings: those that showed something wrong, ascending.
    """

    executions: int
    accepted: int
    findings: tuple[Finding, ...]


def fuzz(numbers: range, seed: int, folder: Path, execute: Execution = execute_number) -> Outcome:
    """Execute numbers one after another.

    Args:
        numbers: which ones.
        seed: the seed of all.
        folder: where the files are written; beside `input.*` those of findings, with what is wrong.
        execute: what to execute.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for file in folder.glob("*.finding"):  # of an earlier run
        if int(file.stem) in numbers:
            file.unlink()
    shared = np.frombuffer(mmap.mmap(-1, 16), np.int64)  # the number in work, and how many were accepted
    first = numbers.start
    while first < numbers.stop:
        child = os.fork()
        if child == 0:
            _work(range(first, numbers.stop), seed, folder, execute, shared)
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        if code:
            _keep(folder, int(shared[0]), f"the process ended by {signal.Signals(-code).name if code < 0 else code}")
        first = int(shared[0]) + 1
    kept = {int(file.stem): file.read_text().partition("\n")[0] for file in folder.glob("*.finding")}
    findings = tuple(Finding(number, what) for number, what in sorted(kept.items()) if number in numbers)
    return Outcome(len(numbers), int(shared[1]), findings)


def _work(numbers: range, seed: int, folder: Path, execute: Execution, shared: NDArray[np.int64]) -> NoReturn:
    """Execute numbers in a process of limited memory, which a timer ends when one of them takes too long."""
    resource.setrlimit(resource.RLIMIT_DATA, (BYTES, BYTES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    for number in numbers:
        shared[0] = number
        signal.setitimer(signal.ITIMER_PROF, SECONDS)
        try:
            shared[1] += execute(number, seed, folder)
        except BaseException as error:
            place = traceback.extract_tb(error.__traceback__)[-1]
            what = f"{type(error).__name__} in {Path(place.filename).name}:{place.lineno}: {ascii(str(error))[:200]}"
            _keep(folder, number, what, traceback.format_exc())
    os._exit(0)


def _keep(folder: Path, number: int, what: str, details: str = "") -> None:
    """Keep the file of an execution, the last that was written, and what is wrong."""
    file = max(folder.glob("input.*"), key=lambda path: path.stat().st_mtime_ns)
    shutil.copy(file, folder / f"{number}{file.suffix}")
    (folder / f"{number}.finding").write_text(f"{what}\n{details}", errors="backslashreplace")


def main() -> None:
    parser = argparse.ArgumentParser(description="Execute random problem files and plans.")
    parser.add_argument("executions", type=int)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--folder", type=Path, default=Path("outputs/fuzz"))
    given = parser.parse_args()
    begin, end = given.first, given.first + given.executions
    accepted, findings = 0, list[Finding]()
    start, used = time.perf_counter(), os.times()
    for first in range(begin, end, REPORTED):
        outcome = fuzz(range(first, min(first + REPORTED, end)), given.seed, given.folder)
        accepted += outcome.accepted
        findings += outcome.findings
        for finding in outcome.findings:
            print(f"{finding.number}: {finding.what}")
        now = os.times()
        processor = now.children_user + now.children_system - used.children_user - used.children_system
        print(
            f"{first + outcome.executions - begin} executions, {accepted} accepted, {len(findings)} findings, "
            f"{time.perf_counter() - start:.0f} s, {processor:.0f} s of processor time",
            flush=True,
        )
    sys.exit(bool(findings))


if __name__ == "__main__":
    main()
