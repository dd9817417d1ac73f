"""Search for a plan with the default agent, and write it as a JSON array of ground action names.

The plan file appears when the plan has been re-executed; until then it is in PLANFILE.unverified. Old plans in both
places are removed before the search; one in PLANFILE is kept if the problem cannot be read. Any other file there is
an error.

environment:
  EPIGYM_TIME_LIMIT    seconds for everything, reading included (default 600)
  EPIGYM_MEMORY_LIMIT  of all processes together, such as 8GiB (default 80 % of the free memory)

exit codes: 0 a plan was written, 11 there is none, 12 a limit, 64 and up bad input
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before NumPy: threads that the search does not use take time

import argparse
import gc
import sys
import traceback
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from time import perf_counter

import epigym
from domains.output import end_at_closed_pipe
from epigym.cli.codes import ExitCode, fail
from epigym.errors import EpigymError, LimitError, UsageError
from epigym.io.files import check_writable
from epigym.problem import load_problem
from search.agents.limits import Limits, memory_bytes
from search.agents.result import PARTS, SearchResult
from search.planning.configuration import DEFAULT, Configuration
from search.planning.options import SearchOptions
from search.planning.plan_files import check_plan_file, make_unverified_path
from search.planning.planner import find_plan_here, run_search
from search.planning.single_search import make_blank_result
from search.processes.channel import NO_CHANNEL, ProgressChannel


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line, see `--help`, and exit with the code of the outcome."""
    parser = argparse.ArgumentParser("epigym-plan", description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--version", action=_ShowVersion, nargs=0, help="show the version")
    parser.add_argument("spec", metavar="SPECFILE", help="JSON: an EPDDL specification, or a ground EPDDL task")
    parser.add_argument("plan", metavar="PLANFILE", help="where to write the plan")
    with end_at_closed_pipe():
        try:
            given = parser.parse_args(arguments)
        except SystemExit as stop:
            sys.exit(ExitCode.USAGE if stop.code else ExitCode.SUCCESS)
        try:
            result, message = solve(given.spec, given.plan)
        except (EpigymError, OSError, KeyboardInterrupt) as error:
            sys.exit(fail(error))
        except Exception:  # an error of the program
            traceback.print_exc()
            sys.exit(ExitCode.FAILURE)
        code = ExitCode.of(result.status)
        print(message, file=sys.stdout if code in (ExitCode.SUCCESS, ExitCode.UNSOLVABLE) else sys.stderr)
        sys.exit(code)


class _ShowVersion(argparse.Action):
    """Prints the version and ends; it is read only then, which takes longer than many a search."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        print(f"epigym {epigym.__version__}")
        parser.exit()


def solve(spec: str, file: str) -> tuple[SearchResult, str]:
    """Search in a separate process and write the plan; the result, and one line about it."""
    start, draft, options = perf_counter(), make_unverified_path(file), SearchOptions(read_limits())
    check_writable(file)
    check_plan_file(file)
    draft.unlink(missing_ok=True)  # of an earlier search
    gc.freeze()  # imported objects stay: no garbage collection looks through them
    gc.enable()
    blank = make_blank_result(Configuration.of(DEFAULT), Path(spec).stem, options)
    result = run_search(partial(read_and_search, spec, file), options, file, blank)
    counted = f"{result.problem}: {_describe_plan(result)}, {result.expanded} nodes expanded"
    timed = f"{perf_counter() - start:.1f} s{_list_parts(result)}"
    unverified = ""
    if result.plan is None:
        Path(file).unlink(missing_ok=True)  # an old one is left where a limit ended the reading
        unverified = f"a plan that was not verified in time is in {draft}" if draft.exists() else ""
    return result, ", ".join(filter(None, (counted, timed, result.message, result.proof, unverified)))


def _describe_plan(result: SearchResult) -> str:
    if result.plan_length is None:
        return str(result.status)
    shortened = "" if result.first_length == result.plan_length else f" (first {result.first_length})"
    return f"plan of {result.plan_length} actions{shortened}"


def _list_parts(result: SearchResult) -> str:
    """The parts of the time that are at least 0.1 s after rounding, in parentheses."""
    parts = {part: f"{getattr(result.costs, name):.1f} s" for part, name in PARTS.items()}
    shown = ", ".join(f"{part} {seconds}" for part, seconds in parts.items() if seconds != "0.0 s")
    return f" ({shown})" if shown else ""


def read_and_search(
    spec: str, file: str, options: SearchOptions, channel: ProgressChannel = NO_CHANNEL
) -> SearchResult:
    """Read the problem and search; nothing is sent to the channel, so that verifying the plan is limited, too."""
    start = perf_counter()
    task = load_problem(spec)
    load_seconds = perf_counter() - start
    limits = options.active_limits.after(load_seconds)
    result = find_plan_here(task, Configuration.of(DEFAULT), replace(options, limits=limits), file)
    return result.with_costs(load_seconds=load_seconds)


def read_limits() -> Limits:
    """The limits in the environment.

    Raises:
        UsageError: when a text is not an amount of seconds or memory.
    """
    seconds, time_limit = os.environ.get("EPIGYM_TIME_LIMIT", "600"), 0.0
    with suppress(ValueError):
        time_limit = float(seconds)
    if not time_limit > 0:
        raise UsageError(f"EPIGYM_TIME_LIMIT={seconds!r} is not a positive number of seconds")
    try:
        return Limits(time_limit=time_limit, memory_limit=memory_bytes(os.environ.get("EPIGYM_MEMORY_LIMIT")))
    except LimitError as error:
        raise UsageError(f"EPIGYM_MEMORY_LIMIT: {error}") from None


if __name__ == "__main__":
    main()
