"""Run a grid of searches: `python -m search.evaluate suite=standard agents=[bfs,hfs] heuristics=[open_goals]`."""

from __future__ import annotations

import logging
import os
from pathlib import Path
from typing import Any

from omegaconf import DictConfig
from rich.console import Console

from epigym.errors import EpigymError
from search.agents.limits import memory_bytes
from search.agents.result import SearchStatus
from search.command import ExitCode, plain, run
from search.evaluation.board import Board
from search.evaluation.grid import Cell, shard, write_table
from search.evaluation.suites import EpddlFiles, problems_of
from search.planning.configuration import Configuration
from search.planning.processes import Job, supervise

logger = logging.getLogger("search.evaluate")


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
    folder = Path(values["folder"])
    grid = cells_of(values)
    part = shard(grid, values["shard"])
    known = {number: result for number, cell in enumerate(part) if (result := cell.read(folder)) is not None}
    if values["retry"]:
        known = {number: result for number, result in known.items() if result.status is not SearchStatus.ERROR}
    logger.info("%d cells, %d of them finished before: %s", len(part), len(known), folder)
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        os.environ.setdefault(name, "1")  # one core for each process
    jobs = [Job(number, cell.search, ()) for number, cell in enumerate(part) if number not in known]
    with Board(Console(), part, known) as board:
        for ending in supervise(
            board.watch(jobs),
            parallel=values["parallel"],
            wall_limit=values["time_limit"] + values["grace"],
            memory_limit=memory_bytes(values["memory_limit"]),
            preload=_modules(part),
        ):
            cell = part[ending.job.key]
            result = cell.outcome(ending)
            cell.write(folder, result, ending.detail)
            board.finished(ending.job.key, result)
            logger.debug("finished %s with %s: %s", cell.problem, cell.configuration.label, result.status)
    write_table(folder, grid)
    return ExitCode.SUCCESS


def cells_of(values: dict[str, Any]) -> list[Cell]:
    """The grid of problems and configurations that a configuration file describes.

    Raises:
        EpigymError: when a name is unknown, or a file of a suite is missing.
    """
    limits = (values["max_expanded"], values["time_limit"], memory_bytes(values["memory_limit"]))
    configurations = configurations_of(values["agents"], values["heuristics"])
    named: dict[str, EpddlFiles | None] = dict.fromkeys(values["problems"])
    return [
        Cell(problem, configuration, values["semantics"], *limits, files)
        for problem, files in (named or problems_of(values["suite"], values["per_domain"])).items()
        for configuration in configurations
    ]


def configurations_of(agents: list[Any], heuristics: list[Any]) -> list[Configuration]:
    """Every informed agent with every heuristic; a blind agent stands alone.

    Raises:
        EpigymError: when two configurations have the same label, or a name is unknown.
    """
    found: dict[str, Configuration] = {}
    for agent in agents:
        for heuristic in heuristics or [None]:
            configuration = Configuration.of(agent, heuristic)
            other = found.setdefault(configuration.label, configuration)
            if other != configuration:
                raise EpigymError(f"two configurations are called {other.label!r}; give one of them a label")
    return list(found.values())


def _modules(cells: list[Cell]) -> list[str]:
    """What every process imports, this module's imports included."""
    heuristics = [cell.configuration.heuristic for cell in cells]
    learned = any(heuristic is not None and heuristic["name"] == "gnn" for heuristic in heuristics)
    return [
        "search.evaluation.board",
        "search.command",
        "search.evaluation.grid",
        *(["search.heuristics.gnn"] if learned else []),
    ]


def main() -> None:
    """Run as a Hydra app; exit codes: 0 when every cell has an outcome, 64 and up bad input."""
    run(evaluate, "evaluate")


if __name__ == "__main__":
    main()
