"""Run a grid of searches: `python -m search.evaluate suite=standard agents=[bfs,hfs] heuristics=[open_goals]`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from omegaconf import DictConfig

from search.agents.limits import Limits, memory_bytes
from search.command import ExitCode, plain, run
from search.evaluation import running
from search.evaluation.cell import Cell
from search.evaluation.grid import cells_of, configurations_of
from search.evaluation.suites import named_problems, problems_of


def evaluate(config: DictConfig) -> ExitCode:
    """Search as `conf/evaluate.yaml` describes and keep every outcome in a file of its own.

    A run that was interrupted, at whatever moment, goes on where it was when it is started again. A cell that
    fails is a row with its status. `results.csv` is derived from the cells at the end.

    Args:
        config: the composed `conf/evaluate.yaml`.

    Raises:
        EpigymError: when a suite, an agent, a heuristic or a limit is wrong.
    """
    values = plain(config)
    running.evaluate(
        cells(values),
        Path(values["folder"]),
        part=values["shard"],
        wall_limit=values["time_limit"] + values["grace"],
        memory_limit=memory_bytes(values["memory_limit"]),
        parallel=values["parallel"],
        retry=values["retry"],
    )
    return ExitCode.SUCCESS


def cells(values: dict[str, Any]) -> list[Cell]:
    """The grid of problems and configurations that a configuration file describes.

    Raises:
        EpigymError: when a name is unknown, or a file of a suite is missing.
    """
    semantics = values["semantics"]
    problems = named_problems(values["problems"], semantics)
    limits = Limits(values["max_expanded"], values["time_limit"], memory_bytes(values["memory_limit"]))
    return cells_of(
        problems or problems_of(values["suite"], values["per_domain"], semantics),
        configurations_of(values["agents"], values["heuristics"]),
        limits,
    )


def main() -> None:
    """Run as a Hydra app; exit codes: 0 when every cell has an outcome, 64 and up bad input."""
    run(evaluate, "evaluate")


if __name__ == "__main__":
    main()
