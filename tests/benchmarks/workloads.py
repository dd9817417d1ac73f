"""Four fixed workloads, whose instructions are counted: `python -m tests.benchmarks.workloads NAME` under callgrind."""

import os
import subprocess
import sys
from collections.abc import Callable

from epigym import StateSpace, Task
from epigym.problem import domain_problem

WORKLOADS: dict[str, tuple[Callable[[], Task], int]] = {
    "grapevine": (lambda: domain_problem("grapevine", agents=3), 400),
    "gossip": (lambda: domain_problem("gossip", agents=6), 60),
    "assembly_line": (lambda: domain_problem("assembly_line", agents=6), 60),
    "active_muddy_child": (lambda: domain_problem("active_muddy_child", children=9), 12),
}
"""Tasks, and how many e-states are expanded, breadth first."""


def count_instructions(switch: str) -> None:
    """Switch the counting of instructions of this process, which callgrind runs, on or off."""
    subprocess.run(["callgrind_control", "-i", switch, str(os.getpid())], check=True, capture_output=True)


def work(name: str) -> None:
    """Expand the first e-states of a workload, and count what that takes."""
    make, most = WORKLOADS[name]
    space = StateSpace(make())
    count_instructions("on")
    state = 0
    while state < min(most, len(space)):
        space.expand([state])
        state += 1
    count_instructions("off")


if __name__ == "__main__":
    work(sys.argv[1])
