"""What the network of the first command is worth to greedy search on larger problems; run by hand.

    time python -m learn.train encoding=hash run_dir=outputs/train/first
    pytest tests/benchmarks/test_first_checkpoint.py

The problems are validation problems of another seed than that of the command.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from learn.training.drawing import drawn
from search.agents.limits import Limits
from search.planning.configuration import Configuration
from search.planning.options import SearchOptions
from search.planning.planner import find_plan
from tests.benchmarks.figures import show

SEED, PROBLEMS, NODES = 7, 5, 1000
CHECKPOINT = Path("outputs/train/first/checkpoints/best.ckpt")


def test_expansions(pytestconfig: pytest.Config) -> None:
    if not CHECKPOINT.exists():
        pytest.skip("python -m learn.train encoding=hash run_dir=outputs/train/first")
    configurations = {
        "gnn": Configuration.of("hfs", {"name": "gnn", "checkpoint": str(CHECKPOINT)}),
        "open_goals": Configuration.of("hfs", "open_goals"),
        "bfs": Configuration.of("bfs", None),
    }
    lines = ["", f"{'expanded, + where not solved':30s}" + "".join(f"{name:>12s}" for name in configurations)]
    for task in drawn(["grapevine"], "validation", PROBLEMS, SEED):
        found = [find_plan(task, one, SearchOptions(Limits(max_expanded=NODES))) for one in configurations.values()]
        figures = [f"{one.expanded:,}{'' if one.status == 'solved' else '+'}" for one in found]
        lines.append(f"{task.name:30s}" + "".join(f"{figure:>12s}" for figure in figures))
    show(pytestconfig, "\n".join(lines))
