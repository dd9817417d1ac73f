"""How far limits are overrun, with every agent and heuristic on one large problem.

    OMP_NUM_THREADS=1 python -m tests.tools.overruns

Each searches twice: with little time, and with little memory. Time is taken around `find_plan`, in the process that
calls it; memory is what the operating system says the process that searched held at most. The table goes to
`outputs/bench/overruns.csv`.
"""

import argparse
import resource
import sys
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic

from epigym.errors import UsageError
from epigym.io.files import write_rows
from epigym.problem import load_problem
from epigym.task.task import Task
from search.agents import AGENTS
from search.agents.limits import Limits, memory_bytes
from search.heuristics import HEURISTICS
from search.planning.configuration import Configuration
from search.planning.options import SearchOptions
from search.planning.planner import find_plan
from search.processes.supervisor import Job, supervise

TABLE = Path("outputs/bench/overruns.csv")
PROBLEM = "blocks_world/bw_50"
LONG, MUCH = 30.0, "16GiB"  # limits that are not to be reached


@dataclass(frozen=True)
class Overrun:
    """One search within limits.

    Attributes:
        configuration: its label.
        time_limit: seconds.
        memory_limit: bytes.
        status: how it ended.
        is_killed: whether it was ended from outside.
        seconds: that it took.
        peak_bytes: that it held at most.
    """

    configuration: str
    time_limit: float
    memory_limit: int
    status: str
    is_killed: bool
    seconds: float
    peak_bytes: int

    @property
    def is_within(self) -> bool:
        """Whether time is kept within 2 % and 0.5 s, memory within 5 % and 30 MiB."""
        is_in_time = self.seconds <= 1.02 * self.time_limit + 0.5
        return is_in_time and self.peak_bytes <= 1.05 * self.memory_limit + (30 << 20)


def configurations(model: str) -> Iterator[Configuration]:
    """Every agent with every heuristic that it takes, and with the regressor of a file."""
    for agent in AGENTS:
        for choice in (*HEURISTICS, {"name": "learned", "label": "regressor", "model": model}):
            with suppress(UsageError):  # one that prefers no actions, for an agent that needs that
                configuration = Configuration.of(agent, choice)
                yield configuration
                if configuration.heuristic is None:
                    break


def measure_search(task: Task, configuration: Configuration, limits: Limits) -> Overrun:
    """Search, in a process that does nothing else."""
    start = monotonic()
    result = find_plan(task, configuration, SearchOptions(limits))
    seconds = monotonic() - start
    largest = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss << 10
    assert limits.time_limit is not None
    return Overrun(
        configuration.label,
        limits.time_limit,
        memory_bytes(limits.memory_limit),
        str(result.status),
        result.message.startswith("killed"),
        seconds,
        max(largest, result.costs.peak_bytes),
    )


def measure(task: Task, chosen: list[Configuration], seconds: float, memory: str) -> Iterator[Overrun]:
    """Measure each with little time and with little memory, one after the other."""
    for limits in (Limits(time_limit=seconds, memory_limit=MUCH), Limits(time_limit=LONG, memory_limit=memory)):
        for configuration in chosen:
            [ending] = supervise([Job(0, measure_search, (task, configuration, limits))], parallel=1, copies=True)
            if ending.failure:
                print(configuration.label, ending.message, flush=True)
            else:
                yield ending.value


def write_untrained(path: str) -> None:
    """Write a regressor with random weights."""
    from tests.helpers.trained import write_regressor

    write_regressor(Path(path))


def main() -> None:
    """Measure, write the table, and print what is worst."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--problem", default=PROBLEM, help="its name or file")
    parser.add_argument("--seconds", type=float, default=5.0, help="little time")
    parser.add_argument("--memory", default="100MiB", help="little memory")
    options = parser.parse_args()
    if not 0 < options.seconds < LONG:
        parser.error(f"--seconds {options.seconds:g}: expected more than 0 and less than {LONG:g}")
    task = load_problem(options.problem)
    rows: list[Overrun] = []
    with TemporaryDirectory() as folder:
        model = str(Path(folder, "untrained.safetensors"))
        [_] = supervise([Job(0, write_untrained, (model,))], parallel=1)
        for row in measure(task, list(configurations(model)), options.seconds, options.memory):
            rows.append(row)
            print(f"{row.configuration:28s} {row.status:14s} {'killed' if row.is_killed else '':6s} "
                  f"{row.seconds:7.2f} s of {row.time_limit:g}, "
                  f"{row.peak_bytes >> 20:6d} MiB of {row.memory_limit >> 20}"
                  f"{'' if row.is_within else '  TOO MUCH'}", flush=True)  # fmt: skip
    TABLE.parent.mkdir(parents=True, exist_ok=True)
    write_rows(TABLE, [field.name for field in fields(Overrun)], [asdict(row) for row in rows])
    late = max((row for row in rows if row.time_limit < LONG), key=lambda row: row.seconds)
    large = max((row for row in rows if row.time_limit == LONG), key=lambda row: row.peak_bytes)
    beyond = sum(not row.is_within for row in rows)
    print(f"{len(rows)} searches, {sum(row.is_killed for row in rows)} ended from outside, {beyond} beyond the limits")
    print(f"latest: {late.configuration}, {late.seconds:.2f} s of {late.time_limit:g}")
    print(f"largest: {large.configuration}, {large.peak_bytes >> 20} MiB of {large.memory_limit >> 20}")
    sys.exit(beyond > 0)


if __name__ == "__main__":
    main()
