"""Measure what a successor and its scores cost as worlds and facts grow, and draw it.

python -m tests.benchmarks.costs                              measure, and write a table and a picture
python -m tests.benchmarks.costs table=docs/results/costs.csv.gz         draw such a table

The values of models do not include the relaxation that they correct, which is the operation h_add.
"""

import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Final

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from epigym.io.files import read_rows, write_rows
from epigym.problem import domain_problem
from epigym.space.sampling import sample_walk
from epigym.space.space import StateSpace
from epigym.task.task import Task
from learn.models.base import BaseHeuristic
from learn.models.shipped import locate_shipped
from search.heuristics.learned import Learned
from search.reports.figures import write_figure

TASKS: Final[Mapping[str, Sequence[tuple[str, Callable[[], Task]]]]] = {
    "worlds": [(f"{n} children", partial(domain_problem, "active_muddy_child", children=n)) for n in range(4, 17)],
    "fluents": [
        (f"{n} blocks", partial(domain_problem, "blocks_world", blocks=n, worlds=1)) for n in (4, 6, 9, 13, 19, 27, 38)
    ],
}
"""By what grows: instances of Active Muddy Child (up to 65,535 worlds) and of Blocks World (up to 1,559 fluents)."""
WALKS: Final = 6
STEPS: Final = 10
SECONDS: Final = 5.0
"""CPU time of an operation, after which no further e-state is expanded or scored."""
BATCH: Final = 32
SCORED: Final = 2048
"""E-states that are scored, at most."""
COLUMNS: Final = ("grows", "instance", "actions", "fluents", "worlds", "operation", "count", "microseconds")
OUT: Final = Path("outputs/costs")


def main(arguments: Sequence[str]) -> None:
    """Measure, unless a table is given, and draw."""
    table = Path(arguments[0].removeprefix("table=")) if arguments else OUT / "costs.csv"
    if not arguments:
        write_rows(table, COLUMNS, measure_all())
    write_figure(draw(read_rows(table, COLUMNS)), OUT, "costs")


def measure_all() -> Iterator[dict[str, object]]:
    """The rows of all instances and operations."""
    for grows, tasks in TASKS.items():
        for instance, make in tasks:
            task = make()
            space, states = walk(task, WALKS)
            size = {"actions": len(task.actions), "fluents": len(task.fluents)}
            size["worlds"] = int(np.median(space.world_counts(states)))
            for operation, count, seconds in measure(space, states):
                each = f"{1e6 * seconds / count:.3f}"
                found = {"operation": operation, "count": count, "microseconds": each}
                yield {"grows": grows, "instance": instance, **size, **found}
                print(*found.values(), *size.values(), instance, flush=True)


def walk(task: Task, count: int) -> tuple[StateSpace, list[int]]:
    """The e-states of `count` random walks, in a space that has expanded none of them."""
    space, walks = StateSpace(task), StateSpace(task)
    met = {space.initial}
    for seed in range(count):
        state = space.initial
        for action in sample_walk(walks, np.random.default_rng(seed), steps=STEPS)[1]:
            state = space.successor(state, int(action))
            met.add(state)
    return space, sorted(met)


def generate(space: StateSpace, states: Iterable[int]) -> tuple[NDArray[np.int32], float]:
    """The successors of e-states, one for each applicable action, and the CPU seconds of generating them."""
    start, targets = time.process_time(), []
    for state in states:
        targets.append(space.expand([state]).target)
        if time.process_time() - start > SECONDS:
            break
    seconds = time.process_time() - start
    return np.concatenate(targets), seconds


def measure(space: StateSpace, states: Sequence[int]) -> Iterator[tuple[str, int, float]]:
    """Operation, number of times and CPU seconds: generating the successors, and scoring them in batches."""
    generated, seconds = generate(space, states)
    yield "successor", len(generated), seconds
    ids = np.unique(generated)[:SCORED].astype(np.int32)
    domain = space.task.domain
    scores: dict[str, Callable[[NDArray[np.int32]], object]] = {
        "h_add": BaseHeuristic(space, "h_add"),
        "linear model": Learned(space, str(locate_shipped("linear", domain))).score,
        "network": Learned(space, str(locate_shipped("gine", domain))).score,
    }
    for name, score in scores.items():
        score(np.array([space.initial], dtype=np.int32))  # what is built once is not counted
        start, done = time.process_time(), 0
        for batch in np.array_split(ids, max(1, len(ids) // BATCH)):
            score(batch)
            done += len(batch)
            if time.process_time() - start > SECONDS:
                break
        yield name, done, time.process_time() - start


def draw(rows: Sequence[Mapping[str, str]]) -> Figure:
    """A panel for each quantity that grows, with a line for each operation."""
    figure = Figure(figsize=(4.4, 3 * len(TASKS)), layout="constrained")  # as wide as a phone
    panels = figure.subplots(len(TASKS), 1, sharey=True)
    for axes, grows in zip(panels, TASKS, strict=True):
        for operation in dict.fromkeys(row["operation"] for row in rows):
            found = [row for row in rows if (row["grows"], row["operation"]) == (grows, operation)]
            points = [(float(row[grows]), float(row["microseconds"])) for row in found]
            axes.loglog(*zip(*points, strict=True), ".-", label=operation)
        axes.set(xlabel=grows, ylabel="CPU time per e-state [µs]")
        axes.grid(alpha=0.3)
    panels[0].set_title("Active Muddy Child", fontsize="medium")
    panels[1].set_title("Blocks World", fontsize="medium")
    panels[0].legend()
    return figure


if __name__ == "__main__":
    main(sys.argv[1:])
