"""The planner with the command line of planning competitions: `epigym-plan SPECFILE PLANFILE`."""

from __future__ import annotations

import argparse
import gc
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from time import perf_counter
from typing import NoReturn

import epigym
from domains.output import end_at_closed_pipe
from epigym.cli.codes import ExitCode, fail, line
from epigym.errors import EpigymError, LimitError, UsageError
from epigym.io.files import check_writable
from epigym.problem import load_problem
from search.agents.limits import Limits, memory_bytes
from search.agents.result import SearchResult, SearchStatus
from search.planning.configuration import DEFAULT, Configuration
from search.planning.options import SearchOptions
from search.planning.plan_files import check_plan_file, make_unverified_path
from search.planning.planner import GRACE_MEMORY, find_plan_here
from search.processes.supervisor import Job, supervise

DESCRIPTION = """
Search for a plan with the default agent and write it as a JSON array of ground action names. The plan file
appears when the plan has been re-executed; until then it is in PLANFILE.unverified. Old plans in both places are
removed before the search; any other file there is an error.
"""
EPILOG = """
environment:
  EPIGYM_TIME_LIMIT    seconds for everything, reading included (default 600)
  EPIGYM_MEMORY_LIMIT  of all processes together, such as 8GiB (default 80 % of the free memory)

exit codes: 0 a plan was written, 11 there is none, 12 a limit, 64 and up bad input
"""
DEFAULT_SECONDS = 600.0


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and exit with the code of the outcome."""
    with end_at_closed_pipe():
        _run(arguments)


def _run(arguments: Sequence[str] | None) -> NoReturn:
    try:
        options = _parser().parse_args(arguments)
    except SystemExit as stop:
        sys.exit(ExitCode.USAGE if stop.code else ExitCode.SUCCESS)
    try:
        seconds, memory = _limits(os.environ.get("EPIGYM_TIME_LIMIT"), os.environ.get("EPIGYM_MEMORY_LIMIT"))
        check_writable(options.plan)
        check_plan_file(options.plan)
        draft = make_unverified_path(options.plan)
        draft.unlink(missing_ok=True)  # of an earlier search
    except (UsageError, OSError) as error:
        sys.exit(fail(error))
    gc.freeze()  # imported objects stay: no garbage collection, here or in a copy, looks through them
    before = _read_mtime(options.plan)
    job = Job("plan", _plan, (options.spec, options.plan, seconds, memory))
    try:
        [ending] = supervise(
            [job], parallel=1, wall_limit=seconds, memory_limit=int(GRACE_MEMORY * memory), copies=True
        )
    except KeyboardInterrupt as error:
        sys.exit(fail(error))
    code, message = ending.value or (
        ExitCode.FAILURE if ending.failure is SearchStatus.ERROR else ExitCode.LIMIT,
        ending.message,
    )
    if ending.value is None and _read_mtime(options.plan) == before:  # killed while reading the problem
        Path(options.plan).unlink(missing_ok=True)
    if ending.value is None and draft.exists():
        message += f"; a plan that was not verified in time is in {draft}"
    print(message, file=sys.stdout if code in (ExitCode.SUCCESS, ExitCode.UNSOLVABLE) else sys.stderr)
    sys.exit(code)


def _plan(spec: str, plan_file: str, seconds: float, memory: int) -> tuple[ExitCode, str]:
    """Read the problem, search, and write the plan; returns the exit code and a message of one line."""
    start = perf_counter()
    try:
        task = load_problem(spec)
        limits = Limits(time_limit=max(seconds - (perf_counter() - start), 0.0), memory_limit=memory)
        result = find_plan_here(task, Configuration.of(DEFAULT), SearchOptions(limits), plan_file)
    except (EpigymError, OSError) as error:
        return ExitCode.after(error), f"error: {line(error)}"
    return ExitCode.of(result.status), _summary(result, perf_counter() - start)


def _read_mtime(file: str) -> int | None:
    """The modification time of a file in nanoseconds; None when there is no file."""
    return Path(file).stat().st_mtime_ns if Path(file).exists() else None


def _summary(result: SearchResult, seconds: float) -> str:
    found = str(result.status) if result.plan_length is None else f"plan of {result.plan_length} actions"
    counted = f"{result.problem}: {found}, {result.expanded} nodes expanded, {seconds:.1f} s"
    return ", ".join(filter(None, (counted, result.message, result.proof)))


def _limits(seconds: str | None, memory: str | None) -> tuple[float, int]:
    """Read the limits: seconds and bytes.

    Raises:
        UsageError: when a text is not an amount of seconds or memory.
    """
    try:
        time_limit = DEFAULT_SECONDS if seconds is None else float(seconds)
    except ValueError:
        time_limit = 0.0
    if not time_limit > 0:
        raise UsageError(f"EPIGYM_TIME_LIMIT={seconds!r} is not a positive number of seconds")
    try:
        return time_limit, memory_bytes(memory)
    except LimitError as error:
        raise UsageError(f"EPIGYM_MEMORY_LIMIT: {error}") from None


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="epigym-plan",
        description=DESCRIPTION,
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"epigym {epigym.__version__}", help="show the version")
    parser.add_argument("spec", metavar="SPECFILE", help="JSON: an EPDDL specification, or a ground EPDDL task")
    parser.add_argument("plan", metavar="PLANFILE", help="where to write the plan")
    return parser


if __name__ == "__main__":
    main()
